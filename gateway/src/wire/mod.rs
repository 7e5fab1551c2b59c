//! The ABP envelope as JSON text: `{ type, id?, agent?, timestamp, payload }`.

pub mod abp;
mod answers;
pub mod binary;
#[cfg(test)]
mod broken;
mod envelope;
mod incoming;
pub mod json_rpc;
mod lines;
mod outline;
mod reading;
mod referred;
mod reply;
mod said;
mod scan;
pub mod stopped_by;
pub mod stops;

use std::fmt::{self, Display, Write};

use bytes::Bytes;
use memchr::memchr2;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use caphost::call::Error;

pub use abp::Request;
pub use answers::{answer_to_call, answer_to_cancel};
pub use envelope::{Envelope, RefusedMessage, Subject};
pub use incoming::Incoming;
pub use lines::one_line;
pub use outline::outline;
pub use reading::{
    BYTE_ORDER_MARK, check_length, check_readable, mended, mended_bytes, read_value,
};
pub use referred::referred;
pub use reply::{AGENT_CLOSED, Header, Lane, Outgoing, cancel_not_confirmed, error_json, failed};
pub use said::{Said, said, with_grade};
pub use scan::{member, members, text_of, too_deep};

/// An error of the gateway, with its details as JSON.
pub type Failure = Error<Box<Value>>;

/// The refusal of a binary frame of that size.
pub(crate) fn not_text(bytes: usize) -> Failure {
    Error::invalid_params("Messages are text frames; this one is binary")
        .with_details(Box::new(json!({ "bytes": bytes })))
}

/// `INVALID_PARAMS` for the value at `path` of a message or its payload.
pub(crate) fn invalid_at(path: &str, message: impl Into<String>) -> Failure {
    let details = Box::new(json!({ "path": path }));
    Error::invalid_params(message.into()).with_details(details)
}

/// JSON that is kept as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Bytes);

impl Json {
    /// Keeps `text`. `shared`, if given, is its buffer: a text that is large and most of its buffer is not
    /// copied.
    pub(crate) fn keep(text: &str, shared: Option<&Bytes>) -> Self {
        match shared.filter(|shared| reply::is_worth(text, shared)) {
            Some(shared) => Json(shared.slice_ref(text.as_bytes())),
            None => Json(Bytes::copy_from_slice(text.as_bytes())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    /// The bytes of the text, which can be shared without a copy.
    pub(crate) fn shared(&self) -> &Bytes {
        &self.0
    }

    /// A part of the text.
    pub(crate) fn part(&self, text: &str) -> Self {
        Json::keep(text, Some(&self.0))
    }

    /// The same JSON without line breaks, for readers of lines. JSON has line breaks only between its parts.
    pub(crate) fn in_one_line(self) -> Self {
        if memchr2(b'\n', b'\r', &self.0).is_none() {
            return self;
        }
        let bytes = self.0.iter().copied();
        Json(bytes.filter(|it| !matches!(it, b'\n' | b'\r')).collect())
    }

    /// The value of the JSON.
    pub fn value(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl From<Json> for Bytes {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        value.to_string().into()
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json(text.into())
    }
}

/// The beginning of a peer's text: at most `characters`.
pub(crate) fn clipped(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters);
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// How many characters of a stranger's text are logged.
const LOGGED: usize = 200;

/// A stranger's text for the log: its first 200 characters.
pub(crate) fn for_log(text: impl Display) -> String {
    struct Bounded(String, usize);
    impl fmt::Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let kept = clipped(text, self.1);
            self.0.push_str(kept);
            if kept.len() < text.len() {
                self.0.push('…');
                // The text is long enough.
                return Err(fmt::Error);
            }
            self.1 -= kept.chars().count();
            Ok(())
        }
    }
    let mut bounded = Bounded(String::new(), LOGGED);
    let _ = write!(bounded, "{text}");
    bounded.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_is_short() {
        assert_eq!(for_log("a short one"), "a short one");
        assert_eq!(for_log("é".repeat(LOGGED)), "é".repeat(LOGGED));
        let long = format_args!("{:?} and {}", "a", "é".repeat(1 << 20)).to_string();
        let logged = for_log(format_args!("{long}{long}"));
        assert_eq!(logged.chars().count(), LOGGED + 1);
        assert!(logged.ends_with("é…"));
    }

    #[test]
    fn clips_by_characters() {
        assert_eq!(clipped("naïve 漢字", 3), "naï");
        assert_eq!(clipped("漢字", 1), "漢");
        assert_eq!(clipped("漢字", 2), "漢字");
        assert_eq!(clipped("", 2), "");
        assert_eq!(clipped("a", 0), "");
    }
}
