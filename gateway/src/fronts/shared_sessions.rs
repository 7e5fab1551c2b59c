//! Sessions with apps for clients without sessions of their own: stateless requests of MCP, and threads of
//! RAP.
//!
//! A session for each of these would use up the app's sessions. So the requests of one caller to one app
//! share a session. It is kept until it was unused for a while, or until all of its threads are closed, and
//! ends with its last call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::idle::look_after;
use crate::broker::calls::Dialect;
use crate::gateway::Hub;
use crate::gateway::calls::{Call, Client, NewCall, Session};
use crate::tokens::Identity;

/// The owner of a session, and its app.
type Key = (Identity, Option<String>);

/// The clients that share sessions.
#[derive(Clone, Copy)]
pub struct Sharing {
    /// The dialect of their calls.
    pub dialect: Dialect,
    /// The agent's name for the app, which all of them share.
    pub name: &'static str,
    /// Whether they take questions of the app.
    pub takes_questions: bool,
}

/// The sessions of one kind of clients.
pub struct SharedSessions {
    hub: Arc<Hub>,
    clients: Sharing,
    max: usize,
    /// The sessions that take further calls.
    kept: Mutex<HashMap<Key, Arc<Shared>>>,
}

struct Shared {
    session: Session,
    usage: Mutex<Usage>,
}

struct Usage {
    last: Instant,
    /// The open threads of the session.
    threads: HashSet<String>,
}

/// A session in use. It does not end while this value lives.
pub struct InUse(Arc<Shared>);

impl InUse {
    /// Makes a call in the session.
    pub fn call(&self, call: NewCall) -> Call {
        self.0.session.call(call)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.usage.lock().last = Instant::now();
    }
}

/// When the session was last used. `None` while it is in use. While the caller holds the table, nobody else
/// can begin to use the session.
fn unused_since(shared: &Arc<Shared>) -> Option<Instant> {
    let is_in_use = Arc::strong_count(shared) > 1;
    (!is_in_use).then(|| shared.usage.lock().last)
}

impl SharedSessions {
    /// An empty table. A session is kept for `idle` without use, and shorter while there are more than `max`
    /// sessions. A session has at most `max` threads.
    pub fn new(hub: Arc<Hub>, clients: Sharing, idle: Duration, max: usize) -> Arc<Self> {
        let sessions = Arc::new(SharedSessions {
            hub,
            clients,
            max,
            kept: Mutex::default(),
        });
        let hub = &sessions.hub;
        look_after(&sessions, idle, "shared sessions", hub, move |all| {
            let is_used =
                |it: &Arc<Shared>| unused_since(it).is_none_or(|since| since.elapsed() < idle);
            all.kept.lock().retain(|_, it| is_used(it));
        });
        sessions
    }

    /// The session of `owner` with `app`, opened if there is none. `thread` belongs to it from now on.
    pub fn session(&self, owner: &Identity, app: Option<&str>, thread: Option<&str>) -> InUse {
        let key = (owner.clone(), app.map(str::to_string));
        let clients = self.clients;
        let mut kept = self.kept.lock();
        if kept.len() >= self.max && !kept.contains_key(&key) {
            make_room(&mut kept);
        }
        let shared = kept.entry(key).or_insert_with_key(|(owner, app)| {
            let session = self.hub.open(Client {
                dialect: clients.dialect,
                owner: owner.clone(),
                app: app.clone(),
                name: clients.name.into(),
                version: env!("CARGO_PKG_VERSION").into(),
                takes_questions: clients.takes_questions,
            });
            let usage = Mutex::new(Usage {
                last: Instant::now(),
                threads: HashSet::new(),
            });
            Arc::new(Shared { session, usage })
        });
        if let Some(thread) = thread {
            shared.usage.lock().join(thread, self.max);
        }
        InUse(shared.clone())
    }

    /// Closes threads of that id for the owners and apps that `is_meant` picks.
    pub fn close_thread(&self, thread: &str, is_meant: impl Fn(&Identity, Option<&str>) -> bool) {
        self.kept.lock().retain(|(owner, app), shared| {
            let threads = &mut shared.usage.lock().threads;
            let is_last =
                is_meant(owner, app.as_deref()) && threads.remove(thread) && threads.is_empty();
            !is_last
        });
    }
}

impl Usage {
    /// Adds a thread. If there are more than `max`, another thread is dropped.
    fn join(&mut self, thread: &str, max: usize) {
        if self.threads.insert(thread.into()) && self.threads.len() > max {
            // Any open thread, because nothing tells which matters less.
            let other = self.threads.iter().find(|it| *it != thread).cloned();
            other.map(|other| self.threads.remove(&other));
        }
    }
}

/// Stops keeping the session that was unused for longest.
fn make_room(kept: &mut HashMap<Key, Arc<Shared>>) {
    let unused = kept
        .iter()
        .filter_map(|(key, shared)| Some((unused_since(shared)?, key)));
    let oldest = unused.min_by_key(|(since, _)| *since);
    if let Some(key) = oldest.map(|(_, key)| key.clone()) {
        kept.remove(&key);
    }
}

#[cfg(test)]
mod tests;
