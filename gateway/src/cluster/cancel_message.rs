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
mod tests;
