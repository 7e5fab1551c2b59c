//! What the ledger of runs is told of calls that pass.

use std::borrow::Cow;
use std::collections::hash_map::Entry::Occupied;
use std::sync::Arc;

use serde_json::json;

use super::pending::Entry;
use super::{PeerId, Relay, Revoked};
use crate::broker::runs::{Ending, NewRun, RunId};
use crate::id_map::IdMap;
use crate::wire::{Envelope, Failure, Request, members, said, text_of, with_stop};
use caphost::call::{Code, Error, Stop};

/// Where the runs are that apps have, by their ids.
pub(super) type Routes = IdMap<RunId, Route>;

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
pub(super) enum Noted<'a> {
    /// It goes on with that payload. The run it begins or cancels, if it does.
    Pass(Option<RunId>, Cow<'a, str>),
    /// It must not go there, because its run is over already.
    Skip,
    /// It must not go there, because of what it says.
    Refuse(Failure),
}

/// What a call says of itself.
#[derive(Default)]
struct Call<'a> {
    capability: Option<Cow<'a, str>>,
    /// The one in its options, or else that at the top level.
    call_id: Option<Cow<'a, str>>,
}

impl Relay {
    /// Notes a request on its way to the app.
    pub(super) fn note_request<'a>(
        &mut self,
        peer: PeerId,
        app: PeerId,
        request: Request,
        payload: &'a str,
        run: Option<RunId>,
    ) -> Noted<'a> {
        match request {
            Request::Call => {}
            Request::Cancel => return self.note_cancel(peer, payload),
            _ => return Noted::Pass(None, payload.into()),
        }
        let app_id = self.apps.get(&app).and_then(|app| app.id.clone());
        // Where the agent is, its runs are.
        let agent = self.agents.get_mut(&peer).filter(|agent| agent.is_here());
        let Some(agent) = agent else {
            return Noted::Pass(None, payload.into());
        };
        let call = read_call(payload);
        let given = call.call_id;
        // The app cannot know those that never went there; and of one it has, the entry must stay.
        let used = |id: &str| agent.calls.contains_key(id) || agent.skipped.contains(id);
        if given.as_deref().is_some_and(used) {
            return Noted::Refuse(used_before());
        }
        let id = run.unwrap_or_else(RunId::random);
        let named = given.is_some();
        let call_id: Arc<str> = given.map_or_else(|| id.to_string().into(), Arc::from);
        let may = match run {
            Some(_) => true,
            None => self.runs.register(
                NewRun {
                    id,
                    dialect: agent.profile.dialect,
                    dialect_id: Some(call_id.clone()),
                    owner: agent.profile.owner.clone(),
                    thread: None,
                    app: app_id.clone(),
                    capability: call.capability.unwrap_or_default().into_owned(),
                    call_id: call_id.clone(),
                },
                self.now.unix_ms,
            ),
        };
        if !(self.runs.sent(id, app_id) && may) {
            agent.skipped.insert(call_id);
            return Noted::Skip;
        }
        agent.calls.insert(call_id.clone(), id);
        // Without a callId nobody but the app could name the call.
        let payload = match named {
            true => payload.into(),
            false => with_call_id(payload, &call_id),
        };
        let route = Route {
            agent: peer,
            app,
            call_id,
            revoking: false,
        };
        self.routes.insert(id, route);
        Noted::Pass(Some(id), payload)
    }

    /// The runs that an app has.
    pub fn runs_on(&self, app: PeerId) -> Vec<RunId> {
        let routes = self.routes.iter().filter(|(_, route)| route.app == app);
        routes.map(|(run, _)| *run).collect()
    }

    /// Notes that an agent cancels.
    fn note_cancel<'a>(&mut self, peer: PeerId, payload: &'a str) -> Noted<'a> {
        let (mut call_id, mut reason) = (None, None);
        members(payload.as_bytes(), |key, value| match key {
            "callId" => call_id = text_of(value),
            "reason" => reason = text_of(value),
            _ => {}
        });
        let (Some(agent), Some(call_id)) = (self.agents.get(&peer), call_id) else {
            return Noted::Pass(None, payload.into());
        };
        if agent.skipped.contains(&*call_id) {
            return Noted::Skip;
        }
        let run = agent.calls.get(&*call_id).copied();
        if let Some(run) = run {
            let now = self.now.unix_ms;
            self.runs.cancel_requested(run, reason.as_deref(), now);
        }
        Noted::Pass(run, payload.into())
    }

    /// Answers what must not reach the app: a call cancelled before it came, and its cancel.
    pub(super) fn answer_for_the_app(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
    ) {
        let payload = match request {
            Request::Cancel => {
                let call_id = envelope.subject().call_id;
                let call_id = call_id.as_deref().unwrap_or("null");
                format!(r#"{{"callId":{call_id},"cancelled":true}}"#)
            }
            _ => r#"{"success":false,"cancelled":true}"#.into(),
        };
        let payload = with_stop(&payload, Stop::NeverStarted, None);
        self.send(peer, request.answer(), envelope.id, &payload);
    }

    /// Notes an app's answer to a call, or to a cancel of the gateway's own.
    pub(super) fn run_answered(&mut self, entry: &Entry, payload: &str) {
        if let Some(run) = entry.revokes {
            return self.revocation_answered(run, payload);
        }
        match (entry.run, entry.request) {
            (Some(run), Request::Cancel) if !says_cancelled(payload) => {
                self.runs.cancel_refused(run);
            }
            // How it ends, its call's own answer says.
            (None, _) | (_, Request::Cancel) => {}
            (Some(run), _) => self.run_over(entry.agent, run, ending_of(payload)),
        }
    }

    /// Notes that a call, or a cancel of the gateway's own, will never be answered.
    pub(super) fn run_lost(&mut self, entry: &Entry, cancel_reason: &str, error: &Failure) {
        if let Some(run) = entry.revokes {
            let outcome = Revoked::failed(cancel_reason, error);
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
    pub(super) fn note_progress(&mut self, agent: PeerId, envelope: &Envelope<'_>) {
        let (Some(agent), Some(payload)) = (self.agents.get(&agent), envelope.payload) else {
            return;
        };
        let mut operation = None;
        members(payload.as_bytes(), |key, value| {
            if key == "operationId" {
                operation = text_of(value);
            }
        });
        let run = operation.and_then(|operation| agent.calls.get(&*operation));
        if let Some(run) = run {
            self.runs.progress(*run, payload);
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

fn read_call(payload: &str) -> Call<'_> {
    let (mut call, mut in_options) = (Call::default(), None);
    members(payload.as_bytes(), |key, value| match key {
        "capability" => call.capability = text_of(value),
        "callId" => call.call_id = text_of(value),
        "options" => {
            in_options = None;
            members(value, |key, value| {
                if key == "callId" {
                    in_options = text_of(value);
                }
            });
        }
        _ => {}
    });
    call.call_id = in_options.or(call.call_id);
    call
}

/// The payload with a `callId` at its top level, where the protocol accepts one too.
fn with_call_id<'a>(payload: &'a str, call_id: &str) -> Cow<'a, str> {
    let Some(rest) = payload.strip_prefix('{') else {
        return payload.into();
    };
    let empty = rest.trim_start().starts_with('}');
    let comma = if empty { "" } else { "," };
    format!(r#"{{"callId":"{call_id}"{comma}{rest}"#).into()
}

fn used_before() -> Failure {
    Error::invalid_params("The callId was used before")
        .with_details(Box::new(json!({ "path": "options.callId" })))
}

fn says_cancelled(payload: &str) -> bool {
    let mut cancelled = false;
    members(payload.as_bytes(), |key, value| {
        if key == "cancelled" {
            cancelled = value == b"true";
        }
    });
    cancelled
}

fn ending_of(payload: &str) -> Ending {
    let (mut success, mut code) = (false, None);
    members(payload.as_bytes(), |key, value| match key {
        "success" => success = value == b"true",
        "error" => {
            code = None;
            members(value, |key, value| {
                if key == "code" {
                    code = text_of(value);
                }
            });
        }
        _ => {}
    });
    if success {
        return Ending::Completed;
    }
    let said = said(payload);
    match said.cancelled {
        true => Ending::Cancelled(said.stop.unwrap_or(Stop::Abandoned)),
        false => Ending::Failed(code.map_or_else(|| "OPERATION_FAILED".into(), Cow::into_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_call_id_gets_one() {
        for (before, after) in [
            ("{}", r#"{"callId":"x"}"#),
            (
                r#"{ "capability":"a"}"#,
                r#"{"callId":"x", "capability":"a"}"#,
            ),
        ] {
            let written = with_call_id(before, "x");
            assert_eq!(written, after);
            serde_json::from_str::<serde_json::Value>(&written).unwrap();
        }
    }

    #[test]
    fn a_call_id_is_the_one_that_everybody_reads() {
        for (payload, id) in [
            (r#"{"callId":"a"}"#, Some("a")),
            (r#"{"callId":"a","options":{"callId":"b"}}"#, Some("b")),
            (r#"{"options":{"call\u0049d":"b"}}"#, Some("b")),
            (
                r#"{"callId":"a","options":{"callId":"b"},"options":{}}"#,
                Some("a"),
            ),
            (r#"{"callId":"a","callId":"b"}"#, Some("b")),
            (r#"{"callId":"a","callId":7}"#, None),
        ] {
            assert_eq!(read_call(payload).call_id.as_deref(), id, "{payload}");
        }
    }

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
            assert_eq!(ending_of(payload), ending, "{payload}");
        }
    }
}
