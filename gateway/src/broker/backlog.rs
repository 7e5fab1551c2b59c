//! How full the queue to a peer is, and who may still add to the queue of an app.

use std::sync::Arc;

use serde_json::json;

use super::{Broker, PeerId};
use crate::wire::{Failure, Request};
use caphost::call::{Code, Error};

/// How long an agent waits before it calls a congested app again, in milliseconds.
const CONGESTED_RETRY_MS: f64 = 1_000.0;

/// The most that the envelope adds to a payload, as a rule.
const ENVELOPE_BYTES: usize = 256;

/// An app with no more than this waiting keeps up: its acknowledgements may lag by a second.
const KEEPS_UP_BYTES: usize = 1 << 20;

/// How full a queue is. The level rises at once and falls only when much has been written, so it does not
/// swing with each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backlog {
    /// There is room.
    #[default]
    Short,
    /// More than half was filled. Parties that have filled the queue wait, and cancels come without
    /// long reasons.
    Long,
    /// More than three quarters were filled. The rest is for cancels, which relieve the peer.
    Full,
}

impl Backlog {
    /// The level of a queue of `bytes` from which nothing was written yet.
    pub fn of(bytes: usize, limit: usize) -> Self {
        match bytes {
            bytes if bytes > limit - limit / 4 => Backlog::Full,
            bytes if bytes > limit / 2 => Backlog::Long,
            _ => Backlog::Short,
        }
    }

    /// The queue has grown to `bytes`. Returns the new level, if it is higher.
    pub fn grow(&mut self, bytes: usize, limit: usize) -> Option<Self> {
        let grown = Backlog::of(bytes, limit);
        let is_more = grown > *self;
        *self = grown.max(*self);
        is_more.then_some(grown)
    }

    /// The queue has shrunk to `bytes`. Returns whether the level has fallen.
    pub fn shrink(&mut self, bytes: usize, limit: usize) -> bool {
        let before = *self;
        *self = match before {
            _ if bytes < limit / 4 => Backlog::Short,
            Backlog::Full if bytes < limit / 2 => Backlog::Long,
            before => before,
        };
        *self < before
    }
}

/// How many bytes wait to be written when a request comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    /// Bytes for all peers.
    pub for_all: usize,
    /// Bytes for the app of the request, if that app is known.
    pub for_app: usize,
}

impl Broker {
    /// Notes how much waits. The bytes for one app count only while [much waits](Broker::much_waits).
    pub fn note_waiting(&mut self, waiting: Waiting) {
        self.waiting = waiting;
    }

    /// Whether so much waits for all peers that one of them may soon have to make room.
    pub(super) fn much_waits(&self) -> bool {
        self.is_much(self.waiting.for_all)
    }

    /// Whether `bytes` are much for all peers together.
    pub fn is_much(&self, bytes: usize) -> bool {
        bytes > self.limits.queued_bytes_of_all / 2
    }

    /// Whether a request of that agent may join the queue. An app whose queue overflows is given up, for all
    /// of its agents. When all queues together overflow, one of the peers is given up.
    pub(super) fn check_room(
        &self,
        app: PeerId,
        agent: PeerId,
        request: Request,
        bytes: usize,
    ) -> Result<(), Failure> {
        let (Some(app), Some(agent)) = (self.apps.get(&app), self.sessions.get(&agent)) else {
            return Ok(());
        };
        let owner = &agent.profile.owner.name;
        match (request, app.backlog) {
            // Cancels always go through, because they relieve the app.
            (Request::Cancel, _) => Ok(()),
            _ if self.waits_too_much(owner, bytes) => Err(too_much_waits()),
            (_, Backlog::Full) => Err(does_not_keep_up()),
            (Request::Call, Backlog::Long) => {
                let (bytes, room) = (bytes + ENVELOPE_BYTES, self.limits.queued_bytes / 2);
                let has_room = app.load.has_room(owner, bytes, room);
                has_room.then_some(()).ok_or_else(does_not_keep_up)
            }
            (_, Backlog::Long | Backlog::Short) => Ok(()),
        }
    }

    /// Whether to refuse a request: the queues of all peers together are over half full, and this owner holds
    /// more than a quarter of the total. An app that keeps up is spared until the queues are three quarters
    /// full.
    fn waits_too_much(&self, owner: &Arc<str>, bytes: usize) -> bool {
        if !self.much_waits() {
            return false;
        }
        let (most, waiting) = (self.limits.queued_bytes_of_all, self.waiting);
        let keeps_up = waiting.for_app <= KEEPS_UP_BYTES && bytes <= KEEPS_UP_BYTES;
        if keeps_up && waiting.for_all <= most - most / 4 {
            return false;
        }
        let own: usize = self.apps.all.values().map(|app| app.load.of(owner)).sum();
        own > 0 && own + bytes + ENVELOPE_BYTES > most / 4
    }
}

/// The error of an owner that may call nobody for now.
fn too_much_waits() -> Failure {
    let message = "Too much of what you sent is waiting for apps that do not keep up";
    refused_for_now(message, "totalQueuedBytes")
}

/// The error of a call to an app that takes nothing more for now.
pub(super) fn does_not_keep_up() -> Failure {
    refused_for_now("The app does not keep up with its calls", "queuedBytes")
}

fn refused_for_now(message: &'static str, limit: &str) -> Failure {
    let mut error = Error::new(Code::RATE_LIMITED, message);
    error.retry_after = Some(CONGESTED_RETRY_MS);
    error.with_details(Box::new(json!({ "limit": limit })))
}
