use std::time::Duration;

use super::*;

fn three_seconds() -> Peers {
    Peers::new(WorkerId::random(), Duration::from_secs(3))
}

fn new(worker: WorkerId) -> Census {
    Census {
        new: vec![worker],
        ..Census::default()
    }
}

fn gone(worker: WorkerId) -> Census {
    Census {
        gone: vec![worker],
        ..Census::default()
    }
}

#[test]
fn a_worker_dies_when_neither_its_lease_nor_a_word_is_left() {
    let mut others = three_seconds();
    let worker = WorkerId::random();
    assert_eq!(others.leases(&[worker], 0.0), new(worker));
    assert_eq!(others.leases(&[worker], 3_900.0), Census::default());
    assert_eq!(others.hears(worker, 4_000.0), Heard::Known);
    assert_eq!(others.leases(&[], 4_500.0), Census::default());
    assert_eq!(
        others.leases(&[], 7_000.0),
        Census::default(),
        "it has spoken"
    );
    assert_eq!(others.leases(&[worker], 60_000.0), Census::default());
    assert_eq!(
        others.leases(&[], 60_500.0),
        Census::default(),
        "it may be renewed"
    );
    assert_eq!(others.leases(&[worker], 61_000.0), Census::default());
    assert_eq!(others.leases(&[], 61_500.0), Census::default());
    assert_eq!(others.leases(&[], 62_250.0), gone(worker));
    others.bury(worker);
    assert_eq!(others.hears(worker, 62_300.0), Heard::Dead);
    let undead = vec![worker];
    let told = Census {
        undead,
        ..Census::default()
    };
    assert_eq!(others.leases(&[worker], 62_700.0), told);
}

#[test]
fn leases_lost_with_redis_have_time_to_come_back() {
    let mut others = three_seconds();
    let worker = WorkerId::random();
    others.leases(&[worker], 0.0);
    others.healthy_since = 60_000.0;
    assert_eq!(others.leases(&[], 62_000.0), Census::default());
    assert_eq!(others.leases(&[], 63_001.0), gone(worker));
}

#[test]
fn a_busy_link_does_not_starve_the_others() {
    let mut peers = three_seconds();
    let workers = [(); 3].map(|()| WorkerId::random());
    peers.leases(&workers, 0.0);
    let large = Bytes::from(vec![0; BYTES / 2]);
    let mut busy = peers.others.keys().copied().collect::<Vec<_>>();
    let last = busy.pop().unwrap();
    for worker in busy {
        for _ in 0..8 {
            peers.push(worker, large.clone());
        }
    }
    peers.push(last, Bytes::from_static(b"small"));
    let mut served = Vec::new();
    for _ in 0..3 {
        served.extend(peers.frames().into_iter().map(|(worker, _)| worker));
    }
    assert!(served.contains(&last), "{served:?}");
    assert!(served.iter().filter(|it| **it == served[0]).count() > 1);
}

#[test]
fn who_joins_anew_knows_nobody() {
    let mut others = three_seconds();
    let worker = WorkerId::random();
    others.leases(&[worker], 0.0);
    let before = others.me;
    assert!(others.reset().into_keys().eq([worker]));
    assert_eq!(others.others.len(), 0);
    assert!(others.me != before && others.me.process == before.process);
    assert_eq!(others.hears(worker, 1.0), Heard::New);
}
