//! Cancels that do not come from the agent whose call it is: an operator's, or the gateway's own.
//!
//! They go to the app in the agent's name under an id of the broker's, so the app decides as it
//! would for the agent. The agent itself sees only its call's response.

use serde_json::Value;

use super::page::{CancelOutcome, Reply, cancel_payload};
use super::pending::{Asker, Entry, issued_id};
use super::stops::Grade;
use super::{Action, Broker, PeerId};
use crate::broker::runs::{Ending, RunId, RunState};
use crate::wire::{Failure, Header, Json, Outgoing, Request, Said};
use caphost::call::{Code, Error, LateEnd, Stop};

/// It is cancelled.
fn confirmed(stop: Stop, ended: Option<LateEnd>) -> CancelOutcome {
    CancelOutcome {
        stop: Some(stop),
        ended,
        reason: None,
        error: None,
    }
}

/// It is not.
fn refused(reason: &str) -> CancelOutcome {
    CancelOutcome {
        stop: None,
        ended: None,
        reason: Some(reason.into()),
        error: None,
    }
}

/// Nobody knows.
pub(super) fn failed(reason: &str, error: Failure) -> CancelOutcome {
    CancelOutcome {
        error: Some(Ok(Reply::Failed(error))),
        ..refused(reason)
    }
}

/// Of a call whose app has not answered in time.
pub(crate) fn unconfirmed() -> CancelOutcome {
    let message = "The app did not confirm the cancel in time";
    failed(
        "No confirmation from the app",
        Error::new(Code::TIMEOUT, message),
    )
}

impl Broker {
    /// What a cancel of a run is answered with whose end is known.
    pub(super) fn outcome_of_ended(&self, run: RunId) -> Option<CancelOutcome> {
        let run = self.runs.get(run)?;
        match run.state {
            RunState::Cancelled => Some(confirmed(run.stop()?, run.ended)),
            RunState::Completed | RunState::Failed => Some(refused("Operation already completed")),
            RunState::Queued | RunState::Running | RunState::Cancelling | RunState::Unknown => None,
        }
    }

    pub(super) fn revoke(&mut self, run: RunId, reason: Option<String>) {
        let now = self.now.unix_ms;
        if let Some(outcome) = self.outcome_of_ended(run) {
            return self.revoked(run, outcome);
        }
        match self.runs.get(run).map(|run| run.state) {
            None => return self.revoked(run, refused("Operation not found")),
            Some(RunState::Unknown) => return self.revoked(run, unconfirmed()),
            Some(_) => {}
        }
        self.runs.cancel_requested(run, reason.as_deref(), now);
        let Some(route) = self.routes.get_mut(&run) else {
            // Not sent yet, and now it never will be.
            let stop = Stop::NeverStarted;
            self.runs.end(run, Ending::Cancelled(stop), now);
            return self.revoked(run, confirmed(stop, None));
        };
        if std::mem::replace(&mut route.revoking, true) {
            return;
        }
        let route = route.clone();
        self.ask_to_cancel(run, (route.agent, route.app), &route.call_id, reason);
    }

    fn ask_to_cancel(
        &mut self,
        run: RunId,
        (peer, app): (PeerId, PeerId),
        call_id: &str,
        reason: Option<String>,
    ) {
        let issued = self.issue();
        let Some(agent) = self.agents.get_mut(&peer) else {
            return;
        };
        agent.pending.insert(issued);
        let header = Header {
            kind: Request::Cancel.kind(),
            id: Some(&issued_id(issued)),
            agent: Some(&agent.handle),
            timestamp: &self.timestamp,
        };
        let message = Outgoing::new(header, &cancel_payload(call_id, reason.as_deref()), None);
        self.actions.push_back(Action::Send { peer: app, message });
        let entry = Entry {
            agent: peer,
            app,
            request: Request::Cancel,
            asker: Asker::Revoker(run),
            call_id: Some(Value::from(call_id).to_string().into()),
            run: None,
        };
        self.pending.insert(issued, entry);
    }

    pub(super) fn revocation_answered(&mut self, run: RunId, said: &Said<'_>, grade: Grade) {
        let outcome = match said.cancelled {
            true => confirmed(grade.0, grade.1),
            false => CancelOutcome {
                stop: None,
                ended: None,
                reason: said.reason.as_deref().map(str::to_string),
                error: said
                    .error
                    .map(|error| Ok(Reply::Json(Json::keep(error, None)))),
            },
        };
        match outcome.stop {
            Some(stop) => drop(
                self.runs
                    .end(run, Ending::Cancelled(stop), self.now.unix_ms),
            ),
            None => self.runs.cancel_refused(run),
        }
        self.revoked(run, outcome);
    }

    pub(super) fn revoked(&mut self, run: RunId, outcome: CancelOutcome) {
        if let Some(route) = self.routes.get_mut(&run) {
            route.revoking = false;
        }
        self.actions.push_back(Action::Revoked { run, outcome });
    }
}
