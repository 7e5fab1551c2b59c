//! Messages that are separated by line ends.

use std::borrow::Cow;

/// Characters that some readers of lines and of events take for line ends, though JSON allows them in
/// strings.
const ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// A JSON text in one line, for every reader.
pub fn one_line(json: &str) -> Cow<'_, str> {
    // Each of these characters begins with one of these bytes, and few other texts have them.
    let may_have = json.bytes().any(|byte| byte == 0xc2 || byte == 0xe2);
    if !may_have || !json.contains(ENDS) {
        return json.into();
    }
    let mut text = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        match ENDS.contains(&character) {
            // These characters stand in strings only.
            true => text.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => text.push(character),
        }
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn no_reader_of_lines_splits_a_message() {
        let value = json!({ "a\u{2028}": "x\u{2029}y\u{85}z é… €" });
        let text = value.to_string();
        let line = one_line(&text);
        assert!(!line.contains(ENDS) && line.contains("\\u2028") && line.contains("é… €"));
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        assert!(matches!(one_line("{\"a\":\"é\"}"), Cow::Borrowed(_)));
    }
}
