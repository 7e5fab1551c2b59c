//! Identifiers and tool names of peers.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};
use uuid::Uuid;

/// How many characters an identifier may have.
pub const MAX_IDENTIFIER_CHARS: usize = 256;
const TOO_LONG: &str = "an id has at most 256 characters";
/// How many characters a tool's name may have.
pub const MAX_TOOL_NAME_CHARS: usize = 128;

/// The id of a thread or a tool call. The text is untrusted and is checked when the identifier is made.
///
/// An identifier has 1 to 256 characters. It contains no control character, `/` or `\`, and is neither `.`
/// nor `..`. So it can be logged, and cannot name another directory as part of a path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Identifier(Arc<str>);

impl Identifier {
    /// Checks `text`. The error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        // No character takes more than 4 bytes, so a text of a megabyte is refused without counting its
        // characters.
        if text.len() > 4 * MAX_IDENTIFIER_CHARS || text.chars().count() > MAX_IDENTIFIER_CHARS {
            return Err(TOO_LONG);
        }
        if text.is_empty() {
            return Err("an id must not be empty");
        }
        if text.chars().any(char::is_control) {
            return Err("an id must have no control characters");
        }
        if text.contains(['/', '\\']) || matches!(text, "." | "..") {
            return Err("an id must have no `/` or `\\`, and be neither `.` nor `..`");
        }
        Ok(Identifier(text.into()))
    }

    /// A new identifier that nobody can guess.
    pub fn random() -> Self {
        Identifier(Uuid::new_v4().to_string().into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Identifier {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<'de> Deserialize<'de> for Identifier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Identifier::new(&text).map_err(de::Error::custom)
    }
}

/// Whether a toolset may contain `name`: 1 to 128 characters of `[A-Za-z0-9_-]`.
pub fn is_tool_name(name: &str) -> bool {
    (1..=MAX_TOOL_NAME_CHARS).contains(&name.len()) && name.chars().all(is_tool_name_char)
}

fn is_tool_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

#[cfg(test)]
mod tests;
