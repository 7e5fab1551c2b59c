//! Cancels, and the ends of a session.

use super::state::DeadlineOf;
use super::{Action, AgentState, CancelOutcome, Request, RequestKey, Settled};
use crate::call::{CallId, Code, Error, Millis};

/// What a probe asks to cancel: any ABP host answers that it knows no such call.
const PROBE: &str = "caphost.probe";

pub(super) struct PendingCancel {
    pub call: CallId,
    /// The call it is for, while that is pending here.
    pub of: Option<RequestKey>,
    /// Whether somebody waits for the confirmation.
    pub wanted: bool,
}

impl<P: Clone> AgentState<P> {
    /// Cancels a call by its id, and awaits the host's confirmation.
    pub fn cancel(&mut self, call: CallId, reason: Option<String>, now: Millis) -> RequestKey {
        if let Some((code, message)) = self.closed.clone() {
            let key = self.next_key();
            let reason = (code == Code::DISCONNECTED).then_some(message);
            let outcome = CancelOutcome::failed(reason, Error::new(code, message));
            self.actions.push_back(Action::SettleCancel(key, outcome));
            return key;
        }
        let of = self.by_id.get(call.as_str()).copied();
        let unsent = of.and_then(|of| self.calls.get(&of)).is_some_and(|it| it.unsent.is_some());
        if unsent && let Some(of) = of {
            let key = self.next_key();
            self.actions.push_back(Action::SettleCancel(key, CancelOutcome::CANCELLED));
            self.settle(of, Settled::Cancelled);
            return key;
        }
        self.send_cancel(call, of, reason, true, now)
    }

    /// Cancels a pending call on the agent's own account; its response tells what came of it.
    pub(super) fn cancel_quietly(&mut self, of: RequestKey, reason: Option<String>, now: Millis) {
        let Some(pending) = self.calls.get_mut(&of).filter(|pending| !pending.cancel_sent) else {
            return;
        };
        pending.cancel_sent = true;
        let call = pending.id.clone();
        self.send_cancel(call, Some(of), reason, false, now);
    }

    fn send_cancel(
        &mut self,
        call: CallId,
        of: Option<RequestKey>,
        reason: Option<String>,
        wanted: bool,
        now: Millis,
    ) -> RequestKey {
        let key = self.next_key();
        self.cancels.insert(key, PendingCancel { call: call.clone(), of, wanted });
        self.deadlines.insert(now + self.options.grace, DeadlineOf::Cancel(key));
        self.actions.push_back(Action::Send(key, Request::Cancel { call, reason }));
        key
    }

    pub(super) fn cancel_unanswered(&mut self, key: RequestKey) {
        let Some(cancel) = self.cancels.remove(&key) else {
            return;
        };
        // The call's own response may have told meanwhile.
        let outcome = self.known_outcome(&cancel.call).unwrap_or_else(|| {
            let error = Error::new(Code::TIMEOUT, "The app did not confirm the cancel in time");
            CancelOutcome::failed(Some("No confirmation from the app"), error)
        });
        if cancel.wanted {
            self.actions.push_back(Action::SettleCancel(key, outcome));
        }
        if let Some(of) = cancel.of {
            self.call_unanswered(of, 0.0);
        }
    }

    pub(super) fn cancel_failed(&mut self, key: RequestKey, error: Error<P>) {
        let Some(cancel) = self.cancels.remove(&key) else {
            return;
        };
        self.forget_deadline();
        if cancel.wanted {
            let message = error.message.to_string();
            let outcome = CancelOutcome::failed(Some(&message), error);
            self.actions.push_back(Action::SettleCancel(key, outcome));
        }
    }

    /// What is known here of a call that has settled.
    pub(super) fn known_outcome(&self, call: &CallId) -> Option<CancelOutcome<P>> {
        use crate::call::Standing::Ended;
        match self.outcomes.standing(call.as_str()) {
            Ended { cancelled: true } => Some(CancelOutcome::CANCELLED),
            Ended { cancelled: false } => {
                Some(CancelOutcome::refused("Operation already completed"))
            }
            _ => None,
        }
    }

    /// Ends the session: the host cancels and answers what is in flight.
    pub fn shutdown(&mut self, reason: Option<String>, now: Millis) {
        if self.closed.is_some() || self.shutting_down.is_some() {
            if self.closed.is_some() {
                self.actions.push_back(Action::SettleShutdown);
            }
            return;
        }
        self.flush(now);
        let key = self.next_key();
        self.shutting_down = Some(key);
        // A plain ABP host does not answer a shutdown; with nothing pending, half a second must do.
        let soon = self.options.grace.min(500.0);
        self.deadlines.insert(now + soon, DeadlineOf::Shutdown(false));
        self.deadlines.insert(now + self.options.grace, DeadlineOf::Shutdown(true));
        self.actions.push_back(Action::Send(key, Request::Shutdown { reason }));
    }

    pub(super) fn shutdown_unanswered(&mut self, last: bool) {
        if self.shutting_down.is_some() && (last || self.calls.is_empty()) {
            self.close(Code::NOT_INITIALIZED, "The session was shut down");
        }
    }

    /// The transport is gone: everything pending settles, its outcome unknown.
    pub fn disconnected(&mut self) {
        self.close(Code::DISCONNECTED, "The app is disconnected: the outcome is unknown");
    }

    pub(super) fn close(&mut self, code: Code, message: &'static str) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some((code, message));
        let unknown = "The app is disconnected: the outcome is unknown";
        let mut cancels: Vec<_> = self.cancels.drain().collect();
        cancels.sort_unstable_by_key(|(key, _)| *key);
        for (key, cancel) in cancels.into_iter().filter(|(_, cancel)| cancel.wanted) {
            let outcome = self.known_outcome(&cancel.call).unwrap_or_else(|| {
                CancelOutcome::failed(Some(unknown), Error::new(Code::DISCONNECTED, unknown))
            });
            self.actions.push_back(Action::SettleCancel(key, outcome));
        }
        let mut calls: Vec<_> = self.calls.keys().copied().collect();
        calls.sort_unstable();
        for key in calls {
            self.settle(key, Settled::Failed(Error::new(Code::DISCONNECTED, unknown)));
        }
        if self.shutting_down.take().is_some() {
            self.actions.push_back(Action::SettleShutdown);
        }
        self.watching = false;
    }

    /// Asks the host for a sign of life, and takes it for gone when none comes within `within`, or
    /// when it has forgotten the session.
    pub fn probe(&mut self, within: Millis, now: Millis) {
        if let Some(id) = CallId::parse(PROBE).ok().filter(|_| self.closed.is_none()) {
            let key = self.send_cancel(id, None, None, false, now);
            self.deadlines.insert(now + within, DeadlineOf::Probe(key));
        }
    }

    /// Starts to look for life, if that is wanted and not under way.
    pub(super) fn watch(&mut self, now: Millis) {
        if let Some(liveness) = self.options.liveness.filter(|_| !self.watching) {
            self.watching = true;
            self.heard = now;
            self.deadlines.insert(now + liveness / 2.0, DeadlineOf::Liveness);
        }
    }

    pub(super) fn look_for_life(&mut self, now: Millis) {
        let Some(liveness) = self.options.liveness.filter(|_| self.closed.is_none()) else {
            return;
        };
        if self.calls.is_empty() {
            self.watching = false;
            return;
        }
        let silent = now - self.heard;
        if silent >= liveness / 2.0 {
            self.probe(liveness / 2.0, now);
        }
        self.deadlines.insert(now + liveness / 2.0, DeadlineOf::Liveness);
    }

    pub(super) fn lost(&mut self) {
        if self.closed.is_none() {
            self.actions.push_back(Action::Lost);
            self.disconnected();
        }
    }
}
