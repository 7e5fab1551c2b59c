//! What comes back from the host.

use super::action::{Action, RequestKey, Settled};
use super::records::DeadlineOf;
use super::state::AgentState;
use crate::call::{Code, End, Error, Grade, LateEnd, Millis};
use crate::dialect::answers::Answer;

/// How long calls are held back while the session may be lost.
const HOLD: Millis = 250.0;

impl<P: Clone> AgentState<P> {
    /// A message of any kind has come from the host.
    pub fn heard(&mut self, now: Millis) {
        self.life.heard(now);
    }

    /// A call-result has come, with the host's response.
    pub fn called(&mut self, key: RequestKey, answer: Answer, response: P) {
        self.life.received(key);
        let Some(pending) = self.calls.get(&key) else {
            let end = match answer {
                Answer::Succeeded | Answer::Failed => Some(End::Completed),
                Answer::Cancelled(grade) => Some(End::Cancelled(grade.stop)),
                Answer::Undecided | Answer::Unreadable => None,
            };
            self.ledger.come_late(key, end);
            return;
        };
        let end = (answer == Answer::Undecided).then_some(End::Undecided);
        let settled = match answer {
            Answer::Cancelled(_) if pending.refused.is_some() => {
                Settled::Failed(Self::contradiction())
            }
            Answer::Cancelled(grade) => Settled::Cancelled(Grade {
                late_end: None,
                ..grade
            }),
            Answer::Succeeded | Answer::Failed | Answer::Undecided => Settled::Response(response),
            Answer::Unreadable => return self.unreadable(key),
        };
        match end {
            Some(_) => self.settle_as(key, end, settled),
            None => self.settle(key, settled),
        }
    }

    /// A call has failed with that code. It may come from the handler, or mean that the session is lost. Then a
    /// gateway closes the connection a moment later, and a host knows no such session when it is asked.
    pub fn failed_with(&mut self, code: &str, now: Millis) {
        let lost = Code::says_no_session(code) || code == Code::DISCONNECTED.as_str();
        if lost && self.options.reconnects && self.unreachable().is_none() {
            self.held_until = now + HOLD;
            self.deadlines.insert(self.held_until, DeadlineOf::Flush);
            self.suspect(false, now);
        }
    }

    fn unreadable(&mut self, key: RequestKey) {
        let message = "The app's answer is no ABPResponse";
        let error = Error::new(Code::TRANSPORT_ERROR, message);
        self.settle(key, Settled::Failed(error));
    }

    /// The host has refused a request as no message of the protocol. `response` is the host's
    /// `ABPResponse`, if there is any.
    pub fn refused(&mut self, key: RequestKey, response: Option<P>) {
        self.life.received(key);
        if self.calls.contains_key(&key) {
            match response {
                Some(response) => self.settle(key, Settled::Response(response)),
                None => self.unreadable(key),
            }
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
