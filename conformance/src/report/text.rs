//! Lines for a terminal.

use super::Row;
use crate::requirement::Outcome;

/// A line for a row, and a line below it for what was seen.
pub fn line(row: &Row) -> String {
    let note = match (row.outcome, &row.expected) {
        (Outcome::Broken, Some(why)) => format!(" (expected: {why})"),
        (Outcome::Held, Some(_)) => " (expected to be broken)".into(),
        _ => String::new(),
    };
    let seen = row
        .seen
        .as_ref()
        .map_or(String::new(), |seen| format!("\n{:27}{seen}", ""));
    format!(
        "{}  {:<11} {:<6} {}{note}{seen}",
        row.id,
        row.outcome.word(),
        row.level.word(),
        row.sentence
    )
}
