//! The channel `cancellation:cancel`, as ContextForge has it: what is published, and what is heard.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use super::{Cluster, WorkerId, Workers};
use crate::broker::runs::{ID_CHARS, REASON_CHARS};
use crate::tokens::Identity;
use crate::wire::mended_bytes;

/// Its name: without a prefix, for gateways of other kinds know it as that.
pub(super) const CANCEL_CHANNEL: &str = "cancellation:cancel";
/// Messages that wait to be published, 1 024.
const WAITING: usize = 1_024;
/// Milliseconds between two warnings of messages that are no such thing.
const WARN_MS: u64 = 10_000;

/// A message of the channel, as anybody may write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelMessage {
    /// A run's own id, or a dialect's.
    pub run_id: String,
    /// Why.
    pub reason: Option<String>,
    /// Who, as the gateway names identities; nobody says so in a message of another gateway's.
    pub requester: Option<String>,
    /// The worker that has published it.
    pub worker: Option<WorkerId>,
}

impl CancelMessage {
    /// Reads a message, or says what is wrong with it.
    pub(super) fn read(message: &[u8]) -> Result<Self, String> {
        let fields: Map<String, Value> = serde_json::from_slice(&mended_bytes(message))
            .map_err(|error| format!("no JSON object: {error}"))?;
        let Some(Value::String(run_id)) = fields.get("run_id") else {
            return Err("`run_id` is no string".into());
        };
        if run_id.is_empty() || run_id.chars().count() > ID_CHARS {
            return Err(format!("`run_id` has 1 to {ID_CHARS} characters"));
        }
        let reason = match fields.get("reason") {
            None | Some(Value::Null) => None,
            Some(Value::String(reason)) if reason.chars().count() <= REASON_CHARS => Some(reason),
            Some(_) => {
                return Err(format!(
                    "`reason` is null or a string of at most {REASON_CHARS} characters"
                ));
            }
        };
        let requester = match fields.get("requester") {
            None => None,
            Some(Value::String(name)) if !name.is_empty() => Some(name),
            Some(_) => return Err("`requester` is no name".into()),
        };
        let worker = fields.get("worker").and_then(Value::as_str);
        Ok(CancelMessage {
            run_id: run_id.clone(),
            reason: reason.cloned(),
            requester: requester.cloned(),
            worker: worker.and_then(|worker| worker.parse().ok()),
        })
    }
}

/// What is to be published.
#[derive(Debug, Default)]
pub(super) struct Published {
    messages: Mutex<VecDeque<String>>,
    more: Notify,
}

impl Published {
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
    pub(super) fn publish(&self, request_id: &str, reason: Option<&str>, by: &Identity) {
        if !self.profile.channel {
            return;
        }
        let message = json!({
            "run_id": request_id,
            "reason": reason,
            "requester": &*by.name,
            "worker": self.me().to_string(),
        });
        if !(self.standing().connected && self.published.add(message.to_string())) {
            tracing::warn!("a cancel could not be published: Redis does not answer");
        }
    }

    /// A message of the channel that is to be obeyed.
    pub(super) fn heard_on_channel(&self, message: &[u8]) -> Option<CancelMessage> {
        let message = match CancelMessage::read(message) {
            Ok(message) => message,
            Err(error) => {
                self.warn_of(&error);
                return None;
            }
        };
        // A worker of this cluster tells by itself; one of another has callers of its own by the same
        // names.
        if message.worker.is_some() {
            return None;
        }
        if message.requester.is_none() && self.options.require_requester {
            self.warn_of("it does not name its requester, which is required");
            return None;
        }
        Some(message)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_an_id_and_may_say_more() {
        let read = |text: &str| CancelMessage::read(text.as_bytes()).unwrap();
        let bare = CancelMessage {
            run_id: "1".into(),
            reason: None,
            requester: None,
            worker: None,
        };
        assert_eq!(read(r#"{"run_id":"1"}"#), bare);
        assert_eq!(
            read(r#"{"run_id":"1","reason":null,"else":1,"worker":7}"#),
            bare
        );
        let worker = WorkerId::random();
        let ours =
            format!(r#"{{"run_id":"1","reason":"why","requester":"agent-1","worker":"{worker}"}}"#);
        let full = CancelMessage {
            reason: Some("why".into()),
            requester: Some("agent-1".into()),
            worker: Some(worker),
            ..bare
        };
        assert_eq!(read(&ours), full);
    }

    #[test]
    fn what_is_no_such_message_is_refused() {
        let long = format!(r#"{{"run_id":"{}"}}"#, "x".repeat(257));
        let reason = format!(r#"{{"run_id":"1","reason":"{}"}}"#, "x".repeat(4_097));
        for bad in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"run_id":1}"#,
            r#"{"run_id":""}"#,
            r#"{"run_id":"1","reason":1}"#,
            r#"{"run_id":"1","requester":null}"#,
            r#"{"run_id":"1","requester":""}"#,
            r#"{"run_id":"1","requester":{"role":"admin"}}"#,
            &long,
            &reason,
        ] {
            assert!(CancelMessage::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(CancelMessage::read(&[b'"', 0xff, b'"']).is_err());
    }
}
