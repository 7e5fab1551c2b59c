//! Which other workers there are, from their leases and from what is heard of them: without sockets
//! or clocks.

use std::collections::BTreeMap;
use std::time::Duration;

use super::workers::WorkerId;
use crate::remembered::Remembered;

/// Workers taken for dead that are remembered, 1 024: what they still say must not count.
const DEAD: usize = 1_024;

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

/// The other workers. Times are milliseconds on a clock that never goes back.
#[derive(Debug)]
pub struct Membership {
    lease: f64,
    /// When each last spoke, or was first seen.
    heard: BTreeMap<WorkerId, f64>,
    /// Since when each has been without a lease.
    missing: BTreeMap<WorkerId, f64>,
    dead: Remembered<WorkerId, (), DEAD>,
    /// Since when Redis has answered without a break.
    healthy_since: f64,
}

/// What is to be done about somebody who is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is one of the others.
    Known,
    /// It has just become one.
    New,
    /// It was taken for dead, and does not know.
    Dead,
}

impl Membership {
    /// Nobody else.
    pub fn new(lease: Duration) -> Self {
        Membership {
            lease: lease.as_secs_f64() * 1_000.0,
            heard: BTreeMap::new(),
            missing: BTreeMap::new(),
            dead: Remembered::default(),
            healthy_since: 0.0,
        }
    }

    /// Redis answers again: leases may have been lost with it, and come back.
    pub fn reconnected(&mut self, now: f64) {
        self.healthy_since = now;
    }

    /// A worker speaks.
    pub fn heard(&mut self, worker: WorkerId, now: f64) -> Heard {
        if self.dead.get(&worker).is_some() {
            return Heard::Dead;
        }
        match self.heard.insert(worker, now) {
            Some(_) => Heard::Known,
            None => Heard::New,
        }
    }

    /// These have a lease now.
    pub fn leases(&mut self, alive: &[WorkerId], now: f64) -> Census {
        let is_dead = |id: &&WorkerId| self.dead.get(*id).is_some();
        let undead = alive.iter().filter(is_dead).copied().collect();
        let is_new = |id: &&WorkerId| !self.heard.contains_key(id) && !self.dead.get(*id).is_some();
        let new: Vec<_> = alive.iter().filter(is_new).copied().collect();
        for worker in &new {
            self.heard.insert(*worker, now);
        }
        // A lease that is gone was not renewed for as long as it lasts, unless Redis has lost it.
        self.missing.retain(|id, _| !alive.contains(id));
        for id in self.heard.keys().filter(|id| !alive.contains(id)) {
            self.missing.entry(*id).or_insert(now);
        }
        let silent = |at: f64| now - at.max(self.healthy_since) > self.lease;
        let is_gone = |(id, since): &(&WorkerId, &f64)| {
            now - **since >= self.lease * MISSING
                && self.heard.get(id).is_some_and(|at| silent(*at))
        };
        let gone = self.missing.iter().filter(is_gone);
        let gone: Vec<_> = gone.map(|(worker, _)| *worker).collect();
        gone.iter().for_each(|worker| self.bury(*worker));
        Census { new, gone, undead }
    }

    /// A worker has left, or is taken for dead.
    pub fn bury(&mut self, worker: WorkerId) {
        self.heard.remove(&worker);
        self.missing.remove(&worker);
        self.dead.insert(worker, ());
    }

    /// Whether a worker is known to have left or died.
    pub fn is_buried(&self, worker: WorkerId) -> bool {
        self.dead.get(&worker).is_some()
    }

    /// Forgets the others, who may still be there: this worker joins anew. Who they were.
    pub fn reset(&mut self) -> Vec<WorkerId> {
        self.missing.clear();
        std::mem::take(&mut self.heard).into_keys().collect()
    }

    /// Whether Redis has answered long enough for every living worker to have a lease again.
    pub fn is_settled(&self, now: f64) -> bool {
        now - self.healthy_since > self.lease
    }

    /// The others.
    pub fn others(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.heard.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_seconds() -> Membership {
        Membership::new(Duration::from_secs(3))
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
        others.reconnected(60_000.0);
        assert_eq!(others.leases(&[], 62_000.0), Census::default());
        assert_eq!(others.leases(&[], 63_001.0), gone(worker));
    }

    #[test]
    fn who_joins_anew_knows_nobody() {
        let mut others = three_seconds();
        let worker = WorkerId::random();
        others.leases(&[worker], 0.0);
        assert_eq!(others.reset(), [worker]);
        assert_eq!(others.others().count(), 0);
        assert_eq!(others.heard(worker, 1.0), Heard::New);
    }
}
