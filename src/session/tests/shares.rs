use super::*;
use crate::session::Party;

fn host_of(sessions: usize) -> Host {
    Host::new(Limits {
        sessions,
        ..Limits::default()
    })
}

/// Opens sessions until one is refused: how many there were.
fn grab(host: &mut Host, party: Party) -> usize {
    (0..).take_while(|_| opens(host, party)).count()
}

fn opens(host: &mut Host, party: Party) -> bool {
    let agent = host.connect_from(party);
    let params = hello("agent", NOTHING);
    host.initialize(agent, None, params, format!("{agent}").into(), 0.0);
    let steps = drain(host);
    let [
        Action::Answer {
            answer: Answer::Initialized(result),
            ..
        },
    ] = &steps[..]
    else {
        panic!("{steps:?}");
    };
    let refused = result.as_ref().err().map(|error| error.code.clone());
    assert!(refused.is_none() || refused == Some(Code::RATE_LIMITED));
    refused.is_none()
}

fn window(origin: u32, window: u32) -> Party {
    Party::Window { origin, window }
}

#[test]
fn a_window_that_opens_sessions_without_end_leaves_three_quarters_to_others() {
    let mut host = host_of(1_000);
    assert_eq!(grab(&mut host, window(1, 1)), 250);
    assert_eq!(grab(&mut host, window(1, 2)), 125, "another of its origin");
    assert!(opens(&mut host, window(2, 3)));
    assert!(opens(&mut host, Party::Link(1)));
    assert!(opens(&mut host, Party::Alone));
}

#[test]
fn an_origin_with_many_windows_leaves_half_to_others() {
    let mut host = host_of(1_000);
    let taken: usize = (0..2_000).map(|it| grab(&mut host, window(1, it))).sum();
    assert_eq!(taken, 500);
    assert_eq!(grab(&mut host, Party::Link(1)), 444);
    assert_eq!(grab(&mut host, window(2, 5_000)), 14);
    assert!(opens(&mut host, Party::Alone));
}

#[test]
fn a_link_may_have_nearly_all() {
    let mut host = host_of(1_000);
    assert_eq!(grab(&mut host, Party::Link(1)), 888);
    for party in [Party::Alone, window(1, 1), Party::Link(2)] {
        assert!(opens(&mut host, party));
    }
}

#[test]
fn the_last_session_is_for_those_who_have_none() {
    for sessions in 1..20 {
        for party in [window(1, 1), Party::Link(1)] {
            let mut host = host_of(sessions);
            let taken = grab(&mut host, party);
            assert!(taken >= 1, "{sessions}");
            assert_eq!(opens(&mut host, Party::Alone), sessions > 1);
            let others = (2..30).filter(|it| opens(&mut host, window(*it, *it)));
            assert!(others.count() + taken + 1 >= sessions);
        }
    }
}

#[test]
fn what_comes_alone_may_have_all() {
    assert_eq!(grab(&mut host_of(20), Party::Alone), 20);
}

#[test]
fn a_session_that_has_ended_counts_no_longer() {
    let mut host = host_of(4);
    while opens(&mut host, window(1, 1)) {}
    let open: Vec<_> = host.connections.keys().copied().collect();
    for connection in open {
        host.disconnect(connection, 0.0);
    }
    drain(&mut host);
    assert!(opens(&mut host, window(1, 1)));
}
