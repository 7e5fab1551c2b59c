//! What the ledger of runs is told of calls that pass.

use std::collections::hash_map::Entry::Occupied;
use std::sync::Arc;

use serde_json::json;

use super::message::{Call, Cancel};
use super::pending::Entry;
use super::stops::Grade;
use super::{Broker, PeerId, revocation};
use crate::broker::runs::{Ending, NewRun, RunId};
use crate::wire::{Envelope, Failure, Request, Said};
use caphost::call::{CallId, Code, Error, Stop};
use rustc_hash::FxHashMap;

/// Where the runs are that apps have, by their ids.
pub(super) type Routes = FxHashMap<RunId, Route>;

/// Where a run is.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub agent: PeerId,
    pub app: PeerId,
    pub call_id: Arc<str>,
    /// A cancel its agent did not ask for is on its way.
    pub revoking: bool,
}

/// What becomes of a request on its way to the app.
pub(super) enum Noted {
    /// It goes on. The run it begins or cancels, if it does.
    Pass(Option<RunId>),
    /// It must not go there, because its run is over already.
    Skip,
    /// It must not go there, because of what it says.
    Refuse(Failure),
}

impl Broker {
    /// Notes an agent's call on its way to the app: the run it begins is registered.
    pub(super) fn note_call(&mut self, peer: PeerId, app: PeerId, call: &Call<'_>) -> Noted {
        // Where the agent is, its runs are.
        let agent = self.agents.get_mut(&peer).filter(|agent| agent.is_here());
        let Some(agent) = agent else {
            return Noted::Pass(None);
        };
        if agent.has_used(&call.call_id) {
            return Noted::Refuse(used_before());
        }
        let may = self.runs.register(
            NewRun {
                id: call.run,
                dialect: agent.profile.dialect,
                dialect_id: Some(call.call_id.clone()),
                owner: agent.profile.owner.clone(),
                thread: None,
                app: self.apps.get(&app).and_then(|app| app.id.clone()),
                capability: call.capability.clone().into_owned(),
                call_id: call.call_id.clone(),
            },
            self.now.unix_ms,
        );
        self.begin(peer, app, call.run, call.call_id.clone(), may)
    }

    /// Notes the call of a run that is registered.
    pub(super) fn note_own_call(
        &mut self,
        peer: PeerId,
        app: PeerId,
        run: RunId,
        id: &CallId,
    ) -> Noted {
        let agent = self.agents.get(&peer);
        if agent.is_some_and(|agent| agent.has_used(id.as_str())) {
            return Noted::Refuse(used_before());
        }
        let known = self.runs.get(run).map(|run| run.call_id.clone());
        // It is kept short there.
        let call_id = known.filter(|known| **known == *id.as_str());
        let call_id = call_id.unwrap_or_else(|| id.as_str().into());
        self.begin(peer, app, run, call_id, true)
    }

    /// A run goes to its app, if it still `may`.
    fn begin(
        &mut self,
        agent: PeerId,
        app: PeerId,
        run: RunId,
        call_id: Arc<str>,
        may: bool,
    ) -> Noted {
        let app_id = self.apps.get(&app).and_then(|app| app.id.clone());
        let sent = self.runs.sent(run, app_id) && may;
        let Some(calling) = self.agents.get_mut(&agent) else {
            return Noted::Skip;
        };
        if !sent {
            calling.skipped.insert(call_id);
            return Noted::Skip;
        }
        calling.calls.insert(call_id.clone(), run);
        let route = Route {
            agent,
            app,
            call_id,
            revoking: false,
        };
        self.routes.insert(run, route);
        Noted::Pass(Some(run))
    }

    /// The runs that an app has.
    pub fn runs_on(&self, app: PeerId) -> Vec<RunId> {
        let routes = self.routes.iter().filter(|(_, route)| route.app == app);
        routes.map(|(run, _)| *run).collect()
    }

    /// Notes that an agent cancels.
    pub(super) fn note_cancel(&mut self, peer: PeerId, cancel: &Cancel<'_>) -> Noted {
        let (Some(agent), Some(call_id)) = (self.agents.get(&peer), &cancel.call_id) else {
            return Noted::Pass(None);
        };
        if agent.skipped.contains(&**call_id) {
            return Noted::Skip;
        }
        let run = agent.calls.get(&**call_id).copied();
        if let Some(run) = run {
            let now = self.now.unix_ms;
            self.runs
                .cancel_requested(run, cancel.reason.as_deref(), now);
        }
        Noted::Pass(run)
    }

    /// Answers what must not reach the app: a call cancelled before it came, and its cancel.
    pub(super) fn answer_for_the_app(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
    ) {
        let stop = Stop::NeverStarted.as_str();
        let said = match request {
            Request::Cancel => {
                let call_id = envelope.call_id.unwrap_or("null");
                format!(r#""callId":{call_id},"cancelled":true"#)
            }
            _ => r#""success":false,"cancelled":true"#.into(),
        };
        let payload = format!(r#"{{{said},"metadata":{{"stop":"{stop}"}}}}"#);
        self.send(peer, request.answer(), envelope.id, &payload);
    }

    /// Notes an app's answer to a call, or to a cancel; `grade` is how far it has seen the stop.
    pub(super) fn run_answered(&mut self, entry: &Entry, said: &Said<'_>, grade: Grade) {
        if let Some(run) = entry.revokes() {
            return self.revocation_answered(run, said, grade);
        }
        match (entry.run, entry.request) {
            (Some(run), Request::Cancel) if !said.cancelled => self.runs.cancel_refused(run),
            // How it ends, its call's own answer says.
            (None, _) | (_, Request::Cancel) => {}
            (Some(run), _) => self.run_over(entry.agent, run, ending_of(said, grade)),
        }
    }

    /// Notes that a call, or a cancel of the gateway's own, will never be answered.
    pub(super) fn run_lost(&mut self, entry: &Entry, cancel_reason: &str, error: &Failure) {
        if let Some(run) = entry.revokes() {
            let outcome = revocation::failed(cancel_reason, error.clone());
            return self.revoked(run, outcome);
        }
        if let Some(run) = entry.run.filter(|_| entry.request != Request::Cancel) {
            let ending = Ending::Unknown(error.code.as_str().to_string());
            self.run_over(entry.agent, run, ending);
        }
    }

    fn run_over(&mut self, agent: PeerId, run: RunId, ending: Ending) {
        if let Some(route) = self.routes.remove(&run)
            && let Some(agent) = self.agents.get_mut(&agent)
            && let Occupied(call) = agent.calls.entry(route.call_id)
            && *call.get() == run
        {
            call.remove();
        }
        self.runs.end(run, ending, self.now.unix_ms);
    }

    /// Notes how far a call is, where its progress goes by its callId.
    pub(super) fn note_progress(&mut self, agent: PeerId, operation: &str, info: &str) {
        let agent = self.agents.get(&agent);
        if let Some(run) = agent.and_then(|agent| agent.calls.get(operation)) {
            self.runs.progress(*run, info);
        }
    }

    /// Whether an agent may call that app.
    pub(super) fn may_reach(&self, agent: PeerId, app: PeerId) -> Result<(), Failure> {
        let app = self
            .apps
            .get(&app)
            .and_then(|app| app.registration.as_ref());
        let (Some(agent), Some(registration)) = (self.agents.get(&agent), app) else {
            return Ok(());
        };
        if agent.profile.owner.may_reach(&registration.app.id) {
            return Ok(());
        }
        let message = format!("The token is not for the app {:?}", registration.app.id);
        Err(Error::new(Code::PERMISSION_DENIED, message)
            .with_details(Box::new(json!({ "path": "app" }))))
    }
}

fn used_before() -> Failure {
    Error::invalid_params("The callId was used before")
        .with_details(Box::new(json!({ "path": "options.callId" })))
}

fn ending_of(said: &Said<'_>, (stop, _): Grade) -> Ending {
    match (said.success, said.cancelled) {
        (Some(true), _) => Ending::Completed,
        (_, true) => Ending::Cancelled(stop),
        _ => {
            let code = said.code.as_deref().unwrap_or("OPERATION_FAILED");
            Ending::Failed(code.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::said;

    #[test]
    fn how_a_call_ended_is_read_off_its_response() {
        let failed = r#"{"success":false,"error":{"code":"TIMEOUT"}}"#;
        for (payload, ending) in [
            (r#"{"success":true,"data":1}"#, Ending::Completed),
            (
                r#"{"success":false,"cancelled":true}"#,
                Ending::Cancelled(Stop::Abandoned),
            ),
            (
                r#"{"success":false,"cancelled":true,"metadata":{"stop":"dropped"}}"#,
                Ending::Cancelled(Stop::Dropped),
            ),
            (failed, Ending::Failed("TIMEOUT".into())),
            (r#"{}"#, Ending::Failed("OPERATION_FAILED".into())),
            (r#"{"succ\u0065ss":true}"#, Ending::Completed),
            (r#"{"success":false,"success":true}"#, Ending::Completed),
            (
                r#"{"error":{"code":"A"},"error":{}}"#,
                Ending::Failed("OPERATION_FAILED".into()),
            ),
        ] {
            let said = said(payload);
            let grade = (said.stop.unwrap_or(Stop::Abandoned), said.ended);
            assert_eq!(ending_of(&said, grade), ending, "{payload}");
        }
    }
}
