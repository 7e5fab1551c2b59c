//! The agents of one tool server: their sessions and threads, and the messages from and to them.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::ToolServerApp;
use crate::fronts::rap::names::Identifier;
use crate::remembered::Remembered;
use crate::wire::abp::{self, Called, FromAgent, Received};
use crate::wire::{error_json, for_log};
use caphost::call::{CallId, Code, Error};
use caphost::session::{Answer, CallRequest, ConnectionId};

/// An agent's session. For the tool server it is one thread.
pub struct Session {
    /// The thread.
    pub thread: Identifier,
    /// Whether the agent wants notifications.
    pub notifications: bool,
    /// The tool calls that go on after their results, with the agent's ids for these calls.
    pub subscriptions: HashMap<Identifier, CallId>,
}

/// The agents of the tool server, by their connections. A handle is an agent's name in messages of the
/// broker.
#[derive(Default)]
pub struct Agents {
    connections: HashMap<String, ConnectionId>,
    handles: HashMap<ConnectionId, String>,
    sessions: HashMap<ConnectionId, Session>,
    threads: HashMap<Identifier, ConnectionId>,
    /// The handles of the agents that left last. They are still told when an abandoned run ends.
    left: Remembered<ConnectionId, String, LEFT>,
}

/// How many agents that have left are remembered.
const LEFT: usize = 1_024;

impl Agents {
    /// The connection of the agent with that handle. For a new agent, `connect` makes one.
    fn connection(&mut self, handle: &str, connect: impl FnOnce() -> ConnectionId) -> ConnectionId {
        if let Some(connection) = self.connections.get(handle) {
            return *connection;
        }
        let connection = connect();
        self.connections.insert(handle.to_string(), connection);
        self.handles.insert(connection, handle.to_string());
        connection
    }

    /// The session on a connection.
    pub fn session(&mut self, connection: ConnectionId) -> Option<&mut Session> {
        self.sessions.get_mut(&connection)
    }

    /// The session with that thread, and its connection.
    pub fn in_thread(&mut self, thread: &Identifier) -> Option<(ConnectionId, &mut Session)> {
        let connection = *self.threads.get(thread)?;
        Some((connection, self.session(connection)?))
    }

    fn open(&mut self, connection: ConnectionId, notifications: bool) {
        let session = Session {
            thread: Identifier::random(),
            notifications,
            subscriptions: HashMap::new(),
        };
        self.threads.insert(session.thread.clone(), connection);
        self.sessions.insert(connection, session);
    }

    fn close(&mut self, connection: ConnectionId) -> Option<Session> {
        let session = self.sessions.remove(&connection)?;
        self.threads.remove(&session.thread);
        Some(session)
    }

    /// All connections.
    pub fn all(&self) -> Vec<ConnectionId> {
        self.handles.keys().copied().collect()
    }

    /// Forgets an agent, except its handle.
    fn remove(&mut self, connection: ConnectionId) {
        if let Some(handle) = self.handles.remove(&connection) {
            self.connections.remove(&handle);
            self.left.insert(connection, handle);
        }
    }

    /// The handle of the agent that is or was on a connection.
    fn handle(&self, connection: ConnectionId) -> Option<&str> {
        let here = self.handles.get(&connection);
        here.or_else(|| self.left.get(&connection))
            .map(String::as_str)
    }
}

impl ToolServerApp<'_> {
    /// Handles a message of the broker.
    pub fn receive(&mut self, text: &str) {
        // The broker has checked the message.
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return;
        };
        let Some(handle) = message["agent"].as_str() else {
            if message["type"] == "app/refused" {
                let text = for_log(text);
                tracing::warn!(server = ?self.parts.client.server, text, "the broker refuses");
            }
            return;
        };
        if message["type"] == "agent/closed" {
            if let Some(connection) = self.agents.connections.get(handle) {
                self.disconnect(*connection);
            }
            return;
        }
        let state = &mut self.state;
        let connection = self.agents.connection(handle, || state.connect());
        match abp::read_from_agent(&message) {
            Ok(received) => self.take(connection, received),
            Err(error) => {
                let error = self.without_session(connection, &message).unwrap_or(error);
                let refusal = abp::refusal(&message, &error, self.broker.timestamp());
                self.broker.send(Some(handle), refusal);
            }
        }
    }

    /// The error of a request that needs a session and has none. This error comes before any other.
    fn without_session(&self, connection: ConnectionId, message: &Value) -> Option<Error<Value>> {
        let kind = message["type"].as_str()?;
        let needs_session = [abp::kind::CALL, abp::kind::CANCEL].contains(&kind);
        let missing = needs_session && self.state.session_id(connection).is_none();
        missing.then(no_session)
    }

    fn take(&mut self, connection: ConnectionId, received: Received) {
        let Received { id, message } = received;
        let now = self.now();
        match message {
            FromAgent::Initialize(params) => {
                // A new session should start with the current tools of the server.
                self.parts.look.notify_one();
                let session: Rc<str> = Uuid::new_v4().to_string().into();
                self.state.initialize(connection, id, params, session, now);
            }
            FromAgent::Call(called) => {
                let Called {
                    call,
                    capability,
                    params,
                    timeout,
                    token,
                } = called;
                let fresh = || CallId::from_random(*Uuid::new_v4().as_bytes());
                let request = CallRequest {
                    id: call.unwrap_or_else(fresh),
                    capability,
                    // The handler learns only from here which agent has made the call.
                    params: json!([connection, params]),
                    timeout,
                    token,
                    bytes: 0,
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
            FromAgent::List => self.list(connection, id),
            FromAgent::Shutdown { reason } => self.state.shutdown(connection, id, reason, now),
            // Tools ask no questions.
            FromAgent::Elicited(_) => {}
        }
    }

    /// Tells an agent with a session which capabilities it may call.
    fn list(&self, to: ConnectionId, id: Option<Value>) {
        let payload = match self.state.session_id(to) {
            Some(_) => json!({ "capabilities": self.state.documents(to) }),
            None => json!({ "error": error_json(&no_session()) }),
        };
        self.post(to, abp::kind::LIST_RESULT, id, payload);
    }

    /// An agent is gone. Cancels its calls and closes its thread.
    pub(super) fn disconnect(&mut self, connection: ConnectionId) {
        let now = self.now();
        self.state.disconnect(connection, now);
        self.drive();
        self.close_thread(connection);
        self.agents.remove(connection);
    }

    pub(super) fn answer(&mut self, to: ConnectionId, id: Option<Value>, answer: Answer<Value>) {
        let (kind, payload) = match answer {
            Answer::Initialized(result) => {
                if let Ok(opened) = &result {
                    self.agents.open(to, opened.features.notifications);
                }
                let payload = abp::initialized(&self.app, &result);
                (abp::kind::INITIALIZE_RESULT, payload)
            }
            Answer::Cancelled(given, result) => {
                let payload = abp::cancel_response(&given, &result);
                (abp::kind::CANCEL_RESULT, payload)
            }
            Answer::ShutDown(result) => {
                let payload = match &result {
                    Ok(()) => json!({}),
                    Err(error) => json!({ "error": error_json(error) }),
                };
                if result.is_ok() {
                    self.close_thread(to);
                }
                // ABP 0.1 has no such message. Only a peer that asks for it with an id gets it.
                if id.is_none() {
                    return;
                }
                (abp::kind::SHUTDOWN_RESULT, payload)
            }
        };
        self.post(to, kind, id, payload);
    }

    /// The session of an agent is over, and so is its thread.
    fn close_thread(&mut self, connection: ConnectionId) {
        if let Some(Session { thread, .. }) = self.agents.close(connection) {
            self.parts.notices.closed(&thread, &self.broker.keep);
        }
    }

    /// Sends a message to an agent.
    pub fn post(&self, to: ConnectionId, kind: &str, id: Option<Value>, payload: Value) {
        if let Some(handle) = self.agents.handle(to) {
            let timestamp = self.broker.timestamp();
            let envelope = abp::envelope(kind, id.as_ref(), timestamp, payload);
            self.broker.send(Some(handle), envelope);
        }
    }
}

fn no_session() -> Error<Value> {
    let message = "There is no session: call initialize first";
    Error::new(Code::NOT_INITIALIZED, message)
}
