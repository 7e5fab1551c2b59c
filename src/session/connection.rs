//! One agent's connection, and the session on it.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::limits::Rate;
use super::state::not_initialized;
use super::{Action, Answer, ConnectionId, HostState, Stop};
use crate::call::{Code, Error, Ledger, Millis};

/// Who the agent says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What the agent can take from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Notifications.
    pub notifications: bool,
    /// Progress.
    pub progress: bool,
    /// Questions, which it answers.
    pub elicitation: bool,
}

/// A well-formed `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialize {
    /// Who asks.
    pub agent: Agent,
    /// What it can take.
    pub features: Features,
}

/// What `initialize` answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Initialized<P> {
    /// Names the session, for logs.
    pub session: Rc<str>,
    /// What was agreed on.
    pub features: Features,
    /// The `Capability` documents registered.
    pub capabilities: Vec<P>,
}

/// A transport with, perhaps, a session on it.
pub(super) struct Connection {
    pub session: Option<Session>,
}

pub(super) struct Session {
    pub id: Rc<str>,
    pub agent: Agent,
    pub features: Features,
    pub ledger: Ledger,
    pub rate: Rate,
}

impl<P: Clone, H: Clone> HostState<P, H> {
    /// A transport has come up.
    pub fn connect(&mut self) -> ConnectionId {
        let id = self.next_connection();
        self.connections.insert(id, Connection { session: None });
        id
    }

    /// Opens the session of a connection. `session` is a fresh random id from the shell.
    pub fn initialize(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        params: Initialize,
        session: Rc<str>,
        now: Millis,
    ) {
        let result = self.open(connection, params, session, now);
        self.answer(connection, id, Answer::Initialized(result));
    }

    fn open(
        &mut self,
        connection: ConnectionId,
        params: Initialize,
        session: Rc<str>,
        now: Millis,
    ) -> Result<Initialized<P>, Error<P>> {
        if self.session(connection).is_some() {
            return Err(Error::new(
                Code::ALREADY_INITIALIZED,
                "There is a session already: shut it down first",
            ));
        }
        if self.sessions() >= self.limits.sessions {
            return Err(Error::new(Code::RATE_LIMITED, "Too many sessions are open"));
        }
        let opened = Session {
            id: session.clone(),
            agent: params.agent.clone(),
            features: params.features,
            ledger: Ledger::new(self.limits.remembered),
            rate: Rate::full(&self.limits, now),
        };
        let Some(state) = self.connections.get_mut(connection) else {
            return Err(Error::new(Code::DISCONNECTED, "The connection is closed"));
        };
        state.session = Some(opened);
        if self.watched {
            self.actions.push(Action::Session {
                session: session.clone(),
                agent: params.agent,
                open: true,
            });
        }
        let documents = self
            .registry
            .iter()
            .map(|it| it.descriptor.document.clone());
        Ok(Initialized {
            session,
            features: params.features,
            capabilities: documents.collect(),
        })
    }

    /// Cancels and answers what is in flight, then ends the session.
    pub fn shutdown(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        reason: Option<Rc<str>>,
        now: Millis,
    ) {
        let result = if self.session(connection).is_some() {
            self.cancel_all(connection, &Stop { reason }, now);
            self.respond();
            self.end_session(connection);
            Ok(())
        } else {
            Err(not_initialized())
        };
        self.answer(connection, id, Answer::ShutDown(result));
    }

    /// The transport is gone: what is in flight is cancelled, and nobody is answered.
    pub fn disconnect(&mut self, connection: ConnectionId, now: Millis) {
        let reason = Some("The agent disconnected".into());
        self.cancel_all(connection, &Stop { reason }, now);
        // Children still get their answers: their handlers may be waiting for them.
        self.responses.retain(|action| {
            !matches!(
                action,
                Action::Respond {
                    to: super::ReplyTo::Agent(..),
                    ..
                }
            )
        });
        self.respond();
        self.end_session(connection);
        self.connections.remove(connection);
    }

    /// The id of a connection's session.
    pub fn session_id(&self, connection: ConnectionId) -> Option<Rc<str>> {
        self.session(connection).map(|session| session.id.clone())
    }

    /// The connection on which a session of that id is open.
    pub fn connection_of(&self, session: &str) -> Option<ConnectionId> {
        let is_meant = |it: &Connection| it.session.as_ref().is_some_and(|it| &*it.id == session);
        self.connections.keys_where(is_meant).pop()
    }

    /// How many sessions are open.
    pub fn sessions(&self) -> usize {
        self.connections.keys_where(|it| it.session.is_some()).len()
    }

    /// Sends every agent that takes notifications one of the app's.
    pub fn notify(&mut self, event: Rc<str>, data: Option<P>) {
        for to in self.listeners() {
            self.actions.push(Action::Notify {
                to,
                event: event.clone(),
                data: data.clone(),
            });
        }
    }

    pub(super) fn capabilities_changed(&mut self, added: &[Rc<str>], removed: &[Rc<str>]) {
        for to in self.listeners() {
            self.actions.push(Action::CapabilitiesChanged {
                to,
                added: added.to_vec(),
                removed: removed.to_vec(),
            });
        }
    }

    pub(super) fn session(&self, connection: ConnectionId) -> Option<&Session> {
        self.connections.get(connection)?.session.as_ref()
    }

    pub(super) fn session_mut(&mut self, connection: ConnectionId) -> Option<&mut Session> {
        self.connections.get_mut(connection)?.session.as_mut()
    }

    pub(super) fn answer(&mut self, to: ConnectionId, id: Option<P>, answer: Answer<P>) {
        self.actions.push(Action::Answer { to, id, answer });
    }

    fn listeners(&self) -> Vec<ConnectionId> {
        self.connections.keys_where(|connection| {
            let session = connection.session.as_ref();
            session.is_some_and(|session| session.features.notifications)
        })
    }

    fn end_session(&mut self, connection: ConnectionId) {
        let state = self.connections.get_mut(connection);
        let Some(session) = state.and_then(|state| state.session.take()) else {
            return;
        };
        self.disown_elicitations(connection);
        if self.watched {
            self.actions.push(Action::Session {
                session: session.id,
                agent: session.agent,
                open: false,
            });
        }
    }

    fn next_connection(&mut self) -> ConnectionId {
        loop {
            let id = self.next_key();
            if !self.connections.contains(id) {
                return id;
            }
        }
    }
}
