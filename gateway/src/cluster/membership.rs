//! Which other workers there are, from their leases and from what is heard of them: without sockets
//! or clocks.

use super::peers::{Peer, Peers};
use super::workers::WorkerId;

/// Share of its time for which a lease must be missing: a living worker renews its lease sooner.
const MISSING: f64 = 0.25;

/// What the leases tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Who is new.
    pub new: Vec<WorkerId>,
    /// Who has died.
    pub gone: Vec<WorkerId>,
    /// Who was taken for dead, lives, and may not know.
    pub undead: Vec<WorkerId>,
}

impl Peers {
    /// These have a lease now.
    pub fn leases(&mut self, alive: &[WorkerId], now: f64) -> Census {
        let mut census = Census::default();
        for worker in alive.iter().filter(|id| !self.others.contains_key(*id)) {
            match self.is_buried(*worker) {
                true => census.undead.push(*worker),
                false => census.new.push(*worker),
            }
        }
        for worker in &census.new {
            self.others.insert(*worker, Peer::new(now));
        }
        // A lease that is gone was not renewed for as long as it lasts, unless Redis has lost it.
        for (worker, peer) in &mut self.others {
            let missing = !alive.contains(worker);
            peer.missing = missing.then(|| peer.missing.unwrap_or(now));
            let is_missing = |since| now - since >= self.lease * MISSING;
            let is_silent = now - peer.heard.max(self.healthy_since) > self.lease;
            if is_silent && peer.missing.is_some_and(is_missing) {
                census.gone.push(*worker);
            }
        }
        census
    }

    /// A worker has left, or is taken for dead.
    pub fn bury(&mut self, worker: WorkerId) -> Option<Peer> {
        self.dead.insert(worker, ());
        self.others.remove(&worker)
    }

    /// Whether Redis has answered long enough for every living worker to have a lease again.
    pub fn leases_are_back(&self, now: f64) -> bool {
        now - self.healthy_since > self.lease
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cluster::peers::Heard;

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
        assert_eq!(others.heard(worker, 4_000.0), Heard::Known);
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
        assert_eq!(others.heard(worker, 62_300.0), Heard::Dead);
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
    fn who_joins_anew_knows_nobody() {
        let mut others = three_seconds();
        let worker = WorkerId::random();
        others.leases(&[worker], 0.0);
        let before = others.me;
        assert!(others.reset().into_keys().eq([worker]));
        assert_eq!(others.others.len(), 0);
        assert!(others.me != before && others.me.process == before.process);
        assert_eq!(others.heard(worker, 1.0), Heard::New);
    }
}
