//! Text of others, made harmless: what an app says must not move the cursor, change colours or
//! reorder the line it stands in.

use std::borrow::Cow;

use serde_json::Value;

/// The text without what a terminal would obey. Line breaks stay.
pub(in super::super) fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(|it| it == '\n' || !commands(it)) {
        return Cow::Borrowed(text);
    }
    let harmless = |it| {
        if it == '\n' || !commands(it) {
            it
        } else {
            '\u{fffd}'
        }
    };
    Cow::Owned(
        text.replace("\r\n", "\n")
            .replace('\t', " ")
            .chars()
            .map(harmless)
            .collect(),
    )
}

/// The text in one line.
pub(in super::super) fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    printable(&words.join(" ")).into_owned()
}

/// Pretty JSON. What a terminal would obey is escaped, so it says the same.
pub(in super::super) fn json(value: &Value) -> String {
    // Only strings hold such characters, and in a string any character may be escaped.
    let written = format!("{value:#}");
    let mut text = String::with_capacity(written.len());
    for it in written.chars() {
        if it != '\n' && commands(it) {
            text.push_str(&format!("\\u{:04x}", u32::from(it)));
        } else {
            text.push(it);
        }
    }
    text
}

/// Controls, and what changes the direction of the text after it.
fn commands(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_an_app_says_reaches_the_terminal_as_a_command() {
        assert_eq!(printable("plain é 漢\nline"), "plain é 漢\nline");
        let nasty = "a\x1b[2Jb\u{9b}31mc\u{202e}d\r\n\te\x07";
        let said = printable(nasty);
        assert_eq!(said, "a\u{fffd}[2Jb\u{fffd}31mc\u{fffd}d\n e\u{fffd}");
        assert_eq!(one_line("  two\n\n lines\t "), "two lines");
    }

    #[test]
    fn json_says_the_same_in_harmless_characters() {
        let value = json!({ "a\u{9b}": "x\x1b[2J\u{202e}é\n", "list": [1, null] });
        let text = json(&value);
        assert!(!text.chars().any(|it| it != '\n' && commands(it)), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
