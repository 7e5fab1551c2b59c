//! Calls, from the request to the settlement.

use std::collections::VecDeque;

use super::action::{Action, Outgoing, Request, RequestKey, Settled};
use super::late::says_completed;
use super::records::{DeadlineOf, Pending, Unsent};
use super::state::AgentState;
use crate::call::{CallId, Code, End, Error, Grade, Millis, Standing, Stop};

/// An empty queue with more room than this gives the room back.
const ROOMY: usize = 1_024;

impl<P: Clone> AgentState<P> {
    /// Makes a call. It is sent with the next [`AgentState::flush`].
    pub fn call(&mut self, call: Outgoing<P>) -> RequestKey {
        let key = self.next_key();
        if let Some(error) = self.refusal(&call.id, true) {
            self.actions
                .push_back(Action::Settle(key, Settled::Failed(error)));
            return key;
        }
        // The host decides whether a callId may be used again after a response.
        self.ledger.enter(&call.id, key);
        self.unsent_timeout |= call.timeout.is_some();
        let pending = Pending {
            id: call.id.clone(),
            cancel_sent: false,
            refused: None,
            overtaken: Vec::new(),
            deadlines: 0,
            sent: false,
        };
        self.calls.insert(key, Box::new(pending));
        self.unsent.push_back(Unsent {
            key,
            call,
            due: None,
        });
        if !self.waking {
            self.waking = true;
            self.actions.push_back(Action::Wake);
        }
        key
    }

    /// Makes a call whose signal has already fired. Nothing is sent, now or later.
    pub fn call_aborted(&mut self, id: CallId) -> RequestKey {
        let key = self.next_key();
        let settled = match self.refusal(&id, false) {
            Some(error) => Settled::Failed(error),
            None => {
                self.ledger.enter(&id, key);
                let stop = Stop::NeverStarted;
                self.ledger.end(&id, End::Cancelled(stop));
                Settled::Cancelled(stop.into())
            }
        };
        self.actions.push_back(Action::Settle(key, settled));
        key
    }

    fn refusal(&self, id: &CallId, sending: bool) -> Option<Error<P>> {
        // The callId is already said to be cancelled. Another call of the same id could make that a
        // lie.
        let ends = [End::Completed, End::Undecided].map(Standing::Ended);
        let standing = self.ledger.standing(id);
        if standing != Standing::Unknown && !ends.contains(&standing) {
            let message = format!("The callId \"{id}\" has been used");
            Some(Error::invalid_params(message))
        } else if let Some((code, message)) = self.closed.clone().filter(|_| sending) {
            Some(Error::new(code, message))
        } else if sending && self.shutting_down.is_some() {
            Some(Error::new(
                Code::NOT_INITIALIZED,
                "The session is being shut down",
            ))
        } else {
            None
        }
    }

    /// Sends the calls made since the last flush. While the connection is lost, or may be, the calls wait,
    /// and their timeouts run. The time counts only if [`AgentState::needs_time`].
    pub fn flush(&mut self, now: Millis) {
        self.waking = false;
        if self.away || now < self.held_until {
            return self.let_wait(now);
        }
        self.unsent_timeout = false;
        while let Some(Unsent { key, mut call, due }) = self.unsent.pop_front() {
            let Some(pending) = self.calls.get_mut(&key) else {
                continue;
            };
            pending.sent = true;
            if let Some(due) = due {
                call.timeout = Some((due - now).max(0.0));
            }
            if let Some(timeout) = call.timeout {
                let slack = self.options.slack.min(self.options.grace);
                self.deadline(key, now + timeout + slack, DeadlineOf::Backstop(key));
                self.deadline(
                    key,
                    now + timeout + self.options.grace,
                    DeadlineOf::Call(key),
                );
            }
            self.actions
                .push_back(Action::Send(key, Request::Call(call)));
            self.life.begin(self.options.liveness, now);
        }
        if self.unsent.capacity() > ROOMY {
            self.unsent = VecDeque::new();
        }
    }

    fn let_wait(&mut self, now: Millis) {
        let mut unsent = std::mem::take(&mut self.unsent);
        for Unsent { key, call, due } in &mut unsent {
            if let (Some(timeout), None) = (call.timeout, *due) {
                *due = Some(now + timeout);
                self.deadline(*key, now + timeout, DeadlineOf::Backstop(*key));
            }
        }
        self.unsent = unsent;
    }

    pub(super) fn is_unsent(&self, key: RequestKey) -> bool {
        let pending = self.calls.get(&key);
        pending.is_some_and(|pending| !pending.sent)
    }

    /// Cancels a call that was not sent.
    pub(super) fn never_start(&mut self, key: RequestKey) {
        if self.is_unsent(key) {
            self.settle(key, Settled::Cancelled(Stop::NeverStarted.into()));
        }
    }

    /// The caller's signal has fired. A call that was not sent is cancelled at once. The host
    /// decides about a call that was sent, and has the grace to answer.
    pub fn abort(&mut self, key: RequestKey, reason: Option<String>, now: Millis) {
        self.deadline(key, now + self.options.grace, DeadlineOf::Call(key));
        self.cancel_quietly(key, reason, now);
    }

    fn deadline(&mut self, key: RequestKey, at: Millis, of: DeadlineOf) {
        if let Some(pending) = self.calls.get_mut(&key) {
            pending.deadlines += 1;
            self.deadlines.insert(at, of);
        }
    }

    /// The request of that key could not be sent, for example because its parameters cannot be
    /// cloned.
    pub fn unsendable(&mut self, key: RequestKey, error: Error<P>) {
        if self.calls.contains_key(&key) {
            self.settle(key, Settled::Failed(error));
        } else if self.lists.contains(&key) {
            self.settle_list(key, Settled::Failed(error));
        } else {
            self.cancel_failed(key, error);
        }
    }

    pub(super) fn call_unanswered(&mut self, key: RequestKey) {
        let Some(pending) = self.calls.get(&key) else {
            return;
        };
        let call = pending.id.clone();
        let end = match says_completed(pending.refused.as_deref()) {
            true => End::Completed,
            false => End::Unknown,
        };
        let message = "The app gave no answer in time: the outcome is unknown";
        let error = Error::new(Code::TIMEOUT, message);
        self.settle_as(key, Some(end), Settled::Failed(error));
        self.ledger.give_up(&call, key);
    }

    /// Settles a call, and remembers how.
    pub(super) fn settle(&mut self, key: RequestKey, settled: Settled<P>) {
        let end = match &settled {
            Settled::Cancelled(grade) => Some(End::Cancelled(grade.stop)),
            Settled::Response(_) => Some(End::Completed),
            // The agent has refused the call, and the host has never seen it.
            Settled::Failed(error) if error.code == Code::INVALID_PARAMS => None,
            Settled::Failed(error) if Code::leaves_open(error.code.as_str()) => Some(End::Unknown),
            Settled::Failed(_) => Some(End::Completed),
        };
        self.settle_as(key, end, settled);
    }

    /// Settles a call, and remembers its end. `None` means that the host never had the call.
    pub(super) fn settle_as(&mut self, key: RequestKey, end: Option<End>, settled: Settled<P>) {
        let Some(pending) = self.calls.remove(&key) else {
            return;
        };
        match end {
            Some(end) => self.ledger.end(&pending.id, end),
            None => drop(self.ledger.withdraw(&pending.id)),
        }
        if let Settled::Cancelled(Grade { by: Some(by), .. }) = settled {
            self.ledger.stopped_by(&pending.id, by);
        }
        self.forget_deadlines(pending.deadlines);
        if self.calls.is_empty() {
            self.life.rest();
        }
        self.answer_overtaken(pending.overtaken);
        self.actions.push_back(Action::Settle(key, settled));
    }
}
