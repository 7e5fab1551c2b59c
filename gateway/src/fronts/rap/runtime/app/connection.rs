//! The app's end of the broker: its connection, which has no socket, and what agents send over it.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::ToolServerApp;
use crate::broker::{Event, PeerId, Seat};
use crate::gateway::{Hub, Outbox, OutboxStep};
use crate::tokens::Identity;
use crate::wire::abp::{self, FromAgent, Received};
use crate::wire::{Envelope, failed};
use caphost::call::{CallId, Code, Error};
use caphost::session::{CallRequest, ConnectionId};

/// Counts as a connection while somebody has a clone: a gateway that stops waits for it, up to its
/// close timeout.
pub type KeepAlive = Arc<dyn Any + Send + Sync>;

/// An app's connection to the broker; dropping it leaves the broker.
pub struct BrokerConnection {
    hub: Arc<Hub>,
    peer: PeerId,
    outbox: Arc<Outbox>,
    pub keep: KeepAlive,
}

impl BrokerConnection {
    /// Joins the broker.
    pub fn join(hub: &Arc<Hub>) -> Self {
        let (peer, outbox, connected) = hub.join(|peer| Event::AppJoined {
            peer,
            identity: Some(Identity::anyone()),
            seat: Seat::Own,
        });
        BrokerConnection {
            hub: hub.clone(),
            peer,
            outbox,
            keep: Arc::new(connected),
        }
    }

    /// Waits for what comes next.
    pub async fn next(&self) -> OutboxStep {
        let step = self.outbox.next().await;
        self.taken(step)
    }

    /// What comes next, if it is there already.
    pub fn queued(&self) -> Option<OutboxStep> {
        self.outbox.pop().map(|step| self.taken(step))
    }

    fn taken(&self, step: OutboxStep) -> OutboxStep {
        if let OutboxStep::Message(_, cost) = step
            && self.outbox.written(cost)
        {
            self.hub.relieved(self.peer, &self.outbox);
        }
        step
    }

    /// Sends a message, to the agent named or from the app itself.
    pub fn send(&self, agent: Option<&str>, kind: &str, id: Option<&Value>, payload: Value) {
        let timestamp = self.hub.now().unix_ms;
        let mut envelope = json!({ "type": kind, "timestamp": timestamp });
        if let Some(agent) = agent {
            envelope["agent"] = agent.into();
        }
        if let Some(id) = id {
            envelope["id"] = id.clone();
        }
        envelope["payload"] = payload;
        self.hub.receive(self.peer, &envelope.to_string(), None);
    }
}

impl Drop for BrokerConnection {
    fn drop(&mut self) {
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}

impl ToolServerApp<'_> {
    /// Takes a message from the broker.
    pub fn receive(&mut self, text: &str) {
        let Ok(envelope) = Envelope::read(text, None, &self.parts.hub.limits) else {
            return;
        };
        let Some(handle) = envelope.agent.as_deref() else {
            if envelope.kind == "app/refused" {
                tracing::warn!(server = ?self.parts.client.server, text, "the broker refuses");
            }
            return;
        };
        if envelope.kind == "agent/closed" {
            return self.agent_closed(handle);
        }
        let state = &mut self.state;
        let connection = self.agents.connection(handle, || state.connect());
        // The broker checks the depth without parsing, and lets a little more through than this can.
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            let error = Error::invalid_params("The message is nested too deeply");
            let (kind, payload) = failed(&envelope.subject(), &error);
            let id = envelope.id.and_then(|id| serde_json::from_str(id).ok());
            let payload = serde_json::from_str(&payload).unwrap_or_default();
            return self.broker.send(Some(handle), kind, id.as_ref(), payload);
        };
        match abp::read_from_agent(&message) {
            Ok(received) => self.take(connection, received),
            Err(error) => {
                let error = self.without_session(connection, &message).unwrap_or(error);
                let refusal = abp::refusal(&message, &error, 0.0);
                let kind = refusal["type"].as_str().unwrap_or_default();
                let id = message.get("id").cloned();
                self.post(connection, kind, id, refusal["payload"].clone());
            }
        }
    }

    /// The error of a request that needs a session and has none. It is told before any other.
    fn without_session(&self, connection: ConnectionId, message: &Value) -> Option<Error<Value>> {
        let kind = message["type"].as_str()?;
        let needs_session = [abp::kind::CALL, abp::kind::CANCEL].contains(&kind);
        let missing = needs_session && self.state.session_id(connection).is_none();
        let message = "There is no session: call initialize first";
        missing.then(|| Error::new(Code::NOT_INITIALIZED, message))
    }

    fn take(&mut self, connection: ConnectionId, received: Received) {
        let Received { id, message } = received;
        let now = self.now();
        match message {
            FromAgent::Initialize(params) => {
                // A session should start with what the tool server offers now.
                self.parts.look.notify_one();
                let session: Rc<str> = Uuid::new_v4().to_string().into();
                self.state.initialize(connection, id, params, session, now);
            }
            FromAgent::Call {
                call,
                capability,
                params,
                timeout,
                token,
            } => {
                let fresh = || CallId::from_random(*Uuid::new_v4().as_bytes());
                let request = CallRequest {
                    id: call.unwrap_or_else(fresh),
                    capability,
                    // Nothing else tells the handler whose call it is.
                    params: json!([connection, params]),
                    timeout,
                    token,
                };
                self.state.call(connection, id, request, now);
            }
            FromAgent::Cancel {
                given,
                call,
                reason,
            } => {
                self.state.cancel(connection, id, given, &call, reason, now);
                self.unsubscribe(connection, &call);
            }
            FromAgent::Shutdown { reason } => self.state.shutdown(connection, id, reason, now),
            // No tool asks anything.
            FromAgent::Elicited(_) => {}
        }
    }

    fn agent_closed(&mut self, handle: &str) {
        let Some(connection) = self.agents.known(handle) else {
            return;
        };
        let now = self.now();
        self.state.disconnect(connection, now);
        self.drive();
        self.close_thread(connection);
        self.agents.remove(connection);
    }
}
