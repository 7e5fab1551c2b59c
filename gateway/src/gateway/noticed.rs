//! What the hub logs of peers, once nothing is locked any more.

use std::sync::Arc;

use crate::broker::{CloseCode, PeerId};
use crate::seldom::Seldom;
use crate::wire::for_log;

/// What is logged.
pub(super) enum Noticed {
    Emptied(PeerId),
    Overflow(PeerId),
    Evicted(PeerId),
    Unkept(PeerId),
    Superseded {
        app: Arc<str>,
        was: Arc<str>,
        by: Arc<str>,
        /// Nobody has a token.
        anyone: bool,
    },
    /// An app may not register.
    Refused(PeerId, String),
    Closing(PeerId, CloseCode, String),
}

impl Noticed {
    /// Nothing is to be locked meanwhile.
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
                app,
                was,
                by,
                anyone,
            } => {
                let (app, was, by) = (for_log(app), &**was, &**by);
                let said = "another connection offers this app from now on";
                // A second tab, or somebody else.
                match was == by && !*anyone {
                    true => tracing::info!(app, was, by, "{said}"),
                    false => tracing::warn!(app, was, by, "{said}"),
                }
            }
            Noticed::Unkept(peer) => {
                tracing::info!(peer = peer.0, "app acknowledges too little to resume");
            }
            Noticed::Refused(peer, reason) => {
                // Not each: one may try as often as it likes.
                static REFUSED: Seldom = Seldom::new();
                if REFUSED.is_due() {
                    let reason = for_log(reason);
                    tracing::warn!(peer = peer.0, reason, "an app is refused");
                }
            }
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
