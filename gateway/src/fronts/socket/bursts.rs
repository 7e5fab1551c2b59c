//! How many messages are read of one connection before others have their turn: fewer, the more connections
//! of the same party have some to read, so that nobody's wait is longer for being behind many of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::fronts::ledger::Party;

/// Of all connections of one party together.
pub(crate) const AT_ONCE: usize = 64;

/// How many connections of each party have messages to read.
#[derive(Debug, Default)]
pub(crate) struct Bursts(Mutex<HashMap<Party, Weak<AtomicUsize>>>);

/// Those of one party.
#[derive(Debug)]
pub(crate) struct Reading(Arc<AtomicUsize>);

/// A connection that has messages to read, until this is dropped.
#[derive(Debug)]
pub(crate) struct Burst(Arc<AtomicUsize>);

impl Bursts {
    pub fn of(&self, party: Party) -> Reading {
        let mut known = self.0.lock();
        if let Some(known) = known.get(&party).and_then(Weak::upgrade) {
            return Reading(known);
        }
        // Seldom, and keeps the table about as small as what is in use.
        if known.len() == known.capacity() {
            known.retain(|_, it| it.strong_count() > 0);
        }
        let new = Arc::default();
        known.insert(party, Arc::downgrade(&new));
        Reading(new)
    }
}

impl Reading {
    pub fn begin(&self) -> Burst {
        self.0.fetch_add(1, Relaxed);
        Burst(self.0.clone())
    }
}

impl Burst {
    /// How many messages are read before others have their turn.
    pub fn share(&self) -> usize {
        (AT_ONCE / self.0.load(Relaxed).max(1)).max(1)
    }
}

impl Drop for Burst {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_one_party_share_what_is_read_at_once() {
        let party = |last: u8| Party::Stranger([10, 0, 0, last].into());
        let bursts = Bursts::default();
        let (one, same, other) = (
            bursts.of(party(1)),
            bursts.of(party(1)),
            bursts.of(party(2)),
        );
        let first = one.begin();
        assert_eq!(first.share(), AT_ONCE);
        let mut more: Vec<_> = (0..3).map(|_| same.begin()).collect();
        assert_eq!(
            (first.share(), other.begin().share()),
            (AT_ONCE / 4, AT_ONCE)
        );
        more.extend((0..1_000).map(|_| same.begin()));
        assert_eq!(first.share(), 1);
        drop(more);
        assert_eq!(first.share(), AT_ONCE);
    }
}
