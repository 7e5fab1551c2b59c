//! The end of a session, at the agent's request or by a loss.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::action::{Action, CancelOutcome, Request, Settled};
use super::liveness::Liveness;
use super::records::DeadlineOf;
use super::state::AgentState;
use crate::call::{Code, Deadlines, Error, Millis, in_order};

const GONE: &str = "The connection to the app was lost";
const NOT_SENT: &str = "The connection to the app was lost: the call was not sent";
const UNKNOWN: &str = "The connection to the app was lost: the outcome is unknown";

impl<P: Clone> AgentState<P> {
    /// Ends the session: the host cancels and answers what is in flight.
    pub fn shutdown(&mut self, reason: Option<String>, now: Millis) {
        if self.closed.is_some() || self.shutting_down.is_some() {
            return;
        }
        if self.away {
            return self.close(Code::NOT_INITIALIZED, "The session was shut down");
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

    /// The transport is gone: everything that was sent settles, its outcome unknown.
    pub fn disconnected(&mut self) {
        if self.shutting_down.is_some() && self.calls.is_empty() {
            self.shutdown_unanswered();
        } else if self.options.reconnects && self.shutting_down.is_none() {
            self.lose();
        } else {
            self.close(Code::DISCONNECTED, GONE);
        }
    }

    /// Settles what was sent, and keeps the calls that were not.
    fn lose(&mut self) {
        if self.unreachable().is_some() {
            return;
        }
        self.settle_all(&Code::DISCONNECTED, GONE, true);
        self.life.end();
        self.away = true;
        self.actions.push_back(Action::Lost);
    }

    /// The shell has connected again, with a new session. `answers` is as in
    /// [`AgentOptions::answers`](super::AgentOptions::answers).
    pub fn reconnected(&mut self, answers: bool, now: Millis) {
        if std::mem::take(&mut self.away) {
            self.held_until = 0.0;
            self.life = Liveness::of(answers);
            self.flush(now);
        }
    }

    /// The shell does not connect again, now or after a loss that is still to come.
    pub fn give_up(&mut self) {
        self.options.reconnects = false;
        if self.away {
            self.close(Code::DISCONNECTED, GONE);
        }
    }

    /// Why nothing can be sent, if that is so.
    pub(super) fn unreachable(&self) -> Option<(Code, &'static str)> {
        let away = self.away.then_some((Code::DISCONNECTED, GONE));
        self.closed.clone().or(away)
    }

    fn close(&mut self, code: Code, message: &'static str) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some((code.clone(), message));
        self.settle_all(&code, message, false);
        // An agent may be kept long after its session is over, and then needs little memory.
        self.calls = FxHashMap::default();
        self.ledger.shrink();
        self.actions.shrink_to_fit();
        self.shutting_down = None;
        self.away = false;
        self.unsent = VecDeque::new();
        self.life.end();
        self.deadlines = Deadlines::default();
        self.actions.push_back(Action::Closed(code));
    }

    /// Settles everything, but perhaps not the calls that wait for a connection.
    fn settle_all(&mut self, code: &Code, message: &'static str, keep: bool) {
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
        self.cancels = FxHashMap::default();
        for key in in_order(self.calls.keys().copied()) {
            let said = match self.is_unsent(key) {
                true if keep => continue,
                true if *code == Code::NOT_INITIALIZED => {
                    self.never_start(key);
                    continue;
                }
                true => NOT_SENT,
                false => UNKNOWN,
            };
            self.settle(key, Settled::Failed(Error::new(Code::DISCONNECTED, said)));
        }
        for key in in_order(std::mem::take(&mut self.lists).into_iter()) {
            let error = Error::new(code.clone(), message);
            self.actions
                .push_back(Action::Settle(key, Settled::Failed(error)));
        }
    }
}
