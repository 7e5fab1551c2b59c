//! Cancels that do not come from the agent of the call, but from an operator or the gateway itself.
//!
//! They go to the app in the agent's name, under an id of the broker. So the app decides as it would for the
//! agent. The agent sees only the response to its call.

use serde_json::Value;

use super::call::{
    ANSWERED_WITH_ERROR, CancelOutcome, Reply, cancel_failed, cancel_payload, not_cancelled,
};
use super::live::Revoking;
use super::pending::{Asker, Entry, IssuedId};
use super::port::Ask;
use super::{Action, Broker};
use crate::broker::runs::{Ending, RunId, RunState};
use crate::wire::stops::Grade;
use crate::wire::{Json, Request, Said};
use caphost::call::{Code, Error, Stop};

impl Broker {
    /// The answer to a cancel of a run whose outcome will never be known.
    fn outcome_unknown(&self, run: RunId) -> CancelOutcome {
        let code = self.runs.get(run).and_then(|run| run.error.clone());
        let code = code.map_or(Code::DISCONNECTED, Code::from);
        let message = "Nobody was asked: the run had ended before, and its outcome is not known";
        let mut error = Error::new(code, message);
        // A repeated cancel would get the same answer.
        error.retryable = false;
        cancel_failed("The run has ended, and its outcome is not known", error)
    }

    pub(super) fn revoke(&mut self, run: RunId, reason: Option<String>) {
        let (now, now_ms, grace) = (self.now.unix_ms, self.now.monotonic_ms, self.grace());
        if let Some(outcome) = self.outcome_of_ended(run) {
            return self.revoked(run, outcome);
        }
        let call_id = match self.runs.get(run) {
            None => return self.revoked(run, not_cancelled("Operation not found")),
            Some(it) if it.state == RunState::Unknown => {
                return self.revoked(run, self.outcome_unknown(run));
            }
            Some(it) => it.call_id.clone(),
        };
        self.runs.cancel_requested(run, reason.as_deref(), now);
        let Some(call) = self.live.get_mut(&run).filter(|call| call.is_sent()) else {
            // The call was not sent, and now it never will be.
            let stop = Stop::NeverStarted;
            self.revoked(run, CancelOutcome::confirmed(stop.into()));
            return self.run_cancelled(run, stop.into());
        };
        if let Some(before) = &mut call.revoking
            && now_ms < before.until
        {
            // The app may still answer the one before, which answers this one too.
            before.is_joined = true;
            return self.reschedule(run);
        }
        call.revoking = Some(Revoking {
            until: now_ms + grace,
            is_joined: false,
        });
        let agent = call.agent;
        self.reschedule(run);
        let issued = self.issue();
        let entry = Entry {
            issued,
            request: Request::Cancel,
            asker: Asker::Nobody,
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
        let known = self.runs.get(run);
        let reason = known.and_then(|run| run.cancel_reason.clone());
        self.revoke(run, reason);
    }

    pub(super) fn revocation_answered(&mut self, run: RunId, said: &Said<'_>, grade: Grade) {
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
        self.revoked(run, outcome);
        match said.cancelled {
            true => self.run_cancelled(run, grade),
            false => self.runs.cancel_refused(run),
        }
    }

    /// A cancel of a run is confirmed.
    pub(super) fn run_cancelled(&mut self, run: RunId, grade: Grade) {
        self.wait_for_response(run);
        self.end_run(run, Ending::Cancelled(grade.stop, grade.by), || None);
    }

    pub(super) fn revoked(&mut self, run: RunId, outcome: CancelOutcome) {
        if let Some(call) = self.live.get_mut(&run) {
            call.revoking = None;
            self.reschedule(run);
        }
        self.actions.push_back(Action::Revoked { run, outcome });
    }
}
