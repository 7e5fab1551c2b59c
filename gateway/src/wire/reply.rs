//! Writes envelopes.

use std::borrow::{Borrow, Cow};
use std::hash::BuildHasher;

use bytes::Bytes;
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value, json};

use super::stops::Grade;
use super::{Failure, Json, Request, Subject, with_grade};
use caphost::call::Error;

/// Larger payloads stay in the buffer in which they came until they are written.
pub(super) const SHARED_BYTES: usize = 64 << 10;

/// Whether a text stays in its buffer: a copy would take time, and the text fills most of the buffer, so
/// little else is kept with it.
pub(super) fn is_worth(text: &str, shared: &Bytes) -> bool {
    text.len() > SHARED_BYTES && text.len() >= shared.len() / 2
}

/// Tells an app that one of its agents is gone.
pub const AGENT_CLOSED: &str = "agent/closed";

/// The parts of an envelope other than its payload. `id` and `timestamp` are JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The `type`. The types written here need no escaping.
    pub kind: &'a str,
    /// Its `id`.
    pub id: Option<&'a str>,
    /// The agent of the message, on the connection of an app. The gateway makes this name, so it needs no
    /// escaping.
    pub agent: Option<&'a str>,
    /// Unix milliseconds.
    pub timestamp: &'a str,
}

/// A number for the agent of a message. If two agents have the same number, they wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lane(u64);

impl Lane {
    /// The lane of the agent with that name.
    fn of(agent: &str) -> Self {
        Lane(FxBuildHasher.hash_one(agent))
    }
}

/// A message to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    text: String,
    lane: Option<Lane>,
    payload: Option<Bytes>,
    /// The grade of a stop that is put into the payload when it is written.
    grade: Option<Grade>,
}

impl Outgoing {
    /// An envelope around `payload`. `shared`, if given, is the buffer of the payload.
    pub fn new(header: Header<'_>, payload: &str, shared: Option<&Bytes>) -> Self {
        let shared = shared.filter(|shared| is_worth(payload, shared));
        let [id_key, id] = header.id.map_or([""; 2], |id| [r#","id":"#, id]);
        let [agent_key, agent, agent_end] = header
            .agent
            .map_or([""; 3], |agent| [r#","agent":""#, agent, r#"""#]);
        let [inline, end] = match shared {
            Some(_) => [""; 2],
            None => [payload, "}"],
        };
        // In one piece and of exact size: a text with room to spare would be moved when it is sent.
        let text = [
            r#"{"type":""#,
            header.kind,
            r#"""#,
            id_key,
            id,
            agent_key,
            agent,
            agent_end,
            r#","timestamp":"#,
            header.timestamp,
            r#","payload":"#,
            inline,
            end,
        ]
        .concat();
        Outgoing {
            text,
            lane: header.agent.map(Lane::of),
            payload: shared.map(|shared| shared.slice_ref(payload.as_bytes())),
            grade: None,
        }
    }

    /// A reply with `grade` in the payload's `metadata`, whatever that says of a stop itself. It is put
    /// in when the message is written.
    pub fn graded(header: Header<'_>, payload: Json, grade: Grade) -> Self {
        let mut message = Outgoing::new(header, "", None);
        message.text.pop();
        message.payload = Some(payload.into());
        message.grade = Some(grade);
        message
    }

    /// A message of another protocol.
    pub fn text(text: String) -> Self {
        Outgoing {
            text,
            lane: None,
            payload: None,
            grade: None,
        }
    }

    /// Whether it tells an app that an agent is gone.
    pub fn is_farewell(&self) -> bool {
        let rest = self.text.strip_prefix(r#"{"type":""#);
        let rest = rest.and_then(|rest| rest.strip_prefix(AGENT_CLOSED));
        rest.is_some_and(|rest| rest.starts_with('"'))
    }

    /// The lane of its agent, if the message names an agent.
    pub fn lane(&self) -> Option<Lane> {
        self.lane
    }

    /// About how many bytes it holds on to.
    pub fn cost(&self) -> usize {
        self.text.len() + self.payload.as_ref().map_or(0, Bytes::len) + 64
    }

    /// The message as text.
    pub fn into_text(self) -> String {
        let Outgoing {
            mut text,
            payload,
            grade,
            ..
        } = self;
        let Some(payload) = payload else {
            return text;
        };
        let payload = std::str::from_utf8(&payload).unwrap_or("null");
        let payload = match grade {
            Some(grade) => Cow::Owned(with_grade(payload, grade)),
            None => Cow::Borrowed(payload),
        };
        text.reserve_exact(payload.len() + 1);
        text.push_str(&payload);
        text.push('}');
        text
    }
}

/// An `ABPError`.
pub fn error_json<D: Borrow<Value>>(error: &Error<D>) -> Value {
    let mut out = Map::new();
    out.insert("code".into(), error.code.as_str().into());
    out.insert("message".into(), error.message.as_ref().into());
    if let Some(details) = &error.details {
        out.insert("details".into(), details.borrow().clone());
    }
    out.insert("retryable".into(), error.retryable.into());
    if let Some(wait) = error.retry_after {
        out.insert("retryAfter".into(), wait.into());
    }
    if !error.alternatives.is_empty() {
        out.insert("alternatives".into(), error.alternatives.clone().into());
    }
    Value::Object(out)
}

/// The `type` and the payload of the answer that refuses a message of the type `kind`: the typed one
/// where that is known. `call_id` is the one that a cancel gives.
pub(super) fn refusal<D: Borrow<Value>>(
    kind: Option<&str>,
    call_id: &Value,
    error: &Error<D>,
) -> (&'static str, Value) {
    let request = kind.and_then(Request::of);
    let error = error_json(error);
    let payload = match request {
        Some(Request::Initialize | Request::List) => json!({ "error": error }),
        Some(Request::Cancel) => {
            json!({ "callId": call_id, "cancelled": false, "error": error })
        }
        _ => json!({ "success": false, "error": error }),
    };
    (request.map_or("error", Request::answer), payload)
}

/// [`refusal`] of a message about that, as text.
pub fn failed(subject: &Subject, error: &Failure) -> (&'static str, String) {
    let (kind, payload) = refusal(subject.kind.as_deref(), &call_id(subject), error);
    (kind, payload.to_string())
}

/// The payload of a `cancel-result` for a cancel whose confirmation will never come.
pub fn cancel_not_confirmed(subject: &Subject, reason: &str, error: &Failure) -> String {
    json!({
        "callId": call_id(subject),
        "cancelled": false,
        "reason": reason,
        "error": error_json(error),
    })
    .to_string()
}

fn call_id(subject: &Subject) -> Value {
    let text = subject.call_id.as_deref();
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests;
