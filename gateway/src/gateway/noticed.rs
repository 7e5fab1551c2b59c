//! The hub's log entries about peers, written once no lock is held.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::broker::{CloseCode, PeerId};
use crate::refusals;
use crate::tokens::Role;
use crate::wire::for_log;

/// A log entry about a peer.
pub(super) enum Noticed {
    Emptied(PeerId),
    Overflow(PeerId),
    Evicted(PeerId),
    Unkept(PeerId),
    Superseded {
        /// The instances, in the form of `caphost apps`.
        before: String,
        now: Option<String>,
        was: Arc<str>,
        by: Arc<str>,
        /// Whether no tokens are configured.
        anyone: bool,
    },
    /// The gateway refuses to register an app.
    Refused {
        address: Option<SocketAddr>,
        app: Option<String>,
        reason: String,
    },
    Closing(PeerId, CloseCode, String),
}

impl Noticed {
    /// Writes the log entry. No lock must be held meanwhile.
    pub fn log(&self, limit: usize) {
        match self {
            Noticed::Emptied(peer) => tracing::warn!(
                peer = peer.0,
                limit,
                "an app of another worker does not keep up: its agents are given up"
            ),
            Noticed::Overflow(peer) => {
                tracing::warn!(peer = peer.0, limit, "peer does not read: disconnected");
            }
            Noticed::Evicted(peer) => {
                tracing::warn!(
                    peer = peer.0,
                    "too much waits for all peers, most for one that does not read: disconnected"
                );
            }
            Noticed::Superseded {
                before,
                now,
                was,
                by,
                anyone,
            } => {
                let (before, now) = (for_log(before), now.as_ref().map(for_log));
                let (was, by) = (&**was, &**by);
                // A second tab, or another person.
                match was == by || *anyone {
                    true => tracing::info!(before, now, owner = by, "an app has another instance"),
                    false => {
                        tracing::warn!(before, now, was, by, "somebody else offers this app now");
                    }
                }
            }
            Noticed::Unkept(peer) => {
                tracing::info!(peer = peer.0, "app acknowledges too little to resume");
            }
            Noticed::Refused {
                address,
                app,
                reason,
            } => refusals::peer(Role::App, reason, *address, app.as_deref()),
            Noticed::Closing(peer, code, reason) => {
                tracing::debug!(
                    peer = peer.0,
                    code = code.0,
                    reason = for_log(reason),
                    "closing"
                );
            }
        }
    }
}
