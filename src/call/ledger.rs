//! What one session remembers of its calls.

use std::collections::{HashMap, VecDeque};

use super::{CallId, CallKey};

/// Where a callId stands in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Queued or running.
    InFlight(CallKey),
    /// Ended, and still remembered.
    Ended {
        /// Whether its response said `cancelled: true`.
        cancelled: bool,
    },
    /// Never seen, or evicted.
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
    in_flight: HashMap<CallId, CallKey>,
    ended: HashMap<CallId, bool>,
    order: VecDeque<CallId>,
    capacity: usize,
}

impl Ledger {
    /// `capacity` is how many ended calls are remembered.
    pub fn new(capacity: usize) -> Self {
        Ledger {
            in_flight: HashMap::new(),
            ended: HashMap::new(),
            order: VecDeque::new(),
            capacity,
        }
    }

    /// Where `id` stands.
    pub fn standing(&self, id: &str) -> Standing {
        if let Some(key) = self.in_flight.get(id) {
            Standing::InFlight(*key)
        } else if let Some(cancelled) = self.ended.get(id) {
            Standing::Ended {
                cancelled: *cancelled,
            }
        } else {
            Standing::Unknown
        }
    }

    /// Enters a call. The id must be [`Standing::Unknown`].
    pub fn enter(&mut self, id: CallId, key: CallKey) {
        debug_assert_eq!(self.standing(id.as_str()), Standing::Unknown);
        self.in_flight.insert(id, key);
    }

    /// Moves a call from in flight to remembered, evicting the oldest when the ring is full.
    pub fn end(&mut self, id: &CallId, cancelled: bool) {
        if self.in_flight.remove(id.as_str()).is_none() || self.capacity == 0 {
            return;
        }
        if self.order.len() == self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(oldest.as_str());
        }
        self.order.push_back(id.clone());
        self.ended.insert(id.clone(), cancelled);
    }

    /// Makes room for an id that is used again: only an agent's own record ever needs it.
    pub fn forget(&mut self, id: &str) {
        if self.ended.remove(id).is_some() {
            self.order.retain(|it| it.as_str() != id);
        }
    }

    /// How many calls are in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// How many ended calls are remembered.
    pub fn remembered(&self) -> usize {
        self.order.len()
    }

    /// The calls in flight, oldest key first.
    pub fn keys(&self) -> Vec<CallKey> {
        let mut keys: Vec<_> = self.in_flight.values().copied().collect();
        keys.sort_unstable();
        keys
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
        ledger.end(&id("a"), true);
        assert_eq!(ledger.standing("a"), Standing::Ended { cancelled: true });
        ledger.end(&id("a"), false);
        assert_eq!(ledger.standing("a"), Standing::Ended { cancelled: true });
    }

    #[test]
    fn evicts_the_oldest() {
        let mut ledger = Ledger::new(2);
        for (key, name) in ["a", "b", "c"].into_iter().enumerate() {
            ledger.enter(id(name), key as CallKey);
            ledger.end(&id(name), false);
        }
        assert_eq!(ledger.standing("a"), Standing::Unknown);
        assert_eq!(ledger.standing("b"), Standing::Ended { cancelled: false });
        assert_eq!(ledger.remembered(), 2);
    }
}
