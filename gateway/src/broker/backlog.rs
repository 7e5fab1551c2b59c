//! How far the queue to a peer has been filled, and who may still add to that of an app.

use std::sync::Arc;

use serde_json::json;

use super::{Broker, PeerId};
use crate::wire::{Failure, Request};
use caphost::call::{Code, Error};

/// What an agent waits before it calls an app again that does not keep up, in milliseconds.
const CONGESTED_RETRY_MS: f64 = 1_000.0;

/// What the envelope around a payload costs at most, as a rule.
const ENVELOPE_BYTES: usize = 256;

/// With this much or less waiting, an app counts as keeping up: its acknowledgements may lag by a second.
const KEEPS_UP_BYTES: usize = 1 << 20;

/// How far. It goes up at once, and down only when much has been written, so that it does not go to
/// and fro with each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backlog {
    /// There is room.
    #[default]
    Short,
    /// More than half of it was filled: who has filled it waits, and cancels come without long reasons.
    Long,
    /// More than three quarters were filled: what is left is for cancels, which relieve the peer.
    Full,
}

impl Backlog {
    /// The backlog of a queue of `bytes` that nobody has written from.
    pub fn of(bytes: usize, limit: usize) -> Self {
        match bytes {
            bytes if bytes > limit - limit / 4 => Backlog::Full,
            bytes if bytes > limit / 2 => Backlog::Long,
            _ => Backlog::Short,
        }
    }

    /// The queue has grown to `bytes`. Returns its backlog, if that is more than before.
    pub fn grow(&mut self, bytes: usize, limit: usize) -> Option<Self> {
        let grown = Backlog::of(bytes, limit);
        let is_more = grown > *self;
        *self = grown.max(*self);
        is_more.then_some(grown)
    }

    /// The queue has shrunk to `bytes`. Returns whether its backlog is less than before.
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

/// What waits to be written when a request comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    /// Bytes for all peers.
    pub for_all: usize,
    /// Bytes for the app that the request is for, if it is known by now.
    pub for_app: usize,
}

impl Broker {
    /// What waits for whom; what is for the app counts only while [much waits](Broker::much_waits).
    pub fn note_waiting(&mut self, waiting: Waiting) {
        self.waiting = waiting;
    }

    /// Whether enough waits for all peers that one of them may have to make room soon.
    pub(super) fn much_waits(&self) -> bool {
        self.is_much(self.waiting.for_all)
    }

    /// Whether `bytes` waiting for all peers are much.
    pub fn is_much(&self, bytes: usize) -> bool {
        bytes > self.limits.queued_bytes_of_all / 2
    }

    /// Whether a request of that agent may join what waits. Past the end of its queue an app would be
    /// given up, for all its agents; past the end of all queues together, one of the peers.
    pub(super) fn check_room(
        &self,
        app: PeerId,
        agent: PeerId,
        request: Request,
        bytes: usize,
    ) -> Result<(), Failure> {
        let (Some(app), Some(agent)) = (self.apps.get(&app), self.agents.get(&agent)) else {
            return Ok(());
        };
        let owner = &agent.profile.owner.name;
        match (request, app.backlog) {
            // Cancels always go through: they relieve the app.
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

    /// Whether to refuse a request. Yes, if the queues of all peers are together over half full and this
    /// owner holds more than a quarter of the total. An app that keeps up is spared until they are three
    /// quarters full.
    fn waits_too_much(&self, owner: &Arc<str>, bytes: usize) -> bool {
        if !self.much_waits() {
            return false;
        }
        let (most, waiting) = (self.limits.queued_bytes_of_all, self.waiting);
        let keeps_up = waiting.for_app <= KEEPS_UP_BYTES && bytes <= KEEPS_UP_BYTES;
        if keeps_up && waiting.for_all <= most - most / 4 {
            return false;
        }
        let own: usize = self.apps.values().map(|app| app.load.of(owner)).sum();
        own > 0 && own + bytes + ENVELOPE_BYTES > most / 4
    }
}

/// Why an owner may call nobody for now.
fn too_much_waits() -> Failure {
    let message = "Too much of what you sent is waiting for apps that do not keep up";
    refused_for_now(message, "totalQueuedBytes")
}

/// Why an app takes nothing more for now.
pub(super) fn does_not_keep_up() -> Failure {
    refused_for_now("The app does not keep up with its calls", "queuedBytes")
}

fn refused_for_now(message: &'static str, limit: &str) -> Failure {
    let mut error = Error::new(Code::RATE_LIMITED, message);
    error.retry_after = Some(CONGESTED_RETRY_MS);
    error.with_details(Box::new(json!({ "limit": limit })))
}
