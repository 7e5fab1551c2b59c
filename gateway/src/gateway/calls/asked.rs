//! The connections of a client that takes questions: each of its calls has a connection to itself, so that it
//! is known of which call a question is. A connection whose call has ended serves the next call.

use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::way::Way;
use crate::broker::NewSession;
use crate::gateway::Hub;

/// How many calls of one client have connections of their own. Further calls cannot ask, because a client must
/// not use up the sessions of the app.
pub(super) const MOST: usize = 32;
/// How many connections are kept for calls to come.
const KEPT: usize = 4;

/// The connections of one client.
pub(super) struct Asked {
    hub: Arc<Hub>,
    client: NewSession,
    ways: Mutex<Ways>,
}

#[derive(Default)]
struct Ways {
    idle: Vec<Arc<Way>>,
    lent: usize,
}

/// A connection that one call uses.
pub(super) struct Lent {
    way: Arc<Way>,
    home: Weak<Asked>,
}

impl Asked {
    pub fn new(hub: Arc<Hub>, client: NewSession) -> Self {
        let ways = Mutex::default();
        Asked { hub, client, ways }
    }

    /// A connection for a call. `None` if too many calls have one.
    pub fn lend(self: &Arc<Self>) -> Option<Lent> {
        let mut ways = self.ways.lock();
        if ways.lent >= MOST {
            return None;
        }
        ways.lent += 1;
        let idle = ways.idle.pop();
        drop(ways);
        let way = idle.unwrap_or_else(|| Way::new(self.hub.clone(), self.client.clone()));
        let home = Arc::downgrade(self);
        Some(Lent { way, home })
    }
}

impl Lent {
    pub fn way(&self) -> &Arc<Way> {
        &self.way
    }

    /// The call has ended for certain, so that nothing more is said of it. The connection may serve another call.
    pub fn give_back(self) {
        if let Some(home) = self.home.upgrade() {
            let mut ways = home.ways.lock();
            if ways.idle.len() < KEPT {
                ways.idle.push(self.way.clone());
            }
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(home) = self.home.upgrade() {
            home.ways.lock().lent -= 1;
        }
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.way.fmt(f)
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").finish_non_exhaustive()
    }
}
