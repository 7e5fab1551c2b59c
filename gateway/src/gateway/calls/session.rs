//! The session of one client with its app.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::call::Call;
use super::way::Way;
use super::{Client, NewCall};
use crate::broker::calls::RunId;
use crate::broker::{self, Profile, Seat};
use crate::gateway::Hub;
use crate::wire::Json;
use crate::wire::abp;
use caphost::call::CallId;

/// A session for the calls of one client. Clones share the session. When the last clone is dropped and all
/// calls of the session have ended, the session's agent leaves the app. The first call opens the session. If
/// the app was lost, the next call opens the session again.
#[derive(Clone, Debug)]
pub struct Session {
    way: Arc<Way>,
    /// The connections for a client that takes questions.
    asked: Option<Arc<Asked>>,
}

impl Session {
    pub(crate) fn new(hub: Arc<Hub>, client: Client, quota_key: Arc<str>) -> Self {
        let profile = Profile {
            dialect: client.dialect,
            owner: client.owner,
            quota_key,
            name: Some(client.name.as_str().into()),
            seat: Seat::Own,
        };
        let of = |takes_questions: bool| {
            let hello = json!({
                "agent": { "name": client.name, "version": client.version },
                "protocolVersion": abp::VERSION,
                "features": { "notifications": true, "progress": true, "elicitation": takes_questions },
            });
            broker::NewSession {
                app: client.app.clone().into(),
                profile: profile.clone(),
                hello: hello.to_string().into(),
                takes_questions,
            }
        };
        let asked = (client.takes_questions).then(|| Arc::new(Asked::new(hub.clone(), of(true))));
        let way = Way::new(hub, of(false));
        Session { way, asked }
    }

    /// Makes a call. The call's run is registered when this function returns. Any problem with the call
    /// becomes the call's outcome.
    pub fn call(&self, call: NewCall) -> Call {
        let run = RunId::of(self.way.hub.process);
        let id = call.call_id.clone().unwrap_or_else(|| own_id(run));
        let timeout = call.timeout.map(|it| it.as_secs_f64() * 1_000.0);
        let (sink, steps) = broker::steps();
        let request = broker::CallRequest {
            payload: payload(&call, &id, timeout),
            params: call.params,
            timeout,
        };
        let new = broker::NewCall {
            run,
            dialect_id: call.dialect_id.map(Into::into),
            thread: call.thread,
            capability: call.capability.into(),
            call_id: id.as_str().into(),
            token: None,
            request: Some(request),
            completed: None,
            sink: Some(sink),
        };
        let lent = self.asked.as_ref().and_then(Asked::lend);
        let way = lent.as_ref().map_or(&self.way, |it| it.way()).clone();
        Call::make(way, lent, new, steps)
    }
}

/// The callId of a call that has none of its own.
fn own_id(run: RunId) -> CallId {
    CallId::parse(&run.to_string()).unwrap_or_else(|_| CallId::random())
}

/// The payload of a `capabilities/call`.
fn payload(call: &NewCall, id: &CallId, timeout: Option<f64>) -> Json {
    let mut options = Map::new();
    options.insert("callId".into(), id.as_str().into());
    if let Some(timeout) = timeout {
        options.insert("timeout".into(), timeout.into());
    }
    if call.progress {
        options.insert("progressToken".into(), id.as_str().into());
    }
    let name = Value::from(&*call.capability);
    let options = Value::Object(options);
    match &call.params {
        Some(params) => {
            let params = params.as_str();
            format!(r#"{{"capability":{name},"options":{options},"params":{params}}}"#)
        }
        None => format!(r#"{{"capability":{name},"options":{options}}}"#),
    }
    .into()
}
