//! The report that test runners read: JUnit's XML.

use super::{Report, Row};
use crate::requirement::Outcome;

/// The whole file.
pub fn write(report: &Report) -> String {
    let failures = report
        .rows
        .iter()
        .filter(|row| report.counts_against(row))
        .count();
    let skipped = report
        .rows
        .iter()
        .filter(|row| is_skipped(report, row))
        .count();
    let ms = report.rows.iter().map(|row| row.ms).sum::<u64>();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\" time=\"{}\"",
        report.rows.len(),
        seconds(ms)
    );
    let cases = report
        .rows
        .iter()
        .map(|row| case(report, row))
        .collect::<String>();
    let name = escaped(&format!(
        "caphost-conformance {} {}",
        report.dialect, report.peer
    ));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{name}\" {counts}>\n{cases}</testsuite>\n</testsuites>\n"
    )
}

fn case(report: &Report, row: &Row) -> String {
    let seen = escaped(row.seen.as_deref().unwrap_or_default());
    let inner = match row.outcome {
        Outcome::Held if row.expected.is_some() => {
            "<failure message=\"held, and was expected to be broken\"/>".into()
        }
        Outcome::Broken if report.counts_against(row) => format!("<failure message=\"{seen}\"/>"),
        _ if is_skipped(report, row) => {
            format!("<skipped message=\"{}: {seen}\"/>", row.outcome.word())
        }
        _ => String::new(),
    };
    let name = escaped(&format!("{} {}", row.id, row.sentence));
    format!(
        "<testcase classname=\"{}\" name=\"{name}\" time=\"{}\">{inner}</testcase>\n",
        report.dialect,
        seconds(row.ms)
    )
}

fn is_skipped(report: &Report, row: &Row) -> bool {
    row.outcome != Outcome::Held && !report.counts_against(row)
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// `text` for an attribute or the text of XML or HTML. XML has no control characters.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            it if it.is_control() => escaped.push('\u{fffd}'),
            it => escaped.push(it),
        }
    }
    escaped
}
