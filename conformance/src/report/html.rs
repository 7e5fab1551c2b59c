//! The report for people: one file of HTML that needs nothing else.

use super::junit::escaped;
use super::{Report, Row};
use crate::requirement::{Level, Outcome};

const STYLE: &str = include_str!("style.css");

/// The whole file.
pub fn write(report: &Report, holds: bool) -> String {
    let name = escaped(report.name.as_deref().unwrap_or(&report.peer));
    let verdict = match (holds, report.count(Outcome::Broken)) {
        (true, 0) => "All that is required holds".to_owned(),
        (true, broken) => format!(
            "All that is required holds. Broken, but not required or expected to be: {broken}"
        ),
        (false, _) => "Not all that is required holds".to_owned(),
    };
    let class = if holds { "holds" } else { "fails" };
    let tiles = [
        Outcome::Held,
        Outcome::Broken,
        Outcome::NotOffered,
        Outcome::NotRun,
    ]
    .map(|it| {
        format!(
            "<li class=\"{}\"><b>{}</b> {}</li>",
            class_of(it),
            report.count(it),
            it.word()
        )
    })
    .join("");
    let required = match report.require {
        Level::Must => "MUST",
        Level::Should => "MUST and SHOULD",
        Level::Ours => "MUST, SHOULD and ours",
    };
    let rows = report
        .rows
        .iter()
        .map(|row| line(report, row))
        .collect::<String>();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<title>{name}: cancelling in {dialect}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<header>\n<p class=\"kind\">Cancelling in {dialect}</p>\n\
<h1>{name}</h1>\n<p class=\"verdict {class}\">{verdict}</p>\n<ul class=\"counts\">{tiles}</ul>\n</header>\n\
<div class=\"wide\"><table>\n<thead><tr><th>Requirement</th><th>Outcome</th><th>Level</th><th>What it says, and what was seen</th><th class=\"number\">Time</th></tr></thead>\n\
<tbody>\n{rows}</tbody>\n</table></div>\n<footer>\n<dl>\n<dt>Peer</dt><dd><code>{peer}</code></dd>\n<dt>Run</dt><dd>{at}</dd>\n\
<dt>Required</dt><dd>{required}</dd>\n<dt>Races</dt><dd>{races}, with seed {seed}</dd>\n<dt>Suite</dt><dd>caphost-conformance {suite}</dd>\n</dl>\n\
<p>The peer offers a tool that counts its own steps, and one that reads the count. So what the peer says of a cancel is compared with what happened. \
<em>ours</em> marks what the source of a protocol does not say, and what a caller needs to know what has happened.</p>\n</footer>\n</main>\n</body>\n</html>\n",
        dialect = report.title,
        peer = escaped(&report.peer),
        at = escaped(&report.at),
        races = report.races,
        seed = report.seed,
        suite = report.suite,
    )
}

fn line(report: &Report, row: &Row) -> String {
    let against = if report.counts_against(row) {
        " class=\"against\""
    } else {
        ""
    };
    let mut seen = row.seen.as_deref().map_or(String::new(), |seen| {
        format!("<p class=\"seen\">{}</p>", escaped(seen))
    });
    if let Some(why) = &row.expected {
        let word = if row.outcome == Outcome::Broken {
            "Expected"
        } else {
            "Expected to be broken"
        };
        seen += &format!("<p class=\"seen\">{word}: {}</p>", escaped(why));
    }
    format!(
        "<tr{against}><th scope=\"row\"><a href=\"{source}\">{id}</a></th><td><span class=\"outcome {class}\">{outcome}</span></td>\
<td class=\"level\">{level}</td><td><p>{sentence}</p>{seen}</td><td class=\"number\">{time}</td></tr>\n",
        source = escaped(row.source),
        id = row.id,
        class = class_of(row.outcome),
        outcome = row.outcome.word(),
        level = row.level.word(),
        sentence = escaped(row.sentence),
        time = if row.ms < 1000 {
            format!("{} ms", row.ms)
        } else {
            format!("{}.{} s", row.ms / 1000, row.ms % 1000 / 100)
        },
    )
}

fn class_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "held",
        Outcome::Broken => "broken",
        Outcome::NotOffered | Outcome::NotRun => "none",
    }
}
