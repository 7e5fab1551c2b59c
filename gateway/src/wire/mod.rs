//! The ABP envelope as JSON text: `{ type, id?, agent?, timestamp, payload }`.

pub mod abp;
pub mod binary;
mod envelope;
mod kind;
mod reading;
mod reply;
mod scan;
mod stop;
pub mod stops;
mod value;

use serde_json::Value;

use caphost::call::Error;

pub use envelope::{Envelope, Refusal, Subject, check_bounds};
pub use kind::Request;
pub use reading::{Incoming, check, mended, mended_bytes, read_value};
pub use reply::{AGENT_CLOSED, Header, Outgoing, cancel_not_confirmed, error_json, failed};
pub use scan::{members, text_of, too_deep};
pub use stop::{Said, said, with_stop};
pub use value::{Value as AnyValue, shape};

/// An error of the gateway's own, its details as JSON.
pub type Failure = Error<Box<Value>>;

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
