//! What waits to be written, by peer, and the sessions that can be resumed, by token.

use std::collections::HashMap;
use std::sync::Arc;

use super::session::Session;
use crate::broker::{CloseCode, PeerId};
use crate::gateway::outbox::{Outbox, Pushed};
use crate::wire::Outgoing;
use rustc_hash::FxHashMap;

/// Where messages for a peer go.
pub enum Queue {
    /// To its connection.
    Plain(Arc<Outbox>),
    /// To its session.
    Kept(Arc<Session>),
}

impl Queue {
    /// See [`Outbox::push`].
    pub fn push(&self, message: Outgoing) -> Pushed {
        match self {
            Queue::Plain(outbox) => outbox.push(message),
            Queue::Kept(session) => session.push(message),
        }
    }

    /// See [`Outbox::close`].
    pub fn close(&self, code: CloseCode, reason: String) {
        match self {
            Queue::Plain(outbox) => outbox.close(code, reason),
            Queue::Kept(session) => session.close(code, reason),
        }
    }
}

/// All of them.
#[derive(Default)]
pub struct Queues {
    queues: FxHashMap<PeerId, Queue>,
    sessions: HashMap<String, Arc<Session>>,
    /// What is counted of the sessions.
    pub counts: Sessions,
}

/// What is counted of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sessions {
    /// That wait for their app.
    pub suspended: usize,
    /// How often one was taken up again.
    pub resumed: u64,
    /// That have ended while they waited for their app.
    pub lost: u64,
}

impl Queues {
    pub fn insert(&mut self, peer: PeerId, outbox: Arc<Outbox>) {
        self.queues.insert(peer, Queue::Plain(outbox));
    }

    pub fn get(&self, peer: &PeerId) -> Option<&Queue> {
        self.queues.get(peer)
    }

    /// Forgets a peer, whose session is over.
    pub fn remove(&mut self, peer: &PeerId) -> Option<Queue> {
        let queue = self.queues.remove(peer)?;
        if let Queue::Kept(session) = &queue {
            self.sessions.remove(&session.token);
            if session.end() {
                self.counts.suspended -= 1;
                self.counts.lost += 1;
            }
        }
        Some(queue)
    }

    /// The session with that token.
    pub fn session(&self, token: &str) -> Option<&Arc<Session>> {
        self.sessions.get(token)
    }

    /// From now on messages to `peer` are kept until it has them. `registered`, with the token in
    /// it, is the last one that is not.
    pub fn keep(
        &mut self,
        peer: PeerId,
        app: Arc<str>,
        token: String,
        limit: usize,
        registered: Outgoing,
    ) {
        let Some(Queue::Plain(outbox)) = self.queues.get(&peer) else {
            return;
        };
        // If there is no room for it the connection is over, and reading from it ends.
        outbox.push(registered);
        let session = Session::new(peer, app, token.clone(), limit, outbox.clone());
        let session = Arc::new(session);
        self.queues.insert(peer, Queue::Kept(session.clone()));
        self.sessions.insert(token, session);
    }

    /// The app of that session has registered afresh: closes the session's connection, if it has
    /// one. The peer the session was.
    pub fn replaced(&mut self, token: &str) -> Option<PeerId> {
        let peer = self.sessions.get(token)?.peer;
        let queue = self.remove(&peer)?;
        let reason = "The app has registered on another connection";
        queue.close(CloseCode::REPLACED, reason.into());
        Some(peer)
    }
}
