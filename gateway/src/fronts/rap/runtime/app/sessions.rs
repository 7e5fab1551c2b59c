//! The agents of one tool server and their sessions. For the tool server each session is one thread.

use std::collections::HashMap;

use serde_json::{Value, json};
use uuid::Uuid;

use super::ToolServerApp;
use crate::broker::{Ask, ToApp};
use crate::fronts::rap::names::Identifier;
use crate::wire::{Json, Request, abp, error_json};
use caphost::call::{CallId, Code, Error, Ledger, Outcome};
use caphost::session::{Initialize, Initialized, Scope};

/// How many ended calls of one session are remembered.
const REMEMBERED: usize = 10_000;

/// An agent's session.
pub struct Session {
    /// The thread.
    pub thread: Identifier,
    /// Whether the agent wants notifications.
    pub notifications: bool,
    /// The capabilities that the agent has asked for.
    pub scope: Scope,
    /// The calls of the session.
    pub ledger: Ledger,
    /// The tool calls that go on after their results, with the agent's ids for these calls.
    pub subscriptions: HashMap<Identifier, CallId>,
}

/// The agents that have opened a session, by their names, until they leave.
#[derive(Default)]
pub struct Sessions {
    agents: HashMap<String, Option<Session>>,
    threads: HashMap<Identifier, String>,
}

impl Sessions {
    /// The session of an agent.
    pub fn of(&mut self, agent: &str) -> Option<&mut Session> {
        self.agents.get_mut(agent)?.as_mut()
    }

    /// The session with that thread, and its agent.
    pub fn in_thread(&mut self, thread: &Identifier) -> Option<(&str, &mut Session)> {
        let agent = self.threads.get(thread)?;
        Some((agent, self.agents.get_mut(agent)?.as_mut()?))
    }

    /// Whether an agent has left, or has never been here.
    pub fn has_left(&self, agent: &str) -> bool {
        !self.agents.contains_key(agent)
    }

    /// All sessions, with their agents.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Session)> {
        let agents = self.agents.iter();
        agents.filter_map(|(agent, session)| Some((agent.as_str(), session.as_ref()?)))
    }

    fn open(&mut self, agent: &str, session: Session) {
        self.threads
            .insert(session.thread.clone(), agent.to_string());
        self.agents.insert(agent.to_string(), Some(session));
    }

    fn close(&mut self, agent: &str) -> Option<Session> {
        let session = self.agents.get_mut(agent)?.take()?;
        self.threads.remove(&session.thread);
        Some(session)
    }
}

impl ToolServerApp<'_> {
    /// Handles a message of the broker to the app, other than its end.
    pub(super) fn receive(&mut self, message: ToApp) {
        match message {
            ToApp::Asked { agent, number, ask } => self.asked(&agent, number, ask),
            ToApp::Left { agent } => self.left(&agent),
            ToApp::Closed(..) => {}
        }
    }

    fn asked(&mut self, agent: &str, number: u64, ask: Ask) {
        match ask {
            Ask::Open(payload) => {
                // A new session should start with the current tools of the server.
                self.parts.look.notify_one();
                let opened = self.open(agent, &payload);
                let payload = abp::initialized(&self.app, &opened);
                self.port
                    .answer(agent, (number, Request::Initialize), &payload);
            }
            Ask::Start(call) => self.call(agent, number, call),
            Ask::Cancel(call_id) => self.cancel(agent, number, &call_id),
            Ask::List => {
                let payload = match self.sessions.of(agent).map(|session| session.scope.clone()) {
                    Some(scope) => json!({ "capabilities": self.documents(&scope) }),
                    None => json!({ "error": error_json(&no_session()) }),
                };
                self.port.answer(agent, (number, Request::List), &payload);
            }
            Ask::Shutdown => {
                let payload = match self.close(agent, true) {
                    true => json!({}),
                    false => json!({ "error": error_json(&no_session()) }),
                };
                self.port
                    .answer(agent, (number, Request::Shutdown), &payload);
            }
        }
    }

    fn open(&mut self, agent: &str, payload: &Json) -> Result<Initialized<Value>, Error<Value>> {
        let read = |error: serde_json::Error| Error::invalid_params(error.to_string());
        let Initialize {
            mut features,
            scope,
            ..
        } = abp::read_initialize(&payload.value().map_err(read)?)?;
        if self.sessions.of(agent).is_some() {
            let message = "There is a session already: shut it down first";
            return Err(Error::new(Code::ALREADY_INITIALIZED, message));
        }
        if self.sessions.all().count() >= self.parts.hub.limits.sessions {
            let message = "Too many sessions are open";
            return Err(Error::new(Code::RATE_LIMITED, message));
        }
        // Tools ask no questions.
        features.elicitation = false;
        let capabilities = self.documents(&scope);
        let session = Session {
            thread: Identifier::random(),
            notifications: features.notifications,
            scope,
            ledger: Ledger::new(REMEMBERED),
            subscriptions: HashMap::new(),
        };
        self.sessions.open(agent, session);
        Ok(Initialized {
            session: Uuid::new_v4().to_string().into(),
            features,
            capabilities,
        })
    }

    /// The tools that an agent may call.
    fn documents(&self, scope: &Scope) -> Vec<Value> {
        let tools = self.tools.iter();
        let tools = tools.filter(|(name, _)| scope.has_capability(name));
        tools.map(|(_, document)| document.clone()).collect()
    }

    /// An agent is gone.
    fn left(&mut self, agent: &str) {
        self.close(agent, false);
        self.sessions.agents.remove(agent);
    }

    /// Ends the session of an agent, if there is any: cancels its calls and closes its thread. The calls are
    /// answered unless the agent is gone.
    fn close(&mut self, agent: &str, answers: bool) -> bool {
        for key in self.calls.of(agent) {
            if let Some((running, stop)) = self.stop(key)
                && answers
            {
                self.end(&running, Outcome::Cancelled(stop));
            }
        }
        let session = self.sessions.close(agent);
        if let Some(Session { thread, .. }) = &session {
            self.parts.notices.closed(thread, &self.port.keep);
        }
        session.is_some()
    }

    /// Ends every session, as far as the tool servers can be told.
    pub(super) fn leave(&mut self) {
        let agents: Vec<_> = self.sessions.agents.keys().cloned().collect();
        for agent in agents {
            self.left(&agent);
        }
    }
}

pub(super) fn no_session() -> Error<Value> {
    let message = "There is no session: call initialize first";
    Error::new(Code::NOT_INITIALIZED, message)
}
