//! The file of expected failures.

use std::collections::BTreeMap;

/// Reads ids, each with its reason. Empty lines and lines that begin with `#` count for nothing. `Err` names a line without a
/// reason.
pub fn read(text: &str) -> Result<BTreeMap<String, String>, String> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(char::is_whitespace) {
            Some((id, reason)) => Ok((id.to_owned(), reason.trim().to_owned())),
            None => Err(format!("`{line}` has no reason after it")),
        })
        .collect()
}
