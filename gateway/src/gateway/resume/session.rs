//! The session of one app, which outlives the app's connection.

use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use subtle::ConstantTimeEq;

use crate::broker::PeerId;
use crate::gateway::files::Readings;
use crate::gateway::outbox::Outbox;
use crate::tokens::Identity;
use caphost::dialect::delivery::Received;

/// A session. The queue of the session's connection keeps the messages that the app has not acknowledged.
pub struct AppSession {
    /// The app's peer on the broker.
    pub peer: PeerId,
    /// The app's id.
    pub app: Arc<str>,
    /// The identity that has registered the app.
    owner: Identity,
    /// The token of the session. A connection that knows the token may resume the session.
    token: String,
    inbound: Mutex<Inbound>,
    /// The files of the app that are being read.
    pub readings: Readings,
    /// The URL of the gateway, if files of the app can be read.
    files_base: OnceLock<String>,
}

/// The inbound side of a session.
pub struct Inbound {
    /// The outbox of the connection whose messages the session accepts.
    pub outbox: Arc<Outbox>,
    /// The messages that the session has received.
    pub received: Received,
    /// Whether an acknowledgement is scheduled.
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
            readings: Readings::default(),
            files_base: OnceLock::new(),
        }
    }

    /// Whether that is the session's token. The time of the comparison reveals nothing about the token.
    pub fn has(&self, token: &str) -> bool {
        self.token.as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// Whether `by`, which shows `token`, may resume or end the session.
    pub fn is_of(&self, token: &str, by: &Identity) -> bool {
        self.has(token) && by.may_reach(&self.app) && (by.is_admin() || by.name == self.owner.name)
    }

    /// The app lets its files be read. The gateway is at the URL `base`.
    pub fn reads_files(&self, base: String) {
        let _ = self.files_base.set(base);
    }

    /// The URL of the gateway, if files of the app can be read.
    pub fn files_base(&self) -> Option<&str> {
        self.files_base.get().map(String::as_str)
    }

    /// The inbound side. A thread that takes a message holds this lock until the broker knows the message.
    pub fn inbound(&self) -> MutexGuard<'_, Inbound> {
        self.inbound.lock()
    }
}
