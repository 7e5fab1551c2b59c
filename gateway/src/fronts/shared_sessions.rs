//! Sessions with apps for clients that have none of their own: requests of MCP that stand for
//! themselves, and threads of RAP.
//!
//! A session for each would take as many of the app's as there are at once. So those of one caller
//! to one app share one, which ends when it has not been used for a while, or when all threads in it
//! are closed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::broker::runs::Dialect;
use crate::gateway::Hub;
use crate::gateway::calls::{Call, Client, NewCall, Session};
use crate::tokens::Identity;

/// Whose a session is, and with which app.
type Key = (Identity, Option<String>);

/// The sessions of one dialect.
pub struct SharedSessions {
    hub: Arc<Hub>,
    dialect: Dialect,
    /// What the app is told that the agent is called, which is several clients.
    name: &'static str,
    idle: Duration,
    max: usize,
    open: Mutex<HashMap<Key, Arc<Open>>>,
}

struct Open {
    session: Session,
    usage: Mutex<Usage>,
    /// It may be over now.
    look: Notify,
}

struct Usage {
    in_use: usize,
    last: Instant,
    /// The threads in it that are not closed.
    threads: HashSet<String>,
    /// All of them have been closed.
    deserted: bool,
}

/// A session in use: it does not end as long as this lives.
pub struct InUse(Arc<Open>);

impl InUse {
    fn new(open: Arc<Open>, thread: Option<&str>, max: usize) -> Self {
        let mut usage = open.usage.lock();
        usage.in_use += 1;
        usage.deserted = false;
        if let Some(thread) = thread
            && usage.threads.insert(thread.into())
            && usage.threads.len() > max
        {
            // One that nobody has closed, for lack of anything better to tell them apart by.
            let other = usage.threads.iter().find(|it| *it != thread).cloned();
            other.map(|other| usage.threads.remove(&other));
        }
        drop(usage);
        InUse(open)
    }

    /// Makes a call in it.
    pub fn call(&self, call: NewCall) -> Call {
        self.0.session.call(call)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut usage = self.0.usage.lock();
        usage.in_use -= 1;
        usage.last = Instant::now();
        self.0.look.notify_one();
    }
}

impl Open {
    /// When it was last used, unless it is now.
    fn unused_since(&self) -> Option<Instant> {
        let usage = self.usage.lock();
        (usage.in_use == 0).then_some(usage.last)
    }

    /// When it ends if it is not used any more; it does not end while it is in use.
    fn ends(&self, idle: Duration) -> Option<Instant> {
        let unused_since = self.unused_since()?;
        match self.usage.lock().deserted {
            true => Some(unused_since),
            false => Some(unused_since + idle),
        }
    }
}

impl SharedSessions {
    /// None yet. Each ends after `idle` without use, and sooner while there are more than `max`, or
    /// more than `max` threads in it.
    pub fn new(
        hub: Arc<Hub>,
        dialect: Dialect,
        name: &'static str,
        idle: Duration,
        max: usize,
    ) -> Self {
        SharedSessions {
            hub,
            dialect,
            name,
            idle,
            max,
            open: Mutex::default(),
        }
    }

    /// The session of `owner` with `app`, opened if there is none. `thread` is in it from
    /// now on.
    pub fn session(
        self: &Arc<Self>,
        owner: &Identity,
        app: Option<&str>,
        thread: Option<&str>,
    ) -> InUse {
        let key = (owner.clone(), app.map(str::to_string));
        let mut open = self.open.lock();
        if let Some(known) = open.get(&key) {
            return InUse::new(known.clone(), thread, self.max);
        }
        if open.len() >= self.max {
            make_room(&mut open);
        }
        let session = self.hub.open(Client {
            dialect: self.dialect,
            owner: owner.clone(),
            app: key.1.clone(),
            name: self.name.into(),
            version: env!("CARGO_PKG_VERSION").into(),
        });
        let usage = Usage {
            in_use: 0,
            last: Instant::now(),
            threads: HashSet::new(),
            deserted: false,
        };
        let new = Arc::new(Open {
            session,
            usage: Mutex::new(usage),
            look: Notify::new(),
        });
        open.insert(key.clone(), new.clone());
        tokio::spawn(end_when_over(
            Arc::downgrade(self),
            key,
            Arc::downgrade(&new),
        ));
        InUse::new(new, thread, self.max)
    }

    /// Closes threads of that id for the owners and apps that `is_meant` picks.
    pub fn close_thread(&self, thread: &str, is_meant: impl Fn(&Identity, Option<&str>) -> bool) {
        for ((owner, app), open) in &*self.open.lock() {
            let mut usage = open.usage.lock();
            if is_meant(owner, app.as_deref()) && usage.threads.remove(thread) {
                usage.deserted = usage.threads.is_empty();
                open.look.notify_one();
            }
        }
    }

    /// Ends a session that is over.
    fn end_if_over(&self, key: &Key, session: &Arc<Open>) -> bool {
        // Nobody takes it into use while this looks.
        let mut open = self.open.lock();
        let over = session
            .ends(self.idle)
            .is_some_and(|at| at <= Instant::now());
        if over
            && open
                .get(key)
                .is_some_and(|known| Arc::ptr_eq(known, session))
        {
            open.remove(key);
        }
        over
    }
}

/// Ends the session that has not been used for longest.
fn make_room(open: &mut HashMap<Key, Arc<Open>>) {
    let unused = open
        .iter()
        .filter_map(|(key, open)| Some((open.unused_since()?, key)));
    let oldest = unused.min_by_key(|(since, _)| *since);
    let oldest = oldest.map(|(_, key)| key.clone());
    if let Some(ended) = oldest.and_then(|key| open.remove(&key)) {
        ended.usage.lock().deserted = true;
        ended.look.notify_one();
    }
}

/// Looks after one session, as long as it is open.
async fn end_when_over(of: Weak<SharedSessions>, key: Key, session: Weak<Open>) {
    while let (Some(all), Some(open)) = (of.upgrade(), session.upgrade()) {
        if all.end_if_over(&key, &open) {
            break;
        }
        let ends = open.ends(all.idle);
        drop(all);
        let due = async {
            match ends {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = due => {}
            () = open.look.notified() => {}
        }
    }
    tracing::debug!(owner = %key.0.name, "unused: the session with the app ended");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::tokens::{Role, Tokens};

    const IDLE: Duration = Duration::from_millis(40);

    fn sessions(max: usize) -> Arc<SharedSessions> {
        let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
        let sessions = SharedSessions::new(hub, Dialect::Rap, "test", IDLE, max);
        Arc::new(sessions)
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
        let open = sessions.open.lock();
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
            while sessions.open.lock().len() > count {
                tokio::time::sleep(IDLE / 4).await;
            }
        };
        let soon = Duration::from_secs(10);
        tokio::time::timeout(soon, left(1)).await.unwrap();
        tokio::time::sleep(IDLE * 3).await;
        assert_eq!(sessions.open.lock().len(), 1, "it is in use");
        drop(busy);
        tokio::time::timeout(soon, left(0)).await.unwrap();
    }

    #[tokio::test]
    async fn one_ends_when_the_last_of_its_threads_is_closed_and_its_calls_have_ended() {
        let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
        let long = Duration::from_secs(3_600);
        let sessions = SharedSessions::new(hub, Dialect::Rap, "test", long, 10);
        let sessions = Arc::new(sessions);
        let (alice, bob) = (agent("alice"), agent("bob"));
        let first = sessions.session(&alice, Some("a"), Some("t"));
        drop(sessions.session(&alice, Some("a"), Some("u")));
        drop(sessions.session(&bob, Some("a"), Some("t")));
        let close = |thread: &str, whose: &Identity| {
            sessions.close_thread(thread, |owner, _| owner == whose);
        };
        close("t", &alice);
        close("none", &alice);
        close("u", &bob);
        close("u", &alice);
        tokio::time::sleep(IDLE).await;
        assert_eq!(
            sessions.open.lock().len(),
            2,
            "one is in use, one has a thread"
        );
        drop(first);
        let one_left = async {
            while sessions.open.lock().len() > 1 {
                tokio::time::sleep(IDLE / 4).await;
            }
        };
        let soon = Duration::from_secs(10);
        tokio::time::timeout(soon, one_left).await.unwrap();
        assert!(sessions.open.lock().keys().all(|(owner, _)| *owner == bob));
    }
}
