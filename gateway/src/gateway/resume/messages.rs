//! The messages of a session that can be resumed.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::broker::DIFFERENCES;
use crate::wire::{Envelope, Failure, Header, Outgoing, error_json, invalid_at};
use caphost::call::{Code, Error};

/// The first message of a connection that resumes a session.
pub const RESUME: &str = "app/resume";
/// The close reason for a connection whose app could not resume a session.
pub const NOT_RESUMED: &str = "There is no such session";
/// The message that acknowledges received messages.
pub const ACK: &str = "app/ack";

/// The content of a request to resume a session.
#[derive(Clone, Copy, Debug)]
pub struct Resume<'a> {
    /// The session's token.
    pub token: &'a str,
    /// How many messages of the session the app has received.
    pub received: u64,
    /// The request's `id` as JSON, for the answer.
    pub id: Option<&'a str>,
}

/// Why a session cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The requester may resume no session with that token. The answer does not say why: a session of another
    /// identity looks the same as no session.
    Unknown,
    /// The app claims to have received messages that were never sent, or fewer messages than it claimed
    /// before. The session is over.
    Misfit,
}

impl Lost {
    fn error(self) -> Failure {
        match self {
            Lost::Unknown => Error::new(Code::SESSION_EXPIRED, "There is no such session any more"),
            Lost::Misfit => Error::new(
                Code::SESSION_INVALID,
                "`received` does not fit what was sent",
            ),
        }
    }
}

/// The payload of [`RESUME`].
#[derive(Deserialize)]
pub struct ResumePayload<'a> {
    #[serde(borrow)]
    pub resume: Cow<'a, str>,
    pub received: u64,
    /// A bearer token, as in `app/register`.
    #[serde(borrow)]
    pub token: Option<Cow<'a, str>>,
}

/// The payload of [`ACK`].
#[derive(Deserialize)]
pub struct AckPayload {
    pub received: u64,
}

/// Reads the payload of one of these messages.
pub fn read<'a, T: Deserialize<'a>>(envelope: &Envelope<'a>) -> Result<T, Failure> {
    let read = serde_json::from_str(envelope.object()?);
    read.map_err(|error| invalid_at("payload", format!("`payload`: {error}")))
}

pub fn registered(
    unix_ms: u64,
    id: Option<&str>,
    app: &str,
    token: &str,
    grace: Duration,
) -> Outgoing {
    let grace = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
    let resume = json!({ "token": token, "grace": grace });
    let payload = json!({ "appId": app, "updates": DIFFERENCES, "resume": resume });
    message(unix_ms, "app/registered", id, &payload)
}

pub fn resumed(unix_ms: u64, id: Option<&str>, received: u64) -> Outgoing {
    message(unix_ms, "app/resumed", id, &json!({ "received": received }))
}

pub fn lost(unix_ms: u64, id: Option<&str>, why: Lost) -> Outgoing {
    let payload = json!({ "error": error_json(&why.error()) });
    message(unix_ms, "app/lost", id, &payload)
}

pub fn ack(unix_ms: u64, received: u64) -> Outgoing {
    message(unix_ms, ACK, None, &json!({ "received": received }))
}

pub(super) fn message(unix_ms: u64, kind: &str, id: Option<&str>, payload: &Value) -> Outgoing {
    let header = Header {
        kind,
        id,
        agent: None,
        timestamp: &unix_ms.to_string(),
    };
    Outgoing::new(header, &payload.to_string(), None)
}
