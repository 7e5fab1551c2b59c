//! The ABP envelope as JSON text: `{ type, id?, agent?, timestamp, payload }`.

pub mod abp;
pub mod binary;
mod envelope;
mod kind;
mod reading;
mod reply;
mod said;
mod scan;
pub mod stops;

use bytes::Bytes;
use serde_json::Value;

use caphost::call::Error;

pub use envelope::{Envelope, Refusal, Subject, check_bounds};
pub use kind::Request;
pub use reading::{Incoming, check, mended, mended_bytes, read_value};
pub use reply::{AGENT_CLOSED, Header, Outgoing, cancel_not_confirmed, error_json, failed};
pub use said::{Said, said, with_stop};
pub use scan::{members, text_of, too_deep};

/// An error of the gateway's own, its details as JSON.
pub type Failure = Error<Box<Value>>;

/// A piece of JSON that is kept as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Bytes);

impl Json {
    /// Keeps `text`, which lies in `shared` if that is given: then a large one is not copied.
    pub(crate) fn keep(text: &str, shared: Option<&Bytes>) -> Self {
        match shared.filter(|_| text.len() > reply::SHARED_BYTES) {
            Some(shared) => Json(shared.slice_ref(text.as_bytes())),
            None => Json(Bytes::copy_from_slice(text.as_bytes())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    /// What it says.
    pub fn value(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.0)
    }
}

impl From<Json> for Bytes {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json(text.into())
    }
}

/// At most so many characters of what a peer has written, from its beginning.
pub(crate) fn clipped(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters);
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_by_characters() {
        assert_eq!(clipped("naïve 漢字", 3), "naï");
        assert_eq!(clipped("漢字", 1), "漢");
        assert_eq!(clipped("漢字", 2), "漢字");
        assert_eq!(clipped("", 2), "");
        assert_eq!(clipped("a", 0), "");
    }
}
