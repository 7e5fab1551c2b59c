//! The end of a session, at the agent's request or by a loss.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::state::DeadlineOf;
use super::{Action, AgentState, CancelOutcome, Request, Settled};
use crate::call::{Code, Deadlines, Error, Millis, in_order};

const UNKNOWN: &str = "The connection to the app was lost: the outcome is unknown";

impl<P: Clone> AgentState<P> {
    /// Ends the session: the host cancels and answers what is in flight.
    pub fn shutdown(&mut self, reason: Option<String>, now: Millis) {
        if self.closed.is_some() || self.shutting_down.is_some() {
            return;
        }
        self.flush(now);
        let key = self.next_key();
        self.shutting_down = Some(key);
        self.deadlines
            .insert(now + self.soon(), DeadlineOf::Shutdown);
        self.deadlines
            .insert(now + self.options.grace, DeadlineOf::Close);
        self.actions
            .push_back(Action::Send(key, Request::Shutdown { reason }));
    }

    /// A plain ABP host does not answer a shutdown, so the agent waits half a second once nothing
    /// is pending.
    fn soon(&self) -> Millis {
        self.options.grace.min(500.0)
    }

    pub(super) fn shutdown_soon(&mut self, now: Millis) {
        if self.calls.is_empty() {
            self.shutdown_unanswered();
        } else {
            self.deadlines
                .insert(now + self.soon(), DeadlineOf::Shutdown);
        }
    }

    pub(super) fn shutdown_unanswered(&mut self) {
        if self.shutting_down.is_some() {
            self.close(Code::NOT_INITIALIZED, "The session was shut down");
        }
    }

    /// The host has ended the session.
    pub fn shut_down(&mut self) {
        self.shutdown_unanswered();
    }

    /// The transport is gone: everything pending settles, its outcome unknown.
    pub fn disconnected(&mut self) {
        if self.shutting_down.is_some() && self.calls.is_empty() {
            self.shutdown_unanswered();
        } else {
            self.close(Code::DISCONNECTED, "The connection to the app was lost");
        }
    }

    fn close(&mut self, code: Code, message: &'static str) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some((code.clone(), message));
        let wanted = self.cancels.iter().filter(|(_, cancel)| cancel.wanted);
        for key in in_order(wanted.map(|(key, _)| *key)) {
            let Some(cancel) = self.cancels.remove(&key) else {
                continue;
            };
            let outcome = self.known_outcome(&cancel.call).unwrap_or_else(|| {
                CancelOutcome::failed(UNKNOWN, Error::new(Code::DISCONNECTED, UNKNOWN))
            });
            self.actions.push_back(Action::SettleCancel(key, outcome));
        }
        for key in in_order(self.calls.keys().copied()) {
            self.settle(
                key,
                Settled::Failed(Error::new(Code::DISCONNECTED, UNKNOWN)),
            );
        }
        for key in std::mem::take(&mut self.lists) {
            let error = Error::new(code.clone(), message);
            self.actions
                .push_back(Action::Settle(key, Settled::Failed(error)));
        }
        // An agent may be kept long after its session is over, and then needs little memory.
        self.calls = FxHashMap::default();
        self.cancels = FxHashMap::default();
        self.ledger.shrink();
        self.actions.shrink_to_fit();
        self.shutting_down = None;
        self.unsent = VecDeque::new();
        self.life.end();
        self.deadlines = Deadlines::default();
        self.actions.push_back(Action::Closed(code));
    }
}
