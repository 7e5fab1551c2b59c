//! Reads messages, and the ids of requests.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::IgnoredAny;
use serde_json::{Number, Value};

use super::code;
use crate::wire::{Failure, check_readable, member, members, text_of};
use caphost::call::Error;

/// How much of a message that cannot be read is searched for an id.
const PEEK_BYTES: usize = 64 << 10;

/// The id of a request. `1` and `1.0` are the same id, `1` and `"1"` are different ids. `0`, `""` and `null`
/// are ids too.
#[derive(Clone, Debug)]
pub struct Id(Value);

impl Id {
    /// The id, or `None` if the value cannot be an id.
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(_) | Value::Number(_) | Value::Null => Some(Id(value.clone())),
            _ => None,
        }
    }

    fn of(json: &[u8]) -> Option<Self> {
        let is_plain = !matches!(json.first()?, b'{' | b'[' | b't' | b'f');
        is_plain.then(|| serde_json::from_slice(json).ok().map(Id))?
    }

    /// The id as it came. The answer must carry it.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The id as the cancellation API writes it.
    pub fn plain(&self) -> String {
        match &self.0 {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    fn key(&self) -> (Option<u64>, Option<&str>) {
        // Adding zero turns negative zero into zero.
        let bits = |number: &Number| (number.as_f64().unwrap_or_default() + 0.0).to_bits();
        (self.0.as_number().map(bits), self.0.as_str())
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// A message. Parameters are JSON, an object or an array. `null` counts as missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<'a> {
    /// A request, which must be answered.
    Request {
        /// The id that the answer must carry.
        id: Id,
        /// The method.
        method: Cow<'a, str>,
        /// The parameters.
        params: Option<&'a str>,
    },
    /// A notification, which must not be answered.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// The parameters.
        params: Option<&'a str>,
    },
    /// The answer to a request of the gateway. It has no id if the peer could not read the request's id.
    Response(Option<Id>, Answered<'a>),
    /// A batch: several messages in one array.
    Batch,
    /// A value that is no message.
    Invalid {
        /// The id, if it could be read.
        id: Option<Id>,
        /// What is wrong.
        fault: Fault,
    },
}

/// What a response says, as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered<'a> {
    /// The result.
    pub result: Option<&'a str>,
    /// The error.
    pub error: Option<&'a str>,
}

/// Why a value is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The value is no object.
    NoObject,
    /// `jsonrpc` is not `"2.0"`.
    Version,
    /// There is no method, or the method is no string.
    Method,
    /// The id is neither a string, nor a number, nor `null`.
    Id,
    /// The parameters are neither an object nor an array.
    Params,
}

impl Fault {
    /// The words for the peer.
    pub fn as_str(self) -> &'static str {
        match self {
            Fault::NoObject => "A message is an object",
            Fault::Version => "A message has jsonrpc: \"2.0\"",
            Fault::Method => "A request has a method, which is a string",
            Fault::Id => "An id is a string, a number or null",
            Fault::Params => "Parameters are an object or an array",
        }
    }
}

/// A text that some readers cannot read.
#[derive(Debug)]
pub struct Unreadable {
    /// The code of the refusal. The text may be JSON all the same.
    pub code: i32,
    /// The id, if the text is JSON and has the id near its beginning.
    pub id: Option<Id>,
    /// The reason.
    pub error: Failure,
}

impl Unreadable {
    fn new(text: &str, error: Failure) -> Self {
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return Unreadable::not_json(&error);
        }
        let head = &text.as_bytes()[..text.len().min(PEEK_BYTES)];
        Unreadable {
            code: code::INVALID_REQUEST,
            id: member(head, "id").and_then(Id::of),
            error,
        }
    }

    /// The refusal of a frame that is no JSON, or no text.
    pub fn not_json(error: &dyn fmt::Display) -> Self {
        Unreadable {
            code: code::PARSE_ERROR,
            id: None,
            error: Error::invalid_params(format!("The message is not valid JSON: {error}")),
        }
    }
}

/// Reads one message. Its text was [mended](crate::wire::mended) and may nest `depth` levels. A value with a
/// result or an error and without a method counts as a response, however malformed: an error is never
/// answered with an error.
pub fn read(text: &str, depth: usize) -> Result<Message<'_>, Unreadable> {
    check_readable(text, depth).map_err(|error| Unreadable::new(text, error))?;
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => Ok(Fields::of(text).message()),
        Some(b'[') => Ok(Message::Batch),
        _ => Ok(invalid(None, Fault::NoObject)),
    }
}

/// The members of a message that are read, as JSON.
#[derive(Default)]
struct Fields<'a> {
    jsonrpc: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
    answered: Answered<'a>,
}

impl<'a> Fields<'a> {
    fn of(text: &'a str) -> Self {
        let mut fields = Fields::default();
        members(text.as_bytes(), |key, value| match key {
            "jsonrpc" => fields.jsonrpc = Some(value),
            "id" => fields.id = Some(value),
            "method" => fields.method = Some(value),
            "params" => fields.params = Some(value),
            "result" => fields.answered.result = str::from_utf8(value).ok(),
            "error" => fields.answered.error = str::from_utf8(value).ok(),
            _ => {}
        });
        fields
    }

    fn message(self) -> Message<'a> {
        let id = self.id.and_then(Id::of);
        if self.method.is_none() && self.answered != Answered::default() {
            return Message::Response(id, self.answered);
        }
        let version = self.jsonrpc.and_then(text_of);
        if version.is_none_or(|version| version != "2.0") {
            return invalid(id, Fault::Version);
        }
        let Some(method) = self.method.and_then(text_of) else {
            return invalid(id, Fault::Method);
        };
        if self.id.is_some() && id.is_none() {
            return invalid(None, Fault::Id);
        }
        let params = match self.params {
            None | Some(b"null") => None,
            Some(params @ [b'{' | b'[', ..]) => std::str::from_utf8(params).ok(),
            Some(_) if id.is_some() => return invalid(id, Fault::Params),
            // A malformed notification is not answered.
            Some(_) => None,
        };
        match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        }
    }
}

fn invalid(id: Option<Id>, fault: Fault) -> Message<'static> {
    Message::Invalid { id, fault }
}

#[cfg(test)]
mod tests;
