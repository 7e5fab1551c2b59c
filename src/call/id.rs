//! The callId: generated for every call that does not bring its own.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use uuid::Uuid;

/// The longest callId accepted, in characters.
pub const MAX_CALL_ID_CHARS: usize = 128;

/// A string of 1 to 128 printable characters, unique within its session.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId {
    text: Arc<str>,
    /// The key for lookups, which happen many times in the life of a call.
    digest: u64,
}

/// The text was empty, too long, or held a control character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCallId;

impl CallId {
    /// Accepts a peer's identifier.
    pub fn parse(text: &str) -> Result<Self, InvalidCallId> {
        // The byte length bounds the walks below: no character takes more than four bytes.
        if text.is_empty() || text.len() > MAX_CALL_ID_CHARS * 4 {
            return Err(InvalidCallId);
        }
        let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let printable = plain || text.chars().all(is_printable);
        let fits = text.len() <= MAX_CALL_ID_CHARS || text.chars().count() <= MAX_CALL_ID_CHARS;
        if printable && fits {
            Ok(CallId::of(text))
        } else {
            Err(InvalidCallId)
        }
    }

    /// A fresh UUID (version 4).
    pub fn random() -> Self {
        CallId::of(Uuid::new_v4().hyphenated().encode_lower(&mut [0; 36]))
    }

    /// Takes a text that is known to be valid.
    pub(crate) fn of(text: &str) -> Self {
        CallId {
            text: text.into(),
            digest: text.digest(),
        }
    }

    /// The callId as it stands on the wire.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Hash for CallId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// The key under which a callId is looked up.
pub trait Digest {
    /// Equal for equal texts. Of a million ids, the chance that two different ids share a digest is
    /// less than one in ten million.
    fn digest(&self) -> u64;
}

impl Digest for CallId {
    fn digest(&self) -> u64 {
        self.digest
    }
}

impl Digest for str {
    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u128(*SECRET);
        hasher.write(self.as_bytes());
        hasher.finish()
    }
}

/// A digest that was kept in place of its callId.
impl Digest for u64 {
    fn digest(&self) -> u64 {
        *self
    }
}

/// Strangers choose callIds, and with a known hash they could choose ids that collide. The standard
/// library's `RandomState` has fixed keys in wasm.
static SECRET: LazyLock<u128> = LazyLock::new(|| Uuid::new_v4().as_u128());

/// True for no control character, and for none that hides in a log line: line and paragraph
/// separators, bidirectional overrides, byte order mark, private noncharacters.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{ffff}')
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::borrow::Borrow<str> for CallId {
    fn borrow(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_is_printable() {
        for text in [
            "a",
            "0",
            " ",
            "call-1/2?",
            "naïve 漢字 🦀",
            &"x".repeat(128),
            &"漢".repeat(128),
            &"🦀".repeat(128),
        ] {
            assert_eq!(CallId::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn refuses_empty_long_and_unprintable() {
        for text in [
            "",
            "a\nb",
            "\0",
            "\u{7f}",
            "\u{202e}x",
            &"x".repeat(129),
            &"x".repeat(10_000),
        ] {
            assert_eq!(CallId::parse(text), Err(InvalidCallId), "{text:?}");
        }
    }

    #[test]
    fn random_ids_are_version_4_uuids() {
        let id = CallId::random();
        assert_eq!(CallId::parse(id.as_str()), Ok(id.clone()));
        let uuid = Uuid::parse_str(id.as_str()).unwrap();
        assert_eq!(uuid.get_version_num(), 4);
        assert_eq!(uuid.hyphenated().to_string(), id.as_str());
    }

    #[test]
    fn an_id_is_found_and_shown_as_its_text() {
        let ids = std::collections::HashSet::from([CallId::of("a"), CallId::of("b")]);
        assert!(ids.contains("a") && !ids.contains("c"));
        let id = CallId::of("a\"b");
        assert_eq!(id.to_string(), "a\"b");
        assert_eq!(format!("{id:?}"), r#""a\"b""#);
    }
}
