//! Reads an envelope. The payload stays text.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reading::{check_depth, check_length, unreadable};
use super::{Failure, Request, invalid_at, reading, scan};
use crate::limits::Limits;
use caphost::call::Error;

/// How much of a message that is not read as a whole is searched for an id.
const PEEK_BYTES: usize = 64 << 10;

/// A well-formed message. `id`, `timestamp` and `payload` are valid JSON text.
#[derive(Debug)]
pub struct Envelope<'a> {
    /// Its `type`.
    pub kind: Cow<'a, str>,
    /// A string or a number. `null` counts as missing.
    pub id: Option<&'a str>,
    /// The agent of the message, on the connection of an app.
    pub agent: Option<Cow<'a, str>>,
    /// A number.
    pub timestamp: Option<&'a str>,
    /// Any JSON. `null` counts as missing.
    pub payload: Option<&'a str>,
    /// The `callId` of a cancel, as JSON, if it is a string.
    pub call_id: Option<&'a str>,
    /// The buffer of these texts, where it may be shared and need not be copied.
    pub shared: Option<&'a Bytes>,
}

/// The subject of a refused message, as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// Its `type`.
    pub kind: Option<String>,
    /// Its `id`, as JSON.
    pub id: Option<String>,
    /// The agent of the message, on the connection of an app.
    pub agent: Option<String>,
    /// The `callId` in its payload, as JSON.
    pub call_id: Option<String>,
}

/// A message that is not a well-formed envelope.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedMessage {
    /// The subject of the message.
    pub subject: Subject,
    /// What is wrong with it.
    pub error: Failure,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    agent: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

impl<'a> Raw<'a> {
    fn read(text: &'a str) -> Result<Self, Failure> {
        let invalid =
            |error| Error::invalid_params(format!("The message is not valid JSON: {error}"));
        // serde would read a struct from an array as well.
        if !text
            .trim_start_matches([' ', '\t', '\n', '\r'])
            .starts_with('{')
        {
            serde_json::from_str::<&RawValue>(text).map_err(invalid)?;
            return Err(Error::invalid_params("The message must be a JSON object"));
        }
        serde_json::from_str(text).map_err(invalid)
    }

    fn envelope(self, shared: Option<&'a Bytes>, limits: &Limits) -> Result<Envelope<'a>, Failure> {
        let kind = self.kind.ok_or_else(|| wrong("type", "is missing"))?;
        let text = |field, raw| string(raw).ok_or_else(|| wrong(field, "must be a string"));
        let number = |raw: &'a RawValue| match is_number(raw) {
            true => Ok(raw.get()),
            false => Err(wrong("timestamp", "must be a number")),
        };
        let kind = text("type", kind)?;
        let payload = self.payload.map(RawValue::get);
        let cancel = payload.filter(|_| kind == Request::Cancel.kind());
        Ok(Envelope {
            kind,
            id: self.id.map(|id| check_id(id, limits)).transpose()?,
            agent: self.agent.map(|agent| text("agent", agent)).transpose()?,
            timestamp: self.timestamp.map(number).transpose()?,
            payload,
            call_id: cancel.and_then(|payload| call_id(payload.as_bytes())),
            shared,
        })
    }
}

impl<'a> Envelope<'a> {
    /// Reads one text frame. `shared`, if given, is the buffer of `text`.
    pub fn read(
        text: &'a str,
        shared: Option<&'a Bytes>,
        limits: &Limits,
    ) -> Result<Self, Box<RefusedMessage>> {
        let refused = |subject, error| Box::new(RefusedMessage { subject, error });
        let peek = || Subject::peek(text, limits);
        check_length(text.len(), limits)
            .and_then(|()| check_depth(text, limits.depth))
            .map_err(|error| refused(peek(), error))?;
        let raw = Raw::read(text).map_err(|error| {
            // The frame is no object, so its type does not count.
            let subject = Subject {
                kind: None,
                ..peek()
            };
            refused(subject, error)
        })?;
        let envelope = raw.envelope(shared, limits);
        let envelope = envelope.map_err(|error| refused(peek(), error))?;
        if !reading::is_plain(text)
            && let Err(error) = reading::check(text)
        {
            return Err(refused(envelope.subject(), unreadable(&error)));
        }
        Ok(envelope)
    }

    /// The refusal of a message whose `id` cannot be given back, because half of a character is missing in
    /// it.
    pub(super) fn half_an_id(&self) -> Box<RefusedMessage> {
        let subject = Subject {
            id: None,
            ..self.subject()
        };
        let error = wrong("id", "has half of a surrogate pair");
        Box::new(RefusedMessage { subject, error })
    }

    /// The payload, if it is an object.
    pub fn object(&self) -> Result<&'a str, Failure> {
        match self.payload {
            Some(payload) if payload.starts_with('{') => Ok(payload),
            Some(_) => Err(wrong("payload", "must be an object")),
            None => Err(wrong("payload", "is missing")),
        }
    }

    /// The subject of the message, for an answer that refuses it.
    pub fn subject(&self) -> Subject {
        Subject {
            kind: Some(self.kind.to_string()),
            id: self.id.map(str::to_string),
            agent: self.agent.as_deref().map(str::to_string),
            call_id: self.call_id.map(str::to_string),
        }
    }
}

impl Subject {
    /// The subject of a message that is not read as a whole, from its beginning.
    pub fn peek(text: &str, limits: &Limits) -> Self {
        let head = &text.as_bytes()[..text.len().min(PEEK_BYTES)];
        let mut found = Subject::default();
        scan::members(head, |key, value| {
            let text = || std::str::from_utf8(value).ok();
            let string = || text().and_then(|text| serde_json::from_str::<String>(text).ok());
            match key {
                "type" => found.kind = string(),
                "agent" => found.agent = string(),
                "id" => {
                    let id = text().and_then(|text| serde_json::from_str(text).ok());
                    let id = id.and_then(|id| check_id(id, limits).ok());
                    found.id = id.map(str::to_string);
                }
                "payload" => found.call_id = call_id(value).map(str::to_string),
                _ => {}
            }
        });
        found
    }
}

fn wrong(field: &str, what: &str) -> Failure {
    invalid_at(field, format!("`{field}` {what}"))
}

fn check_id<'a>(id: &'a RawValue, limits: &Limits) -> Result<&'a str, Failure> {
    if id.get().len() > limits.id_bytes {
        return Err(wrong(
            "id",
            &format!("is longer than {} bytes", limits.id_bytes),
        ));
    }
    if is_number(id) || string(id).is_some() {
        Ok(id.get())
    } else {
        Err(wrong("id", "must be a string or a number"))
    }
}

fn call_id(payload: &[u8]) -> Option<&str> {
    let id = scan::member(payload, "callId").filter(|id| id.len() <= 1024)?;
    let id = std::str::from_utf8(id).ok()?;
    scan::text_of(id.as_bytes()).is_some().then_some(id)
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    // The text is valid JSON, so only escapes are left to be read.
    if inner.contains('\\') {
        return serde_json::from_str(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

fn is_number(raw: &RawValue) -> bool {
    let first = raw.get().as_bytes().first();
    first.is_some_and(|first| *first == b'-' || first.is_ascii_digit())
}
