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

/// The sessions of one dialect.
pub struct SharedSessions {
    hub: Arc<Hub>,
    dialect: Dialect,
    /// The agent's name for the app; several clients share it.
    name: &'static str,
    takes_questions: bool,
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
    pub fn new(
        hub: Arc<Hub>,
        dialect: Dialect,
        name: &'static str,
        idle: Duration,
        max: usize,
    ) -> Arc<Self> {
        SharedSessions::of(hub, (dialect, name, false), idle, max)
    }

    /// The same for clients that take questions.
    pub fn with_questions(
        hub: Arc<Hub>,
        dialect: Dialect,
        name: &'static str,
        idle: Duration,
        max: usize,
    ) -> Arc<Self> {
        SharedSessions::of(hub, (dialect, name, true), idle, max)
    }

    fn of(
        hub: Arc<Hub>,
        (dialect, name, takes_questions): (Dialect, &'static str, bool),
        idle: Duration,
        max: usize,
    ) -> Arc<Self> {
        let sessions = Arc::new(SharedSessions {
            hub,
            dialect,
            name,
            takes_questions,
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
        let mut kept = self.kept.lock();
        if kept.len() >= self.max && !kept.contains_key(&key) {
            make_room(&mut kept);
        }
        let shared = kept.entry(key).or_insert_with_key(|(owner, app)| {
            let session = self.hub.open(Client {
                dialect: self.dialect,
                owner: owner.clone(),
                app: app.clone(),
                name: self.name.into(),
                version: env!("CARGO_PKG_VERSION").into(),
                takes_questions: self.takes_questions,
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
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::tokens::{Role, Tokens};

    const IDLE: Duration = Duration::from_millis(40);

    fn sessions(max: usize) -> Arc<SharedSessions> {
        let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
        SharedSessions::new(hub, Dialect::Rap, "test", IDLE, max)
    }

    fn agent(name: &str) -> Identity {
        Identity {
            role: Role::Agent,
            name: name.into(),
            app: None,
        }
    }

    #[tokio::test]
    async fn each_caller_has_one_with_each_app() {
        let sessions = sessions(10);
        let (alice, bob) = (agent("alice"), agent("bob"));
        let first = sessions.session(&alice, Some("a"), None);
        let same = |other: InUse| Arc::ptr_eq(&first.0, &other.0);
        assert!(same(sessions.session(&alice, Some("a"), None)));
        assert!(!same(sessions.session(&bob, Some("a"), None)));
        assert!(!same(sessions.session(&alice, Some("b"), None)));
        assert!(!same(sessions.session(&alice, None, None)));
    }

    #[tokio::test]
    async fn past_the_limit_the_one_unused_for_longest_makes_room() {
        let sessions = sessions(3);
        let busy = sessions.session(&agent("busy"), None, None);
        for name in ["old", "new", "newest"] {
            drop(sessions.session(&agent(name), None, None));
            std::thread::sleep(Duration::from_millis(2));
        }
        let open = sessions.kept.lock();
        let mut names: Vec<_> = open.keys().map(|(owner, _)| &*owner.name).collect();
        names.sort_unstable();
        assert_eq!(names, ["busy", "new", "newest"]);
        drop(busy);
    }

    #[tokio::test]
    async fn one_that_is_not_used_ends_in_time_and_one_in_use_does_not() {
        let sessions = sessions(10);
        let busy = sessions.session(&agent("busy"), None, None);
        drop(sessions.session(&agent("idle"), None, None));
        let left = async |count| {
            while sessions.kept.lock().len() > count {
                tokio::time::sleep(IDLE / 4).await;
            }
        };
        let soon = Duration::from_secs(10);
        tokio::time::timeout(soon, left(1)).await.unwrap();
        tokio::time::sleep(IDLE * 3).await;
        assert_eq!(sessions.kept.lock().len(), 1, "it is in use");
        drop(busy);
        tokio::time::timeout(soon, left(0)).await.unwrap();
    }

    #[tokio::test]
    async fn one_ends_when_the_last_of_its_threads_is_closed_and_its_calls_have_ended() {
        let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
        let long = Duration::from_secs(3_600);
        let sessions = SharedSessions::new(hub, Dialect::Rap, "test", long, 10);
        let (alice, bob) = (agent("alice"), agent("bob"));
        let first = sessions.session(&alice, Some("a"), Some("t"));
        let of_alice = Arc::downgrade(&first.0);
        drop(sessions.session(&alice, Some("a"), Some("u")));
        let of_bob = sessions.session(&bob, Some("a"), Some("t"));
        let of_bob = Arc::downgrade(&of_bob.0);
        let close = |thread: &str, whose: &Identity| {
            sessions.close_thread(thread, |owner, _| owner == whose);
        };
        close("t", &alice);
        close("none", &alice);
        close("u", &bob);
        assert_eq!(sessions.kept.lock().len(), 2, "each has a thread");
        close("u", &alice);
        assert!(of_alice.upgrade().is_some(), "it is in use");
        drop(first);
        assert!(of_alice.upgrade().is_none());
        assert!(of_bob.upgrade().is_some(), "it has a thread");
    }
}
