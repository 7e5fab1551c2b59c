//! What comes back from the host.

use super::{Action, AgentState, CancelOutcome, RequestKey, Settled};
use crate::call::{Code, Error, Millis};

impl<P: Clone> AgentState<P> {
    /// Something, anything, was heard of the host.
    pub fn heard(&mut self, now: Millis) {
        self.heard = now;
    }

    /// A call-result. `response` is the host's, or `None` when it sent none that makes sense.
    pub fn called(&mut self, key: RequestKey, response: Option<P>, cancelled: bool) {
        let settled = match response {
            Some(_) if cancelled => Settled::Cancelled,
            Some(response) => Settled::Response(response),
            None => Settled::Failed(Error::new(
                Code::TRANSPORT_ERROR,
                "The app's answer is no ABPResponse",
            )),
        };
        self.settle(key, settled);
    }

    /// A cancel-result. `lost_session` when the host says that there is no session.
    pub fn cancelled(
        &mut self,
        key: RequestKey,
        confirmed: bool,
        reason: Option<String>,
        error: Option<P>,
        lost_session: bool,
    ) {
        let Some(cancel) = self.cancels.remove(&key) else {
            return;
        };
        self.forget_deadline();
        // The first that tells how a call ended wins, whatever comes after it.
        let outcome = match self.known_outcome(&cancel.call) {
            Some(known) if known.cancelled != confirmed => known,
            _ => CancelOutcome {
                cancelled: confirmed,
                reason: reason.filter(|_| !confirmed),
                error: error.filter(|_| !confirmed).map(Ok),
            },
        };
        let confirmed = outcome.cancelled;
        if cancel.wanted {
            self.actions.push_back(Action::SettleCancel(key, outcome));
        }
        if confirmed && let Some(of) = cancel.of {
            self.settle(of, Settled::Cancelled);
        }
        if lost_session && self.shutting_down.is_none() {
            self.lost();
        }
    }

    /// The host has refused a request as no message of the protocol.
    pub fn refused(&mut self, key: RequestKey, payload: P) {
        if self.calls.contains_key(&key) {
            self.settle(key, Settled::Response(payload));
        } else if self.cancels.contains_key(&key) {
            let message = "The app refused the message";
            self.cancel_failed(key, Error::new(Code::TRANSPORT_ERROR, message));
        }
    }

    /// The host has ended the session.
    pub fn shut_down(&mut self) {
        if self.shutting_down.is_some() {
            self.close(Code::NOT_INITIALIZED, "The session was shut down");
        }
    }

    /// Progress under the callId as its token. What comes late is dropped.
    pub fn progress(&mut self, operation: &str, info: P) {
        if let Some(key) = self.by_id.get(operation) {
            self.actions.push_back(Action::Progress(*key, info));
        }
    }

}
