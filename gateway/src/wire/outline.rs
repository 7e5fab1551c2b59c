//! Reads a few members of a large object.

use serde_json::{Map, Value, json};

use super::scan::members;

/// Reads the members of JSON that `wanted` names, such as `options.timeout`, and builds nothing else: as
/// values, a text takes many times its size. Arrays come out empty, and so do objects of which no member is
/// wanted.
pub fn outline(text: &[u8], wanted: &[&str]) -> Value {
    match text.first() {
        Some(b'{') => {
            let mut object = Map::new();
            members(text, |key, value| {
                let within: Vec<&str> = wanted
                    .iter()
                    .map(|path| path.split_once('.').unwrap_or((path, "")))
                    .filter_map(|(first, rest)| (first == key).then_some(rest))
                    .collect();
                if !within.is_empty() {
                    object.insert(key.into(), outline(value, &within));
                }
            });
            Value::Object(object)
        }
        Some(b'[') => json!([]),
        // A text that was read once can be read again.
        _ => serde_json::from_slice(text).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_built() {
        let text =
            br#"{"a":{"b":1,"c":[2],"d":{"x":1},"e":[[],[]]},"f":[[]],"g":"t","h":[1],"a.b":5}"#;
        assert_eq!(
            outline(text, &["a.b", "a.d", "a.none", "f", "g"]),
            json!({ "a": { "b": 1, "d": {} }, "f": [], "g": "t" })
        );
        assert_eq!(outline(b"[1]", &["a"]), json!([]));
        assert_eq!(outline(b"7", &["a"]), json!(7));
        // Of equal names the last counts, as for every other reader.
        assert_eq!(
            outline(br#"{"a":1,"\u0061":{"b":2}}"#, &["a.b"]),
            json!({ "a": { "b": 2 } })
        );
    }
}
