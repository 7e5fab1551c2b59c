//! Identifiers and tool names, as they may come from a peer.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;
use uuid::Uuid;

/// Characters of an identifier.
pub const MAX_IDENTIFIER_CHARS: usize = 256;
const TOO_LONG: &str = "an id has at most 256 characters";
/// Characters of a tool's name.
pub const MAX_TOOL_NAME_CHARS: usize = 128;

/// A thread's or a tool call's id: untrusted text, checked when it is made.
///
/// 1 to 256 characters, none of them a control character, `/` or `\`, and neither `.` nor `..`: it
/// can be logged, and can name no other directory should it ever be part of a path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Identifier(Arc<str>);

impl Identifier {
    /// Checks `text`; an error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        // No character takes more than 4 bytes: a megabyte is refused without being counted.
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

    /// A new one, which nobody can guess.
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

/// An id in a message that goes to every tool server. Most often it is another server's, and then
/// it may be any string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyServersId(Option<Identifier>);

impl AnyServersId {
    /// The id, if it is one that we could have been given.
    pub fn ours(self) -> Option<Identifier> {
        self.0
    }
}

impl<'de> Deserialize<'de> for AnyServersId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Raw: a JSON string may hold half of a surrogate pair, which a `String` cannot.
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if !raw.get().starts_with('"') {
            return Err(de::Error::custom("an id must be a string"));
        }
        Ok(AnyServersId(serde_json::from_str(raw.get()).ok()))
    }
}

/// Whether `name` may stand in a toolset: 1 to 128 characters of `[A-Za-z0-9_-]`.
pub fn is_tool_name(name: &str) -> bool {
    (1..=MAX_TOOL_NAME_CHARS).contains(&name.len()) && name.chars().all(is_tool_name_char)
}

/// `name` as a tool's name: whatever may not stand in one becomes `_`, and what is past 128
/// characters is cut off. Two names may become the same; the caller has to notice.
pub fn tool_name(name: &str) -> String {
    let replace = |letter: char| {
        if is_tool_name_char(letter) {
            letter
        } else {
            '_'
        }
    };
    let sanitised: String = name
        .chars()
        .take(MAX_TOOL_NAME_CHARS)
        .map(replace)
        .collect();
    if sanitised.is_empty() {
        return "_".into();
    }
    sanitised
}

fn is_tool_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_short_printable_text() {
        for good in [
            "a",
            "thread_xyz",
            "0",
            " ",
            "a..b",
            "…",
            "漢字",
            "call:1",
            &"x".repeat(256),
            &"漢".repeat(256),
        ] {
            assert_eq!(
                Identifier::new(good).map(|id| id.to_string()),
                Ok(good.to_string())
            );
        }
    }

    #[test]
    fn what_is_no_identifier() {
        let long = format!("at most {MAX_IDENTIFIER_CHARS} characters");
        for (bad, why) in [
            ("", "empty"),
            (&*"x".repeat(257), &*long),
            (&"漢".repeat(257), &long),
            (&"x".repeat(10_000), &long),
            ("a\0", "control characters"),
            ("a\nb", "control characters"),
            ("\u{85}", "control characters"),
            ("a/b", "no `/`"),
            ("../../etc/passwd", "no `/`"),
            ("..\\x", "no `/`"),
            ("..", "no `/`"),
            (".", "no `/`"),
        ] {
            let error = Identifier::new(bad).unwrap_err();
            assert!(error.contains(why), "{bad:?}: {error}");
        }
    }

    #[test]
    fn an_identifier_is_read_from_a_string_only() {
        let read = |text: &str| serde_json::from_str::<Identifier>(text);
        assert_eq!(read(r#""aé""#).unwrap().as_str(), "aé");
        for bad in ["1", "null", "[]", "{}", "true", r#""\u0000""#, r#""a\/b""#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_id_of_any_server_is_any_string() {
        let read = |text: &str| serde_json::from_str::<AnyServersId>(text).map(AnyServersId::ours);
        assert_eq!(read(r#""a""#).unwrap(), Identifier::new("a").ok());
        let long = format!("{:?}", "x".repeat(10_000));
        for others in [
            r#""""#,
            r#""a/b""#,
            r#""a\\b""#,
            r#""..""#,
            r#""\u0000""#,
            r#""\ud83d""#,
            &long,
        ] {
            assert_eq!(read(others).unwrap(), None, "{others:.40}");
        }
        for bad in ["1", "null", "[]", "{}", "true"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tool_names() {
        assert_eq!(tool_name("export.pdf"), "export_pdf");
        assert_eq!(tool_name("a b/ü"), "a_b__");
        assert_eq!(tool_name(""), "_");
        assert_eq!(tool_name(&"é".repeat(200)), "_".repeat(128));
        assert!(is_tool_name("A-z_9") && is_tool_name(&"x".repeat(128)));
        assert!(!is_tool_name("") && !is_tool_name("a.b") && !is_tool_name(&"x".repeat(129)));
    }
}
