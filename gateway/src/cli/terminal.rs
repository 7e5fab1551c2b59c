//! The output for people: text that is safe for a terminal, columns, and standard output that may fail.
//!
//! Text of an app must not move the cursor, change colours or reorder the line.

use std::io::{ErrorKind, Write, stdout};

use console::{Alignment, Term, measure_text_width, pad_str};
use serde_json::Value;

use crate::log::{Log, wait_for_lines};

/// The narrowest column that is wrapped.
const NARROWEST: usize = 20;

/// The text without the control characters that a terminal obeys. Line breaks stay.
pub(super) fn printable(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\t', " ");
    let harmful = |it: char| it != '\n' && commands(it);
    text.replace(harmful, "\u{fffd}")
}

/// The text on one line.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    printable(&words.join(" "))
}

/// Pretty-printed JSON. Control characters are escaped, so the value stays the same.
pub(super) fn json(value: &Value) -> String {
    // Only strings contain such characters, and in a string any character may be escaped.
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

/// Whether a character is a control character or changes the direction of the text after it.
fn commands(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints one or several lines, and returns once they are written.
///
/// A reader that has left, such as `head`, has read all it wants. This is not an error.
pub(super) fn print(text: &str) -> Result<(), String> {
    print_bytes(format!("{text}\n").as_bytes())
}

/// Prints the bytes, and returns once they are written. The reader may leave, as in [`print`].
pub(super) fn print_bytes(bytes: &[u8]) -> Result<(), String> {
    // If standard output and standard error go to the same terminal, the earlier lines must appear first.
    wait_for_lines();
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes one or several lines to standard error without waiting for the reader.
pub(super) fn say(text: &str) {
    let _ = Log.write_all(format!("{text}\n").as_bytes());
}

/// Prints a document for scripts.
pub(super) fn print_json(document: &Value) -> Result<(), String> {
    print(&json(document))
}

/// Turns rows into lines with aligned columns. On a terminal the last column is wrapped within its own
/// column.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let terminal = Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    lay_out(rows, width)
}

fn lay_out(rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|it| measure_text_width(it)).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns.saturating_sub(1)).map(widest).collect();
    let indent = widths.iter().map(|it| it + 2).sum::<usize>();
    let room = width
        .map(|width| width.saturating_sub(indent))
        .filter(|room| *room >= NARROWEST);
    let mut lines = Vec::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&pad_str(cell, width + 2, Alignment::Left, None));
        }
        let last = row.get(widths.len()).map_or("", |cell| cell);
        let mut pieces = wrap(last, room).into_iter();
        line.push_str(&pieces.next().unwrap_or_default());
        lines.push(line.trim_end().to_string());
        lines.extend(pieces.map(|piece| format!("{}{piece}", " ".repeat(indent))));
    }
    lines.join("\n")
}

/// Wraps a text between words. A word that is wider than the room gets its own line.
fn wrap(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else {
        return vec![text.to_string()];
    };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else {
            continue;
        };
        if line.is_empty() {
            line.push_str(word);
        } else if measure_text_width(line) + 1 + measure_text_width(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

#[cfg(test)]
mod tests;
