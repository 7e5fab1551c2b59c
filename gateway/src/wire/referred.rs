//! References within a JSON Schema.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// The part of a schema that a reference within it names, by a pointer that is written as in a URL.
pub fn referred<'a>(schema: &'a Map<String, Value>, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix("#/")?;
    let pointer = percent_decode_str(pointer).decode_utf8().ok()?;
    match pointer.split_once('/') {
        Some((first, rest)) => schema.get(&unescaped(first))?.pointer(&format!("/{rest}")),
        None => schema.get(&unescaped(&pointer)),
    }
}

/// A step of a pointer.
fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
