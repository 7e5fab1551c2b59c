//! What a session remembers of its calls.

use rustc_hash::FxHashMap;

use super::id::Digest;
use super::recent::Recent;
use super::{CallId, CallKey, LateEnd, Stop, StoppedBy};

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

/// How a call ended, as its session remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The response said `cancelled: true`, and how far the stop was seen.
    Cancelled(Stop),
    /// The response said something else.
    Completed,
    /// Nobody knows. Only the record of an agent has this.
    Unknown,
    /// The response said that nobody knows; a gateway says so when the app is gone. Only the record
    /// of an agent has this.
    Undecided,
}

/// The answer to a cancel, in the words of the source document's edge-case table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CancelAnswer {
    /// The call's response is `cancelled: true`.
    Cancelled {
        /// How far the stop was seen. The response says the same.
        stop: Stop,
        /// How the handler has ended since, if the call was [`Stop::Abandoned`].
        ended: Option<LateEnd>,
        /// What has stopped the call, if that is known. The response says the same.
        by: Option<StoppedBy>,
    },
    /// The call ended, and was not cancelled.
    AlreadyCompleted,
    /// The session knows no such call.
    NotFound,
}

impl CancelAnswer {
    /// The confirmation of a cancel whose stop was seen this far.
    pub fn cancelled(stop: Stop) -> Self {
        CancelAnswer::Cancelled {
            stop,
            ended: None,
            by: None,
        }
    }

    /// Why the call is not cancelled. `None` when it is.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            CancelAnswer::Cancelled { .. } => None,
            CancelAnswer::AlreadyCompleted => Some("Operation already completed"),
            CancelAnswer::NotFound => Some("Operation not found"),
        }
    }
}

/// The calls in flight, and a bounded number of ended calls.
#[derive(Debug)]
pub struct Ledger {
    /// Calls in flight by the digests of their callIds.
    calls: FxHashMap<u64, CallKey>,
    ended: Recent,
}

impl Ledger {
    /// `capacity` is how many ended calls are remembered.
    pub fn new(capacity: usize) -> Self {
        Ledger {
            ended: Recent::new(capacity),
            calls: FxHashMap::default(),
        }
    }

    /// Where `id` stands.
    pub fn standing(&self, id: &(impl Digest + ?Sized)) -> Standing {
        match self.key(id) {
            Some(key) => Standing::InFlight(key),
            None => self
                .ended
                .get(id)
                .map_or(Standing::Unknown, Standing::Ended),
        }
    }

    /// The key of a call in flight.
    pub fn key(&self, id: &(impl Digest + ?Sized)) -> Option<CallKey> {
        self.calls.get(&id.digest()).copied()
    }

    /// Enters a call. Its id must not be in flight. An earlier end under this id is forgotten.
    pub fn enter(&mut self, id: &CallId, key: CallKey) {
        debug_assert!(self.key(id).is_none());
        self.calls.insert(id.digest(), key);
    }

    /// Remembers the end of a call in flight. When the memory is full, the oldest end is forgotten.
    pub fn end(&mut self, id: &CallId, end: End) {
        if self.withdraw(id) {
            self.ended.insert(id, end);
        }
    }

    /// The end of a call with an unknown outcome has become known. Other calls are left as they
    /// are.
    pub fn decide(&mut self, id: &(impl Digest + ?Sized), end: End) {
        if self.key(id).is_none() {
            self.ended.decide(id, end);
        }
    }

    /// An agent has given up a request about a call with an unknown outcome: the call itself, or a
    /// cancel of the call.
    pub fn give_up(&mut self, id: &CallId, key: CallKey) {
        self.ended.give_up(id, key);
    }

    /// Whether an agent has given the request `key` up, and that is about another call than `id`.
    pub fn is_given_up_for_another(&self, key: CallKey, id: &(impl Digest + ?Sized)) -> bool {
        self.ended.is_given_up_for_another(key, id)
    }

    /// A request that was given up is answered after all. `end` is the end of the call, if the
    /// answer tells.
    pub fn come_late(&mut self, key: CallKey, end: Option<End>) {
        if let Some((call, end)) = self.ended.given_up(key).zip(end) {
            self.decide(&call, end);
        }
    }

    /// Removes a call in flight, as if it had never been. False when there is no such call.
    pub fn withdraw(&mut self, id: &CallId) -> bool {
        self.calls.remove(&id.digest()).is_some()
    }

    /// Frees memory, once nothing is in flight and few calls will follow.
    pub fn shrink(&mut self) {
        debug_assert!(self.calls.is_empty());
        self.calls.shrink_to_fit();
        self.ended.shrink();
    }

    /// The answer to a cancel of `id`, once that call has ended.
    pub fn answer(&self, id: &(impl Digest + ?Sized)) -> CancelAnswer {
        match self.ended.get(id) {
            Some(End::Cancelled(stop)) => CancelAnswer::Cancelled {
                stop,
                ended: self.ended.late(id),
                by: self.ended.by(id),
            },
            Some(End::Completed | End::Unknown | End::Undecided) => CancelAnswer::AlreadyCompleted,
            None => CancelAnswer::NotFound,
        }
    }

    /// The handler of an abandoned call has ended. Other calls are left as they are.
    pub fn ended_late(&mut self, id: &(impl Digest + ?Sized), end: LateEnd) {
        self.ended.ended_late(id, end);
    }

    /// What has stopped a call that is remembered as cancelled.
    pub fn stopped_by(&mut self, id: &(impl Digest + ?Sized), by: StoppedBy) {
        self.ended.stopped_by(id, by);
    }

    /// How many calls are in flight.
    pub fn in_flight(&self) -> usize {
        self.calls.len()
    }

    /// How many ended calls are remembered.
    pub fn remembered(&self) -> usize {
        self.ended.len()
    }
}

#[cfg(test)]
mod tests;
