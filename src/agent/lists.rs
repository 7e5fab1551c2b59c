//! Requests for the list of the host's capabilities.

use super::action::{Action, Request, RequestKey, Settled};
use super::records::DeadlineOf;
use super::state::AgentState;
use crate::call::{Code, Error, Millis};

impl<P: Clone> AgentState<P> {
    /// Asks the host for the list of its capabilities.
    pub fn list(&mut self, now: Millis) -> RequestKey {
        let key = self.next_key();
        if let Some((code, message)) = self.unreachable() {
            let failed = Settled::Failed(Error::new(code, message));
            self.actions.push_back(Action::Settle(key, failed));
            return key;
        }
        self.lists.insert(key);
        self.deadlines
            .insert(now + self.options.grace, DeadlineOf::List(key));
        self.actions.push_back(Action::Send(key, Request::List));
        key
    }

    /// The host's answer to a request for the list has come: its list or its error. `None` stands for
    /// something that cannot be read as one.
    pub fn listed(&mut self, key: RequestKey, answer: Option<P>) {
        self.life.received(key);
        let settled = answer.map(Settled::Response).unwrap_or_else(|| {
            Settled::Failed(Error::new(
                Code::TRANSPORT_ERROR,
                "The app has answered with something that is no list of capabilities",
            ))
        });
        self.settle_list(key, settled);
    }

    pub(super) fn list_unanswered(&mut self, key: RequestKey) {
        let grace = self.options.grace as u32;
        let message = format!("The app has not listed its capabilities within {grace} ms");
        self.settle_list(key, Settled::Failed(Error::new(Code::TIMEOUT, message)));
    }

    pub(super) fn settle_list(&mut self, key: RequestKey, settled: Settled<P>) {
        if self.lists.remove(&key) {
            self.forget_deadlines(1);
            self.actions.push_back(Action::Settle(key, settled));
        }
    }
}
