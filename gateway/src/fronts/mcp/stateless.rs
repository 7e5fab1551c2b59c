//! The way to the app for requests without a session: one for each caller and app.
//!
//! Since 2026-07-28 every request stands for itself. A session of the app for each would take as many
//! of the app's as there are calls at once, so those of one caller are made in one, which ends when
//! it has not been used for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::caller::Caller;
use crate::broker::runs::Dialect;
use crate::gateway::Hub;
use crate::gateway::calls::{Call, Client, NewCall, Session};

/// What the app is told that the agent is called, which is several clients.
const NAME: &str = "caphost MCP";

/// The sessions, by whose they are.
pub struct Stateless {
    hub: Arc<Hub>,
    idle: Duration,
    open: Mutex<HashMap<Caller, Arc<Open>>>,
}

struct Open {
    session: Session,
    used: Mutex<Instant>,
}

/// A session in use: it does not end as long as this lives.
pub struct InUse(Arc<Open>);

impl InUse {
    /// Makes a call in it.
    pub fn call(&self, call: NewCall) -> Call {
        self.0.session.call(call)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.touch();
    }
}

impl Open {
    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stateless {
    /// None yet, each ended after `idle` without use.
    pub fn new(hub: Arc<Hub>, idle: Duration) -> Self {
        Stateless {
            hub,
            idle,
            open: Mutex::default(),
        }
    }

    /// The caller's session, which is opened if it has none.
    pub fn session(self: &Arc<Self>, caller: &Caller) -> InUse {
        let mut open = self.open();
        if let Some(known) = open.get(caller) {
            return InUse(known.clone());
        }
        let session = self.hub.open(Client {
            dialect: Dialect::Mcp,
            owner: caller.identity.clone(),
            app: caller.app.as_deref().map(str::to_string),
            name: NAME.into(),
            version: env!("CARGO_PKG_VERSION").into(),
        });
        let used = Mutex::new(Instant::now());
        let new = Arc::new(Open { session, used });
        open.insert(caller.clone(), new.clone());
        tokio::spawn(end_when_idle(Arc::downgrade(self), caller.clone()));
        InUse(new)
    }

    /// Ends the caller's session if it is not in use and was not for long. When to look again, if
    /// it goes on.
    fn end_if_idle(&self, caller: &Caller) -> Option<Instant> {
        let mut open = self.open();
        let session = open.get(caller)?;
        let now = Instant::now();
        // Nobody takes it into use while this looks.
        let unused = Arc::strong_count(session) == 1;
        let ends = if unused { session.used() } else { now } + self.idle;
        if ends > now {
            return Some(ends);
        }
        open.remove(caller);
        None
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Caller, Arc<Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after one session, as long as it is open.
async fn end_when_idle(of: Weak<Stateless>, caller: Caller) {
    while let Some(again) = of.upgrade().and_then(|it| it.end_if_idle(&caller)) {
        sleep_until(again).await;
    }
    tracing::debug!(owner = %caller.identity.name, "unused: the session with the app ended");
}
