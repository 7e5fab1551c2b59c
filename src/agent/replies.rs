//! What comes back from the host.

use super::{Action, AgentState, RequestKey, Settled};
use crate::call::{Code, End, Error, LateEnd, Millis, Stop};

impl<P: Clone> AgentState<P> {
    /// A message of any kind has come from the host.
    pub fn heard(&mut self, now: Millis) {
        self.life.heard(now);
    }

    /// A call-result. `response` is the host's, or `None` when no response can be read. `stop` says
    /// how far the stop was seen, if the call was cancelled.
    pub fn called(&mut self, key: RequestKey, response: Option<P>, stop: Option<Stop>) {
        self.life.received(key);
        let Some(pending) = self.calls.get(&key) else {
            let end = stop.map_or(End::Completed, End::Cancelled);
            self.ledger.come_late(key, response.map(|_| end));
            return;
        };
        let settled = match (response, stop) {
            (Some(_), Some(_)) if pending.refused.is_some() => {
                Settled::Failed(Self::contradiction())
            }
            (Some(_), Some(stop)) => Settled::Cancelled(stop),
            (Some(response), None) => Settled::Response(response),
            (None, _) => Settled::Failed(Error::new(
                Code::TRANSPORT_ERROR,
                "The app's answer is no ABPResponse",
            )),
        };
        self.settle(key, settled);
    }

    /// A call-result which says that nobody knows what became of the call.
    pub fn called_undecided(&mut self, key: RequestKey, response: P) {
        self.life.received(key);
        self.settle_as(key, Some(End::Undecided), Settled::Response(response));
    }

    /// The host has refused a request as no message of the protocol. `response` is the host's
    /// `ABPResponse`, if there is any.
    pub fn refused(&mut self, key: RequestKey, response: Option<P>) {
        self.life.received(key);
        if self.calls.contains_key(&key) {
            self.called(key, response, None);
        } else if self.lists.contains(&key) {
            self.listed(key, response);
        } else if !self.life.answered(key) {
            let message = "The app refused the message";
            self.cancel_failed(key, Error::new(Code::TRANSPORT_ERROR, message));
        }
    }

    /// The handler of a call that was abandoned has ended.
    pub fn ended(&mut self, call: &str, end: LateEnd) {
        self.ledger.ended_late(call, end);
    }

    /// Progress has come; its token is the callId. Progress of a settled call is dropped.
    pub fn progress(&mut self, operation: &str, info: P) {
        if let Some(key) = self.ledger.key(operation) {
            self.actions.push_back(Action::Progress(key, info));
        }
    }
}
