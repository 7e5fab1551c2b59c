//! Cancels that do not come from the agent of the call, but from an operator or the gateway itself.
//!
//! They go to the app in the agent's name, under an id of the broker. So the app decides as it would for the
//! agent. The agent sees only the response to its call.

use serde_json::Value;

use super::Broker;
use super::call::{
    ANSWERED_WITH_ERROR, CancelOutcome, Waiter, cancel_failed, cancel_payload, not_cancelled,
};
use super::calls::{Reply, Revoking, RunId};
use super::pending::{Asker, Entry, IssuedId};
use super::port::Ask;
use crate::wire::stops::Grade;
use crate::wire::{Json, Request, Said};
use caphost::call::{Code, Error, Stop};

impl Broker {
    /// The answer to a cancel of a run that has ended with an unknown outcome.
    fn outcome_unknown(&self, run: RunId) -> CancelOutcome {
        let code = self.calls.get(run).and_then(|run| run.error.clone());
        let code = code.map_or(Code::DISCONNECTED, Code::from);
        let message = "Nobody was asked: the run had ended before, and its outcome is not known";
        let mut error = Error::new(code, message);
        // A repeated cancel asks nobody either.
        error.retryable = false;
        cancel_failed("The run has ended, and its outcome is not known", error)
    }

    /// Somebody other than its agent cancels a run. The outcome is told to whoever asks, if anybody.
    pub(super) fn revoke(&mut self, run: RunId, reason: Option<String>, told: Option<Waiter>) {
        let (now, now_ms, grace) = (self.now.unix_ms, self.now.monotonic_ms, self.grace());
        let known = match self.calls.get(run) {
            None => Some(not_cancelled("Operation not found")),
            Some(_) if self.is_unknown(run) => Some(self.outcome_unknown(run)),
            Some(_) => self.outcome_of_ended(run),
        };
        if let Some(outcome) = known {
            return self.revoked(run, outcome, told);
        }
        self.calls.cancel_requested(run, reason.as_deref(), now);
        let call = self.calls.live(run).filter(|call| call.is_sent());
        let Some((agent, before)) = call.map(|call| (call.agent, call.revoking)) else {
            // The call was not sent, and now it never will be.
            let stop = Stop::NeverStarted;
            self.revoked(run, CancelOutcome::confirmed(stop.into()), told);
            return self.run_cancelled(run, stop.into());
        };
        let waiters = before.and_then(|before| {
            let agent = self.agents.get_mut(&agent)?;
            agent.pending.waiters(before.issued)
        });
        if let Some(before) = before.filter(|before| now_ms < before.until) {
            // The app may still answer the one before, which answers this one too.
            if let Some(waiters) = waiters {
                waiters.extend(told);
            }
            let is_joined = true;
            self.calls.change(run, |call| {
                call.revoking = Some(Revoking {
                    is_joined,
                    ..before
                });
            });
            return;
        }
        let mut waiters = waiters.map(std::mem::take).unwrap_or_default();
        waiters.retain(|it| !it.is_closed());
        waiters.extend(told);
        let issued = self.issue();
        self.calls.change(run, |call| {
            call.revoking = Some(Revoking {
                issued,
                until: now_ms + grace,
                is_joined: false,
            });
        });
        let Some(call_id) = self.calls.get(run).map(|run| run.call_id.clone()) else {
            return;
        };
        let entry = Entry {
            issued,
            request: Request::Cancel,
            asker: Asker::Others(waiters),
            call_id: Some(Value::from(&*call_id).to_string().into()),
            run: Some(run),
            bytes: 0,
            kept: 0,
            joined: Vec::new(),
        };
        let Some(agent) = self.agents.get_mut(&agent) else {
            return;
        };
        let Some(app) = agent.app else { return };
        agent.pending.insert(entry);
        let (id, handle) = (IssuedId::of(issued), agent.handle.clone());
        if self.is_inside(app) {
            let ask = Ask::Cancel((*call_id).into());
            return self.ask_inside(app, handle, issued, ask);
        }
        let payload = cancel_payload(&call_id, reason.as_deref());
        let kind = Request::Cancel.kind();
        self.send_as(app, kind, Some(id.as_str()), Some(&handle), &payload);
    }

    /// The app has not answered a cancel in time that others have joined, who still wait.
    pub(super) fn revoke_again(&mut self, run: RunId) {
        let known = self.calls.get(run);
        let reason = known.and_then(|run| run.cancel_reason.clone());
        self.revoke(run, reason, None);
    }

    pub(super) fn revocation_answered(
        &mut self,
        run: RunId,
        (said, grade): (&Said<'_>, Grade),
        told: Vec<Waiter>,
    ) {
        // The end of the run counts, whatever the app says later.
        let outcome = self.outcome_of_ended(run);
        let outcome = outcome.unwrap_or_else(|| match said.cancelled {
            true => CancelOutcome::confirmed(grade),
            false => {
                let error = said.error.map(|error| Reply::Json(Json::keep(error, None)));
                let reason = said.reason.as_deref().map(str::to_string);
                let reason = reason.or_else(|| error.as_ref().map(|_| ANSWERED_WITH_ERROR.into()));
                CancelOutcome::refused(reason, error)
            }
        });
        self.revoked(run, outcome, told);
        match said.cancelled {
            true => self.run_cancelled(run, grade),
            false => self.calls.cancel_refused(run),
        }
    }

    /// Tells those who have cancelled a run the outcome: `told`, and those who wait for the app.
    pub(super) fn revoked(
        &mut self,
        run: RunId,
        outcome: CancelOutcome,
        told: impl IntoIterator<Item = Waiter>,
    ) {
        let before = self
            .calls
            .change(run, |call| Some((call.agent, call.revoking.take()?)));
        let before = before.flatten();
        let waiters = before.and_then(|(agent, before)| {
            let agent = self.agents.get_mut(&agent)?;
            agent.pending.waiters(before.issued).map(std::mem::take)
        });
        for waiter in waiters.into_iter().flatten().chain(told) {
            // Some wait no longer.
            let _ = waiter.send(outcome.clone());
        }
    }
}
