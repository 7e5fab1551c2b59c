//! The channel `cancellation:cancel`, as ContextForge has it: what is published, and what is obeyed.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tokio::sync::Notify;

use super::Cluster;
use super::channel_message::CancelMessage;
use crate::broker::runs::RunId;
use crate::gateway::Placed;
use crate::gateway::Sought;
use crate::tokens::{Identity, Role};

/// Its name: without a prefix, for gateways of other kinds know it as that.
pub(super) const CANCEL_CHANNEL: &str = "cancellation:cancel";
/// Messages that wait to be published, 1 024.
const WAITING: usize = 1_024;
/// Milliseconds between two warnings of messages that are no such thing.
const WARN_MS: u64 = 10_000;

/// What is to be published.
#[derive(Debug, Default)]
pub(super) struct Said {
    messages: Mutex<VecDeque<String>>,
    more: Notify,
}

impl Said {
    /// The next, when there is one.
    pub async fn next(&self) -> String {
        loop {
            if let Some(message) = self.messages().pop_front() {
                return message;
            }
            self.more.notified().await;
        }
    }

    /// Whether there was room.
    fn add(&self, message: String) -> bool {
        let mut messages = self.messages();
        let room = messages.len() < WAITING;
        if room {
            messages.push_back(message);
            self.more.notify_one();
        }
        room
    }

    fn messages(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cluster {
    /// Tells gateways outside this cluster that `by` cancels. Waits for nothing.
    pub fn publish_cancel(&self, request_id: &str, reason: Option<&str>, by: &Identity) {
        if !self.channel {
            return;
        }
        let message = json!({
            "run_id": request_id,
            "reason": reason,
            "requester": &*by.name,
            "worker": self.peers().me.to_string(),
        });
        if !(self.standing().connected && self.said.add(message.to_string())) {
            tracing::warn!("a cancel could not be published: Redis does not answer");
        }
    }

    /// Obeys a message of the channel, in the background.
    pub(super) fn hear_cancel(&self, message: &[u8]) {
        let message = match CancelMessage::read(message) {
            Ok(message) => message,
            Err(error) => return self.warn_of(&error),
        };
        // A worker of this cluster tells by itself; one of another has callers of its own by the same
        // names.
        if message.worker.is_some() {
            return;
        }
        let by = match &message.requester {
            Some(name) => self.hub.tokens.named(name),
            None if self.options.require_requester => {
                return self.warn_of("it does not name its requester, which is required");
            }
            None => Identity {
                role: Role::Admin,
                name: "channel".into(),
                app: None,
            },
        };
        // Where the run is, it is cancelled; the other workers have heard the same.
        if self.hub.matches(&message.run_id, &by).is_empty() {
            return;
        }
        let cluster = self.shared();
        tokio::spawn(async move { cluster.obey_cancel(message, by).await });
    }

    async fn obey_cancel(&self, message: CancelMessage, by: Identity) {
        let CancelMessage { run_id, reason, .. } = message;
        let Some(run) = self.meant_here(&run_id, &by).await else {
            return;
        };
        self.hub.cancel(run, reason, &by).await;
    }

    /// The run here that an id means, if there is no other on all workers.
    async fn meant_here(&self, run_id: &str, by: &Identity) -> Option<RunId> {
        let placed = match self.hub.seek(run_id, by).await {
            Sought::One(placed) => placed,
            Sought::Several(runs) => {
                let runs = runs.len();
                tracing::info!(
                    runs,
                    "a cancel on the channel names several runs: not obeyed"
                );
                return None;
            }
            Sought::None | Sought::Unsure(_) => return None,
        };
        let is_live = |it: &Placed| it.is_here() && it.is_sure() && !it.run.state.is_over();
        is_live(&placed).then_some(placed.run.id)
    }

    fn warn_of(&self, error: &str) {
        let now = self.now() as u64;
        let last = self.warned.load(Ordering::Relaxed);
        if last == 0 || now.saturating_sub(last) >= WARN_MS {
            self.warned.store(now.max(1), Ordering::Relaxed);
            tracing::warn!(error, channel = CANCEL_CHANNEL, "a message is not obeyed");
        } else {
            tracing::debug!(error, channel = CANCEL_CHANNEL, "a message is not obeyed");
        }
    }
}
