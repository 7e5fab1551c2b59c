//! The identifier of a call: generated for every call that does not bring one.

use std::fmt;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::sync::Arc;

use uuid::{Builder, Uuid};

/// The longest callId accepted, in characters.
pub const MAX_CALL_ID_CHARS: usize = 128;

/// A string of 1 to 128 printable characters, unique within its session.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Arc<str>);

/// The text was empty, too long, or held a control character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCallId;

impl CallId {
    /// Accepts a peer's identifier.
    pub fn parse(text: &str) -> Result<Self, InvalidCallId> {
        // Byte length bounds the walk below: no character takes more than four bytes.
        if text.is_empty() || text.len() > MAX_CALL_ID_CHARS * 4 {
            return Err(InvalidCallId);
        }
        let mut count = 0;
        for character in text.chars() {
            count += 1;
            if count > MAX_CALL_ID_CHARS || !is_printable(character) {
                return Err(InvalidCallId);
            }
        }
        Ok(CallId(text.into()))
    }

    /// A fresh UUID (version 4).
    pub fn random() -> Self {
        CallId::of(Uuid::new_v4())
    }

    /// Makes a UUID (version 4) out of sixteen random bytes, which the shell supplies.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        CallId::of(Builder::from_random_bytes(bytes).into_uuid())
    }

    fn of(uuid: Uuid) -> Self {
        CallId((&*uuid.hyphenated().encode_lower(&mut [0; 36])).into())
    }

    /// The identifier as it stands on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Hashes callIds under a secret of its own: strangers choose the ids, and whoever knew the hash
/// could choose such as collide. The standard library's `RandomState` has fixed keys in wasm.
#[derive(Clone, Debug)]
pub(super) struct IdHashes(u128);

impl Default for IdHashes {
    fn default() -> Self {
        IdHashes(Uuid::new_v4().as_u128())
    }
}

impl BuildHasher for IdHashes {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u128(self.0);
        hasher
    }
}

/// Not a control, and none of the characters that hide in a log line: line and paragraph
/// separators, bidirectional overrides, byte order mark, private noncharacters.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{ffff}')
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for CallId {
    fn borrow(&self) -> &str {
        &self.0
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
        let id = CallId::from_random([0xff; 16]);
        assert_eq!(id.as_str(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        let id =
            CallId::from_random(*b"\x01\x23\x45\x67\x89\xab\xcd\xef\0\x10\x2a\x3b\x4c\x5d\x6e\x7f");
        assert_eq!(id.as_str(), "01234567-89ab-4def-8010-2a3b4c5d6e7f");
    }
}
