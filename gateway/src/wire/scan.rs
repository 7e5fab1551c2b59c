//! Looking at JSON bytes without parsing them: no recursion, no allocation to speak of.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use serde::Deserialize;

/// Whether brackets nest deeper than `limit` levels outside strings. Says nothing about whether the
/// text is valid.
pub fn too_deep(text: &[u8], limit: usize) -> bool {
    // Most texts have few brackets, and those are counted many bytes at once.
    let opening = text.iter().filter(|byte| matches!(byte, b'{' | b'['));
    if opening.count() <= limit {
        return false;
    }
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at),
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

/// Calls `member` with the key and the raw value of each member of the object `text` starts with,
/// until the text ends or stops making sense. A value that is cut off is not reported. Of several
/// members with one key the last counts, as to every other reader.
pub fn members<'a>(text: &'a [u8], mut member: impl FnMut(&str, &'a [u8])) {
    let mut at = skip_space(text, 0);
    if text.get(at) != Some(&b'{') {
        return;
    }
    loop {
        at = skip_space(text, at + 1);
        if text.get(at) != Some(&b'"') {
            return;
        }
        let key_end = end_of_string(text, at);
        // However it is escaped.
        let Some(key) = text.get(at..=key_end).and_then(text_of) else {
            return;
        };
        at = skip_space(text, key_end + 1);
        if text.get(at) != Some(&b':') {
            return;
        }
        let start = skip_space(text, at + 1);
        let Some(end) = end_of_value(text, start) else {
            return;
        };
        member(&key, &text[start..end]);
        at = skip_space(text, end);
        if text.get(at) != Some(&b',') {
            return;
        }
    }
}

/// The raw value of that member of the object `text` starts with.
pub fn member<'a>(text: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    let mut found = None;
    members(text, |key, value| {
        if key == wanted {
            found = Some(value);
        }
    });
    found
}

/// A JSON string, which is copied only where it has escapes.
#[derive(Deserialize)]
pub(super) struct Borrowed<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// The text of a JSON string.
pub fn text_of(value: &[u8]) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    let text: Borrowed = serde_json::from_slice(value).ok()?;
    Some(text.0)
}

/// The index of the closing quote of the string that opens at `at`, or the text's length.
fn end_of_string(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(next) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        match text[at + next] {
            b'"' => return at + next,
            _ => at += next + 2,
        }
    }
    text.len()
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

fn end_of_value(text: &[u8], start: usize) -> Option<usize> {
    match *text.get(start)? {
        b'"' => {
            let end = end_of_string(text, start);
            (end < text.len()).then_some(end + 1)
        }
        b'{' | b'[' => {
            let mut depth = 0usize;
            let mut at = start;
            while at < text.len() {
                match text[at] {
                    b'"' => at = end_of_string(text, at),
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            None
        }
        _ => {
            let ends =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            let length = text[start..].iter().position(ends)?;
            (length > 0).then_some(start + length)
        }
    }
}

#[cfg(test)]
mod tests;
