//! The connection of one agent, and the session on that connection.

use std::rc::Rc;

use super::action::{Action, Answer, ReplyTo};
use super::limits::Rate;
use super::records::{Asker, Closing, Connection, Session};
use super::scope::Scope;
use super::state::{HostState, not_initialized};
use super::terms::{ConnectionId, Initialize, Initialized, Party};
use crate::call::{Code, Error, Ledger, Millis, in_order};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// A transport has come up.
    pub fn connect(&mut self) -> ConnectionId {
        self.connect_from(Party::Alone)
    }

    /// A transport has come up, and others of the same party may exist.
    pub fn connect_from(&mut self, party: Party) -> ConnectionId {
        let id = self.next_connection();
        let connection = Connection {
            session: None,
            party,
        };
        self.connections.insert(id, Box::new(connection));
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
        self.heard(connection, now);
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
        let party = self.connections.get(&connection).map(|it| it.party);
        if !self.has_room(party.unwrap_or_default()) {
            return Err(Error::new(Code::RATE_LIMITED, "Too many sessions are open"));
        }
        let mut features = params.features;
        features.elicitation &= !params.scope.takes_nothing();
        let documents = self.documents_for(&params.scope);
        let opened = Session {
            id: session.clone(),
            agent: params.agent.clone(),
            features,
            scope: params.scope,
            ledger: Ledger::new(self.limits.remembered),
            bytes: 0,
            asked: 0,
            rate: Rate::full(&self.limits, now),
            life: None,
        };
        // The list in the answer has the changes already.
        self.tell_changes();
        let Some(state) = self.connections.get_mut(&connection) else {
            return Err(Error::new(Code::DISCONNECTED, "The connection is closed"));
        };
        state.session = Some(opened);
        if self.watched {
            self.actions.push_back(Action::Session {
                session: session.clone(),
                agent: params.agent,
                open: true,
            });
        }
        Ok(Initialized {
            session,
            features,
            capabilities: documents,
        })
    }

    /// The `Capability` documents that the agent of a connection may use, by name. Without a
    /// session, all documents.
    pub fn documents(&self, connection: ConnectionId) -> Vec<P> {
        let session = self.session(connection);
        self.documents_for(session.map_or(&Scope::default(), |session| &session.scope))
    }

    fn documents_for(&self, scope: &Scope) -> Vec<P> {
        let registered = self.registry.iter().map(|it| &it.descriptor);
        let wanted = registered.filter(|it| scope.has_capability(&it.name));
        wanted.map(|it| it.document.clone()).collect()
    }

    /// Ends the session at once. Calls in flight are cancelled; the shutdown is answered when all
    /// of them are.
    pub fn shutdown(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        reason: Option<Rc<str>>,
        now: Millis,
    ) {
        if self.session(connection).is_some() {
            self.cancel_all(connection, reason.as_ref(), now);
            self.end_session(connection, Some((connection, id)));
        } else {
            self.answer(connection, id, Answer::ShutDown(Err(not_initialized())));
        }
    }

    /// The transport is gone. Calls in flight are cancelled, and nobody is answered. Handlers that
    /// made calls still get their answers, as they may wait for them.
    pub fn disconnect(&mut self, connection: ConnectionId, now: Millis) {
        self.part(connection, "The agent disconnected", now);
    }

    /// Ends a connection for another reason than a lost transport. Handlers are told that reason.
    pub fn part(&mut self, connection: ConnectionId, reason: &str, now: Millis) {
        for key in self.calls_in(None, Some(connection)) {
            if let Some(call) = self.calls.get_mut(&key) {
                if let Some(more) = &mut call.more {
                    more.askers
                        .retain(|(asker, _)| matches!(asker, Asker::App(_)));
                }
                if matches!(call.reply, ReplyTo::Agent(..)) {
                    call.reply = ReplyTo::Nobody;
                }
            }
        }
        for closing in &mut self.closing {
            closing.asker.take_if(|(asker, _)| *asker == connection);
        }
        let reason = Some(reason.into());
        self.cancel_all(connection, reason.as_ref(), now);
        self.end_session(connection, None);
        self.connections.remove(&connection);
    }

    /// The id of a connection's session.
    pub fn session_id(&self, connection: ConnectionId) -> Option<Rc<str>> {
        self.session(connection).map(|session| session.id.clone())
    }

    /// The connection on which a session of that id is open.
    pub fn connection_of(&self, session: &str) -> Option<ConnectionId> {
        let is_meant = |it: &Connection| it.session.as_ref().is_some_and(|it| &*it.id == session);
        let found = self.connections.iter().find(|(_, it)| is_meant(it));
        found.map(|(key, _)| *key)
    }

    /// How many sessions are open.
    pub fn sessions(&self) -> usize {
        self.connections
            .values()
            .filter(|it| it.session.is_some())
            .count()
    }

    /// Sends a notification of the app to every agent that accepts notifications.
    pub fn notify(&mut self, event: Rc<str>, data: Option<P>) {
        for to in self.listeners() {
            self.say(Action::Notify {
                to,
                event: event.clone(),
                data: data.clone(),
            });
        }
    }

    pub(super) fn session(&self, connection: ConnectionId) -> Option<&Session> {
        self.connections.get(&connection)?.session.as_ref()
    }

    pub(super) fn session_mut(&mut self, connection: ConnectionId) -> Option<&mut Session> {
        self.connections.get_mut(&connection)?.session.as_mut()
    }

    pub(super) fn answer(&mut self, to: ConnectionId, id: Option<P>, answer: Answer<P>) {
        self.say(Action::Answer { to, id, answer });
    }

    /// The agents that accept notifications.
    pub(super) fn listeners(&self) -> Vec<ConnectionId> {
        let listeners = self.connections.iter().filter(|(_, connection)| {
            let session = connection.session.as_ref();
            session.is_some_and(|session| session.features.notifications)
        });
        in_order(listeners.map(|(key, _)| *key))
    }

    fn end_session(&mut self, connection: ConnectionId, asker: Option<(ConnectionId, Option<P>)>) {
        let state = self.connections.get_mut(&connection);
        let Some(session) = state.and_then(|state| state.session.take()) else {
            return;
        };
        self.disown_elicitations(connection);
        self.closing.push(Closing {
            session: session.id.clone(),
            agent: session.agent,
            connection,
            ledger: session.ledger,
            asker,
        });
        self.close_if_over(&session.id);
    }

    /// A call of a session has ended, or the session itself has.
    pub(super) fn close_if_over(&mut self, session: &Rc<str>) {
        let mut closing = self.closing.iter();
        let Some(index) =
            closing.position(|it| it.ledger.in_flight() == 0 && Rc::ptr_eq(&it.session, session))
        else {
            return;
        };
        let closed = self.closing.remove(index);
        if self.watched {
            self.actions.push_back(Action::Session {
                session: closed.session,
                agent: closed.agent,
                open: false,
            });
        }
        if let Some((to, id)) = closed.asker {
            self.answer(to, id, Answer::ShutDown(Ok(())));
        }
    }

    fn next_connection(&mut self) -> ConnectionId {
        loop {
            let id = self.next_key();
            if !self.connections.contains_key(&id) {
                return id;
            }
        }
    }
}
