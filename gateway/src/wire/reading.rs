//! The rule by which JSON is read: a text from outside is mended or refused, so that every later reader can
//! read it.
//!
//! The broker passes payloads on as text, and many others read them afterwards: other workers, MCP, RAP,
//! JSON-RPC, the command line. If the broker accepted a text that another cannot read, a caller would be left
//! without an answer. Three things are valid for a scanner and not for a reader:
//!
//! - A surrogate without its other half, as `JSON.stringify` writes it of a text that was cut inside
//!   an emoji. It is everyday, so it is mended: U+FFFD takes its place.
//! - A number past what a double can hold, such as `1e400`. No `JSON.stringify` writes one: it is
//!   refused.
//! - A key that serde_json keeps for itself, and takes for something else than a key. It is refused.

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr, memchr2_iter, memmem};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::Failure;
use super::scan::{Borrowed, too_deep};
use crate::limits::{Limits, MAX_DEPTH};

/// The mark that some programs write before JSON. It is no part of the JSON.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Takes the place of half a character, and is as long.
const REPLACEMENT: &str = r"\ufffd";
/// The prefix of the keys that serde_json uses itself.
const RESERVED: &str = "$serde_json::private::";
/// Numbers of one and a half times as many digits are always checked. A double can hold all shorter numbers
/// without an exponent.
const LONG_NUMBER: usize = 200;

/// The text with U+FFFD for every surrogate that lacks its other half.
pub fn mended(text: &str) -> Cow<'_, str> {
    let Some(first) = half(text.as_bytes(), 0) else {
        return Cow::Borrowed(text);
    };
    let (mut whole, mut done, mut next) = (String::with_capacity(text.len()), 0, Some(first));
    while let Some(at) = next {
        whole.push_str(&text[done..at]);
        whole.push_str(REPLACEMENT);
        done = at + REPLACEMENT.len();
        next = half(text.as_bytes(), done);
    }
    whole.push_str(&text[done..]);
    Cow::Owned(whole)
}

/// [`mended`] for a body that may not be UTF-8.
pub fn mended_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut whole = Cow::Borrowed(bytes);
    let mut next = half(bytes, 0);
    while let Some(at) = next {
        let end = at + REPLACEMENT.len();
        whole.to_mut()[at..end].copy_from_slice(REPLACEMENT.as_bytes());
        next = half(bytes, end);
    }
    whole
}

/// Reads a text from outside, as all readers do.
pub fn read_value(text: &str) -> serde_json::Result<Value> {
    let text = mended(text);
    check(&text)?;
    serde_json::from_str(&text)
}

/// Checks that a message of any protocol nests no deeper than `max` levels, and no deeper than readers can
/// read.
pub fn check_depth(text: &str, max: usize) -> Result<(), Failure> {
    let max = max.min(MAX_DEPTH);
    if too_deep(text.as_bytes(), max) {
        let message = format!("The message nests deeper than {max} levels");
        let details = json!({ "limit": "depth", "max": max });
        return Err(Failure::invalid_params(message).with_details(Box::new(details)));
    }
    Ok(())
}

/// Checks that a message of that size is accepted.
pub fn check_length(bytes: usize, limits: &Limits) -> Result<(), Failure> {
    let max = limits.message_bytes;
    if bytes <= max {
        return Ok(());
    }
    let message = format!("The message has {bytes} bytes; at most {max} are accepted");
    let details = json!({ "limit": "messageBytes", "max": max });
    Err(Failure::invalid_params(message).with_details(Box::new(details)))
}

/// The refusal of valid JSON that cannot be read.
pub(super) fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::invalid_params(format!("The message cannot be read: {error}")).with_details(Box::new(
        json!({ "line": error.line(), "column": error.column() }),
    ))
}

/// Checks that every reader can read the text, which may nest `depth` levels.
pub fn check_readable(text: &str, depth: usize) -> Result<(), Failure> {
    check_depth(text, depth)?;
    check(text).map_err(|error| unreadable(&error))
}

/// Checks that every reader can read the text.
pub fn check(text: &str) -> serde_json::Result<()> {
    serde_json::from_str::<Readable>(text).map(drop)
}

/// Whether a quick look shows that [`check`] accepts this valid JSON: no number with an exponent or hundreds
/// of digits, and no key of serde_json itself, plain or escaped.
pub(super) fn is_plain(text: &str) -> bool {
    let text = text.as_bytes();
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let has_exponent = || memchr2_iter(b'e', b'E', text).any(|at| ends_in_number(&text[..at]));
    // One look in every `LONG_NUMBER` bytes meets each longer number.
    let has_long_number = || {
        let mut met = (LONG_NUMBER..text.len()).step_by(LONG_NUMBER);
        met.any(|at| (at - LONG_NUMBER / 2..=at).all(is_digit))
    };
    let has = |part: &str| memmem::find(text, part.as_bytes()).is_some();
    !(has_long_number() || has_exponent() || has(r"\u") || has(RESERVED))
}

/// Whether the text ends in a number that stands where JSON may have a number. The digits inside a UUID are
/// not such a number.
fn ends_in_number(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let digits = text.iter().rev().take_while(|byte| is_part(byte)).count();
    let before = &text[..text.len() - digits];
    let before = before.strip_suffix(b"-").unwrap_or(before);
    let starts_value = matches!(
        before.last(),
        None | Some(b':' | b',' | b'[' | b' ' | b'\t' | b'\n' | b'\r')
    );
    digits > 0 && starts_value
}

/// The place of the next escaped surrogate without its other half, from `at` on. Valid JSON has backslashes
/// in strings only.
fn half(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr(b'\\', text.get(at..)?)?;
        at += match unit(text, at) {
            None => 2,
            Some(0xd800..=0xdbff) => match unit(text, at + 6) {
                Some(0xdc00..=0xdfff) => 12,
                _ => return Some(at),
            },
            Some(0xdc00..=0xdfff) => return Some(at),
            Some(_) => 6,
        };
    }
}

/// The UTF-16 unit of the escape at that place.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | digit as u16)
    })
}

/// Any value, read as a reader does and then dropped.
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Readable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_str<E>(self, _: &str) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Readable, A::Error> {
        while let Some(Readable) = items.next_element()? {}
        Ok(Readable)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Readable, A::Error> {
        while let Some(Borrowed(key)) = members.next_key()? {
            if key.starts_with(RESERVED) {
                let message = format_args!("no key may begin with {RESERVED:?}");
                return Err(A::Error::custom(message));
            }
            let Readable = members.next_value()?;
        }
        Ok(Readable)
    }
}

#[cfg(test)]
mod tests;
