//! One app's session, which outlives the connection it is on.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use subtle::ConstantTimeEq;

use crate::broker::PeerId;
use crate::gateway::acknowledgements::Received;
use crate::gateway::outbox::Outbox;
use crate::tokens::Identity;

/// A session. The queue of the connection it is on has what its app has not acknowledged.
pub struct AppSession {
    /// The app, to the broker.
    pub peer: PeerId,
    /// What the app is called by.
    pub app: Arc<str>,
    /// Who has registered it.
    owner: Identity,
    /// A connection that knows it may take the session up.
    token: String,
    inbound: Mutex<Inbound>,
}

/// The way in.
pub struct Inbound {
    /// That of the connection whose messages are taken.
    pub outbox: Arc<Outbox>,
    /// What was taken.
    pub received: Received,
    /// Whether it will be acknowledged a little later.
    pub is_timed: bool,
}

impl AppSession {
    /// A session on the connection behind `outbox`.
    pub fn new(
        peer: PeerId,
        (app, owner): (Arc<str>, Identity),
        token: String,
        outbox: Arc<Outbox>,
    ) -> Self {
        AppSession {
            peer,
            app,
            owner,
            token,
            inbound: Mutex::new(Inbound {
                outbox,
                received: Received::default(),
                is_timed: false,
            }),
        }
    }

    /// Whether that is its token. How long this takes tells nothing of it.
    pub fn has(&self, token: &str) -> bool {
        self.token.as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// Whether `by`, which shows `token`, may take it up, or have it ended.
    pub fn is_of(&self, token: &str, by: &Identity) -> bool {
        self.has(token) && by.may_reach(&self.app) && (by.is_admin() || by.name == self.owner.name)
    }

    /// The way in. The one that takes a message holds it until the broker knows the message.
    pub fn inbound(&self) -> MutexGuard<'_, Inbound> {
        self.inbound.lock()
    }
}
