//! Values, names and comments in TypeScript. They are valid whatever an app has put into them.

use serde_json::Value;

use crate::cli::terminal::{json, printable};

/// The literal type of a value.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "Record<string, never>".into(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, it)| format!("{}: {}", key(name), literal(it)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join("; "))
        }
        plain => json(plain),
    }
}

/// The name of a member, in quotes if necessary.
pub(super) fn key(name: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '$';
    let quoted = name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit());
    if quoted || !name.chars().all(plain) {
        json(&name.into())
    } else {
        name.into()
    }
}

/// A documentation comment that the text cannot end early. Empty for an empty text.
pub(super) fn comment(text: &str, indent: usize) -> String {
    let text = printable(text).replace("*/", "*\\/");
    let lines: Vec<_> = text.trim().lines().map(str::trim_end).collect();
    let indent = "  ".repeat(indent);
    match &lines[..] {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        _ => {
            let lines = lines.iter().map(|line| format!("{indent} * {line}"));
            let lines: Vec<_> = lines.map(|it| it.trim_end().to_string()).collect();
            format!("{indent}/**\n{}\n{indent} */\n", lines.join("\n"))
        }
    }
}

/// Words as part of a type's name.
pub(super) fn pascal(text: &str) -> String {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric());
    let capital = |word: &str| {
        let mut characters = word.chars();
        let first = characters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(characters).collect::<String>()
    };
    let name: String = words.map(capital).collect();
    if name.starts_with(|it: char| it.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}
