//! Cancels, from the request to the confirmation or its absence.

use super::action::{Action, CancelOutcome, Request, RequestKey, Settled};
use super::records::{DeadlineOf, PendingCancel};
use super::state::AgentState;
use crate::call::{CallId, CancelAnswer, Code, End, Error, Grade, Millis, Standing, Stop};
use crate::dialect::answers::Confirmation;

impl<P: Clone> AgentState<P> {
    /// Cancels a call by its id, and awaits the host's confirmation.
    pub fn cancel(&mut self, call: CallId, reason: Option<String>, now: Millis) -> RequestKey {
        let of = self.ledger.key(&call);
        if let Some(of) = of.filter(|of| self.is_unsent(*of)) {
            let key = self.next_key();
            let confirmed = CancelOutcome::confirmed(Stop::NeverStarted);
            self.actions.push_back(Action::SettleCancel(key, confirmed));
            self.never_start(of);
            return key;
        }
        if let Some((code, message)) = self.unreachable() {
            let key = self.next_key();
            let known = self.known_outcome(&call);
            if let Some(known) = known.filter(|_| code == Code::DISCONNECTED) {
                self.actions.push_back(Action::SettleCancel(key, known));
                return key;
            }
            let mut outcome = CancelOutcome::failed(message, Error::new(code.clone(), message));
            if code == Code::NOT_INITIALIZED {
                // Without a session the answer is the error alone.
                outcome.reason = None;
            }
            self.actions.push_back(Action::SettleCancel(key, outcome));
            return key;
        }
        self.send_cancel(call, of, reason, true, now)
    }

    /// Cancels a pending call without a caller's request. The response to the call tells the
    /// outcome.
    pub(super) fn cancel_quietly(&mut self, of: RequestKey, reason: Option<String>, now: Millis) {
        if self.is_unsent(of) {
            return self.never_start(of);
        }
        let Some(pending) = self
            .calls
            .get_mut(&of)
            .filter(|pending| !pending.cancel_sent)
        else {
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
        let cancel = PendingCancel {
            call: call.clone(),
            of,
            wanted,
        };
        self.cancels.insert(key, Box::new(cancel));
        self.deadlines
            .insert(now + self.options.grace, DeadlineOf::Cancel(key));
        self.actions
            .push_back(Action::Send(key, Request::Cancel { call, reason }));
        key
    }

    pub(super) fn cancel_unanswered(&mut self, key: RequestKey) {
        let Some(cancel) = self.cancels.remove(&key) else {
            return;
        };
        if cancel.wanted {
            // The call's own response may have come meanwhile, and it tells the outcome.
            let known = self.known_outcome(&cancel.call);
            let outcome = known.unwrap_or_else(CancelOutcome::unconfirmed);
            self.actions.push_back(Action::SettleCancel(key, outcome));
        }
        if let Some(of) = cancel.of {
            self.call_unanswered(of);
        }
        self.ledger.give_up(&cancel.call, key);
    }

    /// Whether the cancel under that key, which may have been given up, is for another call than `call`.
    pub(super) fn is_of_another(&self, key: RequestKey, call: &str) -> bool {
        match self.cancels.get(&key) {
            Some(cancel) => cancel.call.as_str() != call,
            None => self.ledger.is_given_up_for_another(key, call),
        }
    }

    pub(super) fn cancel_failed(&mut self, key: RequestKey, error: Error<P>) {
        let Some(cancel) = self.cancels.remove(&key) else {
            return;
        };
        self.forget_deadlines(1);
        if cancel.wanted {
            let message = error.message.clone();
            let outcome = CancelOutcome::failed(&message, error);
            self.actions.push_back(Action::SettleCancel(key, outcome));
        }
    }

    /// What a cancel of a settled call may say, whatever the host says.
    pub(super) fn known_outcome(&self, call: &CallId) -> Option<CancelOutcome<P>> {
        match self.ledger.standing(call) {
            // The host's answer decides, as the agent does not know the end of the call.
            Standing::Ended(End::Unknown | End::Undecided) => None,
            Standing::Ended(_) => Some(match self.ledger.answer(call) {
                CancelAnswer::Cancelled { stop, ended, by } => CancelOutcome::confirmed(Grade {
                    stop,
                    by,
                    late_end: ended,
                }),
                answer => CancelOutcome::refused(answer.reason().unwrap_or_default()),
            }),
            Standing::InFlight(_) | Standing::Unknown => None,
        }
    }

    /// A cancel-result has come, which may name its call.
    pub fn cancelled(
        &mut self,
        key: RequestKey,
        call: Option<&str>,
        confirmation: Confirmation,
        reason: Option<String>,
        error: Option<P>,
    ) {
        if call.is_some_and(|call| self.is_of_another(key, call)) {
            return self.misread(key);
        }
        let (confirmed, lost_session) = match confirmation {
            Confirmation::Cancelled(grade) => (Some(grade), false),
            Confirmation::Refused { lost_session } => (None, lost_session),
            Confirmation::Unreadable => return self.misread(key),
        };
        self.life.received(key);
        if self.life.answered(key) {
            if lost_session {
                self.disconnected();
            }
            return;
        }
        let theirs = match confirmed {
            Some(grade) => CancelOutcome::confirmed(grade),
            None => CancelOutcome {
                grade: None,
                reason,
                error: error.map(Ok),
            },
        };
        let Some(cancel) = self.cancels.remove(&key) else {
            return self.ledger.come_late(key, theirs.end());
        };
        self.life.known_to_answer();
        // The session was over when the cancel came. The response to the call will tell what the
        // shutdown did to it.
        if lost_session
            && self.shutting_down.is_some()
            && let Some(pending) = cancel.of.and_then(|of| self.calls.get_mut(&of))
        {
            pending.overtaken.push(key);
            self.cancels.insert(key, cancel);
            return;
        }
        self.forget_deadlines(1);
        let of = cancel.of.and_then(|of| self.calls.get_mut(&of));
        let said = of.as_ref().and_then(|pending| pending.refused.as_deref());
        let said = said.map(CancelOutcome::refused);
        // The first answer that tells how a call ended holds, whatever comes later.
        let outcome = match said.or_else(|| self.known_outcome(&cancel.call)) {
            Some(known) if known.cancelled() != confirmed.is_some() => known,
            // The agent has already said how far the stop was seen. The rest may be news.
            Some(CancelOutcome {
                grade: Some(known), ..
            }) => CancelOutcome::confirmed(with_news(known, confirmed)),
            _ => theirs,
        };
        if let Some(end) = outcome.end() {
            self.ledger.decide(&cancel.call, end);
        }
        if let Some(by) = outcome.grade.and_then(|grade| grade.by) {
            self.ledger.stopped_by(&cancel.call, by);
        }
        if let Some(of) = cancel.of {
            if let Some(grade) = outcome.grade {
                let confirmation = Action::SettleCancel(key, outcome);
                self.actions.extend(cancel.wanted.then_some(confirmation));
                let late_end = None;
                self.settle(of, Settled::Cancelled(Grade { late_end, ..grade }));
                return;
            }
            // A cancel with an error was not carried out, and claims nothing.
            if let Some(pending) = self.calls.get_mut(&of)
                && cancel.wanted
                && outcome.error.is_none()
            {
                pending.refused = Some(outcome.reason.clone().unwrap_or_default());
            }
        }
        let answer = Action::SettleCancel(key, outcome);
        self.actions.extend(cancel.wanted.then_some(answer));
        if lost_session && self.shutting_down.is_none() && !self.calls.is_empty() {
            self.disconnected();
        }
    }

    /// A call has settled. Its outcome answers the cancels that a shutdown has overtaken.
    pub(super) fn answer_overtaken(&mut self, cancels: Vec<RequestKey>) {
        for key in cancels {
            if self.cancels.contains_key(&key) {
                self.cancel_unanswered(key);
                self.forget_deadlines(1);
            }
        }
    }

    /// The cancel-result cannot be read, or names another call. It confirms nothing.
    fn misread(&mut self, key: RequestKey) {
        let message = "The app's answer to the cancel is no CancelResponse of this call";
        self.cancel_failed(key, Error::new(Code::TRANSPORT_ERROR, message));
    }

    /// The error of a call that was reported as not cancelled, and then answered as cancelled.
    pub(super) fn contradiction() -> Error<P> {
        let message = "The app contradicts itself: it refused to cancel the call, and cancelled it";
        Error::new(Code::INTERNAL_ERROR, message)
    }
}

/// What was said of a stop, with what the host adds now.
fn with_news(known: Grade, news: Option<Grade>) -> Grade {
    let by = news.filter(|it| it.stop == known.stop).and_then(|it| it.by);
    let late_end = news.and_then(|it| it.late_end);
    Grade {
        stop: known.stop,
        by: known.by.or(by),
        late_end: known.late_end.or(late_end),
    }
}
