//! Cancels that do not come from the agent whose call it is: an operator's, or the gateway's own.
//!
//! They go to the app in the agent's name under an id of the relay's, so the app decides as it
//! would for the agent. The agent itself sees only its call's response.

use serde::Deserialize;
use serde_json::{Value, json};

use super::pending::{Entry, issued_id};
use super::{Action, PeerId, Relay};
use crate::broker::runs::{Ending, RunId, RunState};
use crate::wire::{Failure, Header, Outgoing, Request, error_json, said};
use caphost::call::{Code, Error, LateEnd, Stop};

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq)]
pub struct Revoked {
    /// True only when the app said so, or the call never went there.
    pub cancelled: bool,
    /// Why not.
    pub reason: Option<String>,
    /// The `ABPError` with it.
    pub error: Option<Value>,
    /// How far the stop was seen, if it is cancelled.
    pub stop: Option<Stop>,
    /// How the handler has ended since it was abandoned.
    pub ended: Option<LateEnd>,
}

impl Revoked {
    pub(super) fn failed(reason: &str, error: &Failure) -> Self {
        Revoked {
            cancelled: false,
            reason: Some(reason.into()),
            error: Some(error_json(error)),
            stop: None,
            ended: None,
        }
    }

    /// It is cancelled.
    fn confirmed(stop: Stop, ended: Option<LateEnd>) -> Self {
        Revoked {
            cancelled: true,
            reason: None,
            error: None,
            stop: Some(stop),
            ended,
        }
    }

    fn refused(reason: &str) -> Self {
        Revoked {
            cancelled: false,
            reason: Some(reason.into()),
            error: None,
            stop: None,
            ended: None,
        }
    }

    /// Of a call whose app has not answered in time.
    pub fn unconfirmed() -> Self {
        let message = "The app did not confirm the cancel in time";
        Revoked::failed(
            "No confirmation from the app",
            &Error::new(Code::TIMEOUT, message),
        )
    }
}

impl Relay {
    pub(super) fn revoke(&mut self, run: RunId, reason: Option<String>) {
        let now = self.now.unix_ms;
        let found = self.runs.get(run);
        let known = match found.map(|run| run.state) {
            None => Some(Revoked::refused("Operation not found")),
            Some(RunState::Cancelled) => {
                found.and_then(|run| Some(Revoked::confirmed(run.stop()?, run.ended)))
            }
            Some(RunState::Unknown) => Some(Revoked::unconfirmed()),
            Some(RunState::Completed | RunState::Failed) => {
                Some(Revoked::refused("Operation already completed"))
            }
            Some(RunState::Queued | RunState::Running | RunState::Cancelling) => None,
        };
        if let Some(outcome) = known {
            return self.revoked(run, outcome);
        }
        self.runs.cancel_requested(run, reason.as_deref(), now);
        let Some(route) = self.routes.get_mut(&run) else {
            // Not sent yet, and now it never will be.
            let stop = Stop::NeverStarted;
            self.runs.end(run, Ending::Cancelled(stop), now);
            return self.revoked(run, Revoked::confirmed(stop, None));
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
        let call_id = Value::from(call_id);
        let mut payload = json!({ "callId": call_id });
        if let Some(reason) = reason {
            payload["reason"] = reason.into();
        }
        let header = Header {
            kind: Request::Cancel.kind(),
            id: Some(&issued_id(issued)),
            agent: Some(&agent.handle),
            timestamp: &self.timestamp,
        };
        let message = Outgoing::new(header, &payload.to_string(), None);
        self.actions.push_back(Action::Send { peer: app, message });
        let entry = Entry {
            agent: peer,
            app,
            request: Request::Cancel,
            id: None,
            call_id: Some(call_id.to_string()),
            run: None,
            revokes: Some(run),
        };
        self.pending.insert(issued, entry);
    }

    pub(super) fn revocation_answered(&mut self, run: RunId, payload: &str) {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default)]
            cancelled: bool,
            reason: Option<String>,
            error: Option<Value>,
        }
        let outcome = match serde_json::from_str(payload) {
            Ok(Answer {
                cancelled: true, ..
            }) => {
                let said = said(payload);
                Revoked::confirmed(said.stop.unwrap_or(Stop::Abandoned), said.ended)
            }
            Ok(Answer { reason, error, .. }) => Revoked {
                cancelled: false,
                reason,
                error,
                stop: None,
                ended: None,
            },
            Err(error) => {
                let message = format!("The app's answer is no CancelResponse: {error}");
                Revoked::failed(
                    &message,
                    &Error::new(Code::TRANSPORT_ERROR, message.clone()),
                )
            }
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

    pub(super) fn revoked(&mut self, run: RunId, outcome: Revoked) {
        if let Some(route) = self.routes.get_mut(&run) {
            route.revoking = false;
        }
        self.actions.push_back(Action::Revoked { run, outcome });
    }
}
