//! What one session remembers of its calls.

use alloc::vec::Vec;
use core::mem;

use super::id_map::IdMap;
use super::{CallId, CallKey};

/// Where a callId stands in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Queued or running.
    InFlight(CallKey),
    /// Ended, and still remembered.
    Ended(End),
    /// Never seen, or evicted.
    Unknown,
}

/// How a call ended, as far as its session remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its response said `cancelled: true`.
    Cancelled,
    /// Its response said something else.
    Completed,
    /// Nobody knows: only an agent's own record ever says so.
    Unknown,
}

/// The answer to a cancel, in the words of the source document's edge-case table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelAnswer {
    /// The call's response is `cancelled: true`.
    Cancelled,
    /// The call ended otherwise.
    AlreadyCompleted,
    /// The session knows no such call.
    NotFound,
}

impl CancelAnswer {
    /// Why the cancel failed; `None` when it did not.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            CancelAnswer::Cancelled => None,
            CancelAnswer::AlreadyCompleted => Some("Operation already completed"),
            CancelAnswer::NotFound => Some("Operation not found"),
        }
    }
}

/// Calls in flight, and a bounded ring of those that ended.
#[derive(Debug)]
pub struct Ledger {
    calls: IdMap<Standing>,
    /// The last calls that ended; one whose id has been used again since is skipped.
    ring: Vec<CallId>,
    /// Where in the ring the oldest is, once it is full.
    oldest: usize,
    capacity: usize,
    in_flight: usize,
    remembered: usize,
}

impl Ledger {
    /// `capacity` is how many ended calls are remembered.
    pub fn new(capacity: usize) -> Self {
        Ledger {
            calls: IdMap::new(),
            ring: Vec::new(),
            oldest: 0,
            capacity,
            in_flight: 0,
            remembered: 0,
        }
    }

    /// Where `id` stands.
    pub fn standing(&self, id: &str) -> Standing {
        self.calls
            .get(id)
            .map_or(Standing::Unknown, |entry| entry.1)
    }

    /// The key of a call in flight.
    pub fn key(&self, id: &str) -> Option<CallKey> {
        match self.standing(id) {
            Standing::InFlight(key) => Some(key),
            _ => None,
        }
    }

    /// Enters a call. The id must not be in flight; how it ended before is forgotten.
    pub fn enter(&mut self, id: CallId, key: CallKey) {
        let standing = self.standing(id.as_str());
        debug_assert!(!matches!(standing, Standing::InFlight(_)));
        self.remembered -= usize::from(standing != Standing::Unknown);
        self.in_flight += 1;
        self.calls.insert(id, Standing::InFlight(key));
    }

    /// Moves a call from in flight to remembered, evicting the oldest when the ring is full.
    pub fn end(&mut self, id: &CallId, end: End) {
        if !self.withdraw(id) || self.capacity == 0 {
            return;
        }
        if self.ring.len() < self.capacity {
            self.ring.push(id.clone());
        } else {
            let oldest = mem::replace(&mut self.ring[self.oldest], id.clone());
            self.oldest = (self.oldest + 1) % self.capacity;
            let entry = self.calls.get(oldest.as_str());
            if entry.is_some_and(|(id, _)| id.is(&oldest)) {
                self.calls.remove(oldest.as_str());
                self.remembered -= 1;
            }
        }
        self.remembered += 1;
        self.calls.insert(id.clone(), Standing::Ended(end));
    }

    /// Takes a call out that is in flight, as if it had never been. False when it is not.
    pub fn withdraw(&mut self, id: &CallId) -> bool {
        let found = self.key(id.as_str()).is_some();
        if found {
            self.in_flight -= 1;
            self.calls.remove(id.as_str());
        }
        found
    }

    /// How many calls are in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// How many ended calls are remembered.
    pub fn remembered(&self) -> usize {
        self.remembered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> CallId {
        CallId::parse(text).unwrap()
    }

    #[test]
    fn remembers_how_a_call_ended() {
        let mut ledger = Ledger::new(10);
        ledger.enter(id("a"), 1);
        assert_eq!(ledger.standing("a"), Standing::InFlight(1));
        ledger.end(&id("a"), End::Cancelled);
        assert_eq!(ledger.standing("a"), Standing::Ended(End::Cancelled));
        ledger.end(&id("a"), End::Completed);
        assert_eq!(ledger.standing("a"), Standing::Ended(End::Cancelled));
    }

    #[test]
    fn evicts_the_oldest() {
        let mut ledger = Ledger::new(2);
        for (key, name) in ["a", "b", "c"].into_iter().enumerate() {
            ledger.enter(id(name), key as CallKey);
            ledger.end(&id(name), End::Completed);
        }
        assert_eq!(ledger.standing("a"), Standing::Unknown);
        assert_eq!(ledger.standing("b"), Standing::Ended(End::Completed));
        assert_eq!(ledger.remembered(), 2);
    }

    #[test]
    fn an_id_used_again_outlives_its_first_end() {
        let mut ledger = Ledger::new(2);
        for (key, name) in ["a", "b", "a", "c"].into_iter().enumerate() {
            ledger.enter(id(name), key as CallKey);
            ledger.end(&id(name), End::Completed);
        }
        assert_eq!(ledger.standing("a"), Standing::Ended(End::Completed));
        assert_eq!(ledger.standing("b"), Standing::Unknown);
        assert_eq!((ledger.remembered(), ledger.in_flight()), (2, 0));
    }

    #[test]
    fn one_withdrawn_was_never_there() {
        let mut ledger = Ledger::new(2);
        ledger.enter(id("a"), 1);
        assert!(ledger.withdraw(&id("a")));
        assert_eq!(ledger.standing("a"), Standing::Unknown);
        assert_eq!((ledger.remembered(), ledger.in_flight()), (0, 0));
    }
}
