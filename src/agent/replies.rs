//! What comes back from the host.

use super::{Action, AgentState, RequestKey, Settled};
use crate::call::{Code, Error, Millis};

impl<P: Clone> AgentState<P> {
    /// Something, anything, was heard of the host.
    pub fn heard(&mut self, now: Millis) {
        self.life.heard(now);
    }

    /// A call-result. `response` is the host's, or `None` when it sent none that makes sense.
    pub fn called(&mut self, key: RequestKey, response: Option<P>, cancelled: bool) {
        let Some(pending) = self.calls.get(key) else {
            return;
        };
        let settled = match response {
            Some(_) if cancelled && pending.refused.is_some() => {
                Settled::Failed(Self::contradiction())
            }
            Some(_) if cancelled => Settled::Cancelled,
            Some(response) => Settled::Response(response),
            None => Settled::Failed(Error::new(
                Code::TRANSPORT_ERROR,
                "The app's answer is no ABPResponse",
            )),
        };
        self.settle(key, settled);
    }

    /// The host has refused a request as no message of the protocol: the `ABPResponse` it said so
    /// with, if it is one.
    pub fn refused(&mut self, key: RequestKey, response: Option<P>) {
        if self.calls.contains(key) {
            self.called(key, response, false);
        } else if !self.life.answered(key) {
            let message = "The app refused the message";
            self.cancel_failed(key, Error::new(Code::TRANSPORT_ERROR, message));
        }
    }

    /// Progress under the callId as its token. What comes late is dropped.
    pub fn progress(&mut self, operation: &str, info: P) {
        if let Some(key) = self.ledger.key(operation) {
            self.actions.push(Action::Progress(key, info));
        }
    }
}
