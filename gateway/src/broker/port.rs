//! The port of an app inside the gateway, such as a tool server. Such an app gets the requests of its agents
//! typed, and answers them with the text that agents on sockets get.

use std::sync::Arc;

use super::message::{Cancel, Content, Message};
use super::requests::{About, Asked};
use super::sessions::pending::IssuedId;
use super::{Action, Broker, CloseCode, PeerId};
use crate::broker::calls::{CallRequest, RunId};
use crate::wire::abp::{Called, kind, read_call};
use crate::wire::{AGENT_CLOSED, Envelope, Json, Request, Said};
use caphost::call::{CallId, Error, LateEnd, Millis};
use serde_json::Value;

/// A message to an app inside the gateway.
#[derive(Debug)]
pub enum ToApp {
    /// An agent asks something. The answer carries the number.
    Asked {
        /// The agent's name in messages to the app.
        agent: String,
        /// The number of the request.
        number: u64,
        /// What the agent asks.
        ask: Ask,
    },
    /// An agent is gone.
    Left {
        /// The agent's name in messages to the app.
        agent: String,
    },
    /// The app is no longer on the broker.
    Closed(CloseCode, String),
}

/// What an agent asks of an app.
#[derive(Debug)]
pub enum Ask {
    /// To open its session. The payload of its `initialize`.
    Open(Json),
    /// To start a call.
    Start(Start),
    /// To cancel a call, by its callId. Somebody else may ask this in the agent's name.
    Cancel(String),
    /// To list the capabilities.
    List,
    /// To end the session.
    Shutdown,
}

/// A call to start.
#[derive(Debug)]
pub struct Start {
    /// The callId.
    pub call_id: Arc<str>,
    /// The call.
    pub call: ToCall,
}

/// A call, as its caller has given it.
#[derive(Debug)]
pub enum ToCall {
    /// A call that a front has made.
    Made {
        /// The capability's name.
        capability: Arc<str>,
        /// The parameters, as JSON.
        params: Option<Json>,
        /// The time after which the app cancels the call, in milliseconds.
        timeout: Option<Millis>,
    },
    /// The payload of a `capabilities/call`, which is read outside of the broker's lock.
    Written(Json),
}

impl ToCall {
    /// The capability, its parameters as JSON, and the timeout.
    pub fn read(self) -> Result<(Arc<str>, Json, Option<Millis>), Error<Value>> {
        let nothing = || Json::from("{}".to_string());
        match self {
            ToCall::Made {
                capability,
                params,
                timeout,
            } => match params.unwrap_or_else(nothing) {
                params if params.as_str().starts_with('{') => Ok((capability, params, timeout)),
                _ => Err(Error::invalid_params(
                    "Bad params: parameters are an object",
                )),
            },
            ToCall::Written(payload) => {
                let (called, params) = read_call(&payload)?;
                let Called {
                    capability,
                    timeout,
                    ..
                } = called;
                Ok((capability.into(), params, timeout))
            }
        }
    }
}

/// A message of an app inside the gateway to one of its agents.
#[derive(Debug)]
pub enum FromApp<'a> {
    /// The answer to a request.
    Answer {
        /// The number of the request.
        number: u64,
        /// The type of the request.
        request: Request,
        /// The answer, as agents on sockets read it.
        payload: &'a Json,
        /// What the answer says.
        said: Box<Said<'a>>,
    },
    /// The handler of an abandoned call has ended.
    EndedLate {
        /// The callId.
        call_id: &'a CallId,
        /// How the handler has ended.
        end: LateEnd,
        /// The notification, as agents on sockets read it.
        payload: &'a Json,
    },
    /// A notification for the agent alone.
    Notification(&'a Json),
}

impl Broker {
    /// Tells an app inside the gateway what an agent asks.
    pub(super) fn ask_inside(&mut self, app: PeerId, agent: String, number: u64, ask: Ask) {
        let message = ToApp::Asked { agent, number, ask };
        self.actions.push_back(Action::ToApp { app, message });
    }

    /// What a request asks of an app inside the gateway.
    pub(super) fn ask_of(&self, asked: &Asked<'_>) -> Ask {
        let payload = || Json::keep(asked.payload, asked.shared);
        match (&asked.about, asked.request) {
            (About::Call(call), _) => Ask::Start(Start {
                call_id: call.call_id.clone(),
                call: ToCall::Written(payload()),
            }),
            (About::Entered(run, call), _) => Ask::Start(self.start_of(*run, call)),
            (About::Cancel(Cancel { call_id, .. }), _) => {
                Ask::Cancel(call_id.as_deref().unwrap_or_default().into())
            }
            (About::Nothing, Request::List) => Ask::List,
            (About::Nothing, Request::Shutdown) => Ask::Shutdown,
            (About::Nothing, _) => Ask::Open(payload()),
        }
    }

    fn start_of(&self, run: RunId, call: &CallRequest) -> Start {
        let run = self.calls.get(run);
        let (call_id, capability) = run
            .map(|run| (run.call_id.clone(), run.capability.clone()))
            .unwrap_or_default();
        let call = ToCall::Made {
            capability,
            params: call.params.clone(),
            timeout: call.timeout,
        };
        Start { call_id, call }
    }

    /// An app inside the gateway says something to one of its agents.
    pub(super) fn inside_said(&mut self, app: PeerId, agent: &str, message: FromApp<'_>) {
        let issued;
        let (kind, id, payload, content) = match message {
            FromApp::Answer {
                number,
                request,
                payload,
                said,
            } => {
                issued = IssuedId::of(number);
                let content = Content::Answer(request, said);
                (request.answer(), Some(issued.as_str()), payload, content)
            }
            FromApp::EndedLate {
                call_id,
                end,
                payload,
            } => {
                let content = Content::LateEnd(call_id.as_str().into(), end);
                (kind::NOTIFICATION, None, payload, content)
            }
            FromApp::Notification(payload) => (kind::NOTIFICATION, None, payload, Content::Other),
        };
        let envelope = Envelope {
            kind: kind.into(),
            id,
            agent: Some(agent.into()),
            timestamp: None,
            payload: Some(payload.as_str()),
            call_id: None,
            shared: Some(payload.shared()),
        };
        self.app_message(app, Message { envelope, content });
    }

    /// Tells an app that an agent is gone.
    pub(super) fn bid_farewell(&mut self, app: PeerId, handle: &str) {
        if self.apps.is_inside(app) {
            let agent = handle.to_string();
            let message = ToApp::Left { agent };
            return self.actions.push_back(Action::ToApp { app, message });
        }
        self.send_as(app, AGENT_CLOSED, None, Some(handle), "{}");
    }
}
