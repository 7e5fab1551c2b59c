//! Messages that are framed by lines.

use std::borrow::Cow;

/// What some readers of lines and of events take for the end of one, though JSON allows these characters in a
/// string.
const ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// A JSON text in one line, whichever characters its reader takes for the end of a line.
pub fn one_line(json: &str) -> Cow<'_, str> {
    // All of them begin with one of these bytes, and so do few other texts.
    let may_have = json.bytes().any(|byte| byte == 0xc2 || byte == 0xe2);
    if !may_have || !json.contains(ENDS) {
        return json.into();
    }
    let mut text = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        match ENDS.contains(&character) {
            // Outside of a string there are none.
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
