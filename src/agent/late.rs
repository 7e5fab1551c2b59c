//! Answers that come after they were given up. They change nothing that was said; whoever asks again
//! is told what they say.

use std::collections::VecDeque;

use super::{AgentState, CancelOutcome, RequestKey};
use crate::call::{CallId, CancelAnswer, Digest, End};

/// Requests that were given up, and the digests of the calls that they are about.
#[derive(Default)]
pub(super) struct GivenUp(VecDeque<(RequestKey, u64)>);

impl<P: Clone> AgentState<P> {
    /// Requests whose answers may still come.
    pub fn given_up(&self) -> usize {
        self.late.0.len()
    }

    pub(super) fn give_up(&mut self, key: RequestKey, call: &CallId) {
        // Of each call, that itself and a cancel.
        if self.late.0.len() >= 2 * self.options.remembered {
            self.late.0.pop_front();
        }
        self.late.0.push_back((key, call.digest()));
    }

    /// The host has answered a request that was given up: how the call ended, if it says so.
    pub(super) fn come_late(&mut self, key: RequestKey, end: Option<End>) {
        let late = &mut self.late.0;
        let call = late.iter().position(|(it, _)| *it == key);
        let call = call.and_then(|place| late.remove(place));
        if let Some(((_, call), end)) = call.zip(end) {
            self.ledger.decide(&call, end);
        }
    }
}

impl<P> CancelOutcome<P> {
    /// How the call ended, if this says so.
    pub(super) fn end(&self) -> Option<End> {
        let refused = self.reason.as_deref().filter(|_| self.error.is_none());
        match self.stop {
            Some(stop) => Some(End::Cancelled(stop)),
            None => says_completed(refused).then_some(End::Completed),
        }
    }
}

/// Any other reason leaves open what became of the call.
pub(super) fn says_completed(reason: Option<&str>) -> bool {
    reason.is_some() && reason == CancelAnswer::AlreadyCompleted.reason()
}
