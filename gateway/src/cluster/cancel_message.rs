//! A message of the channel `cancellation:cancel`. Anybody may write to the channel, so reading checks
//! everything.

use serde_json::{Map, Value};

use super::worker::WorkerId;
use crate::broker::calls::{ID_CHARS, REASON_CHARS};
use crate::wire::{clipped, mended_bytes};

/// How many bytes a message may have: 64 KiB. This is enough for an id, a reason and a name, each escaped,
/// and for the fields of other gateways.
const MESSAGE_BYTES: usize = 64 << 10;
/// How many characters a requester's name may have, like any name.
const NAME_CHARS: usize = 256;
/// How many characters of an error are logged. The error may quote the message.
const SHOWN_CHARS: usize = 200;

/// A message of the channel. Anybody may write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelMessage {
    /// A run's own id, or a dialect's id.
    pub run_id: String,
    /// The reason.
    pub reason: Option<String>,
    /// The requester's name, as the gateway names identities. Messages of other gateways contain no such
    /// name.
    pub requester: Option<String>,
    /// The worker that has published the message.
    pub worker: Option<WorkerId>,
}

impl CancelMessage {
    /// Reads a message. The error says what is wrong with the message.
    pub(super) fn read(message: &[u8]) -> Result<Self, String> {
        if message.len() > MESSAGE_BYTES {
            return Err(format!("it has more than {MESSAGE_BYTES} bytes"));
        }
        let fields: Map<String, Value> = serde_json::from_slice(&mended_bytes(message))
            .map_err(|error| format!("not a JSON object: {}", shown(error)))?;
        let Some(Value::String(run_id)) = fields.get("run_id") else {
            return Err("`run_id` must be a string".into());
        };
        if run_id.is_empty() || run_id.chars().count() > ID_CHARS {
            return Err(format!("`run_id` must have 1 to {ID_CHARS} characters"));
        }
        let reason = match fields.get("reason") {
            None | Some(Value::Null) => None,
            Some(Value::String(reason)) if reason.chars().count() <= REASON_CHARS => Some(reason),
            Some(_) => {
                return Err(format!(
                    "`reason` must be null or a string of at most {REASON_CHARS} characters"
                ));
            }
        };
        let requester = match fields.get("requester") {
            None => None,
            Some(Value::String(name)) if is_name(name) => Some(name),
            Some(_) => return Err("`requester` must be a name".into()),
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

fn is_name(name: &str) -> bool {
    (1..=NAME_CHARS).contains(&name.chars().count())
}

/// Shortens an error, so that it shows only a little of a stranger's message.
fn shown(error: impl ToString) -> String {
    clipped(&error.to_string(), SHOWN_CHARS).into()
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
        let name = format!(r#"{{"run_id":"1","requester":"{}"}}"#, "x".repeat(257));
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
            &name,
        ] {
            assert!(CancelMessage::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(CancelMessage::read(&[b'"', 0xff, b'"']).is_err());
    }

    #[test]
    fn a_megabyte_from_a_stranger_is_not_logged() {
        let text = |text: String| CancelMessage::read(text.as_bytes()).unwrap_err();
        for huge in [
            format!("\"{}\"", "x".repeat(60_000)),
            format!("\"{}\"", "x".repeat(1 << 20)),
            format!(r#"{{"run_id":"1","more":"{}"}}"#, "x".repeat(1 << 20)),
        ] {
            let error = text(huge);
            assert!(error.len() < 300, "{}", error.len());
        }
    }
}
