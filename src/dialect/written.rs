//! Writes the page's copies of the tables, and holds the copies to the tables.

use std::fmt::{Display, Write};
use std::fs;

use super::json_rpc::{MAX_REASON, WAYS, code, method};
use super::mcp::{MAX_BATCH, VERSIONS};
use super::{events, mcp};

/// Set to have a file rewritten instead.
const UPDATE: &str = "CAPHOST_UPDATE_DOCS";

/// Fails unless a file under `src/web/js` has that text.
pub(crate) fn holds(file: &str, expected: &str) {
    let path = format!("{}/src/web/js/{file}", env!("CARGO_MANIFEST_DIR"));
    if fs::read_to_string(&path).is_ok_and(|written| written == expected) {
        return;
    }
    assert!(
        std::env::var_os(UPDATE).is_some(),
        "{file} is not up to date: {UPDATE}=1 cargo test --lib the_page_has_the_same"
    );
    fs::write(path, expected).unwrap();
}

/// The head of a file.
pub(crate) fn head(about: &str, source: &str) -> String {
    format!("/**\n * {about}\n * Written by a test, from `{source}`.\n */\n")
}

fn quoted(text: &str) -> String {
    format!("'{text}'")
}

fn constants<T: Copy, D: Display>(table: &[(&str, T, &str)], write: impl Fn(T) -> D) -> String {
    let mut text = String::new();
    for (name, value, meaning) in table {
        let value = write(*value);
        writeln!(text, "\n/** {meaning} */\nexport const {name} = {value};").unwrap();
    }
    text
}

#[test]
fn the_page_has_the_same_events() {
    let about = "The events of the notifications that an agent gets from its host and a gateway.";
    let head = head(about, "src/dialect/events.rs");
    let text = head + &constants(events::TABLE, quoted);
    // A part that pages load on demand shares no file with what every page loads.
    for file in ["events.js", "json-rpc/events.js"] {
        holds(file, &text);
    }
}

#[test]
fn the_page_has_the_same_codes_of_json_rpc() {
    let head = head("Codes of JSON-RPC errors.", "src/dialect/json_rpc.rs");
    let codes = constants(code::TABLE, |code| code);
    holds("json-rpc/codes.js", &(head + &codes));
}

#[test]
fn the_page_has_the_same_methods_of_json_rpc() {
    let head = head("Methods of JSON-RPC.", "src/dialect/json_rpc.rs");
    let methods = constants(method::TABLE, quoted);
    holds("json-rpc/methods.js", &(head + &methods));
}

#[test]
fn the_page_has_the_same_ways_to_cancel() {
    let about = "How each dialect cancels a request, and whether the request is still answered.";
    let mut text = head(about, "src/dialect/json_rpc.rs");
    write!(
        text,
        "\nexport const MAX_REASON = {MAX_REASON};\n\nexport const WAYS = [\n"
    )
    .unwrap();
    for it in &WAYS {
        writeln!(
            text,
            "  {{ dialect: '{}', method: '{}', id: '{}', reason: {}, answered: {} }},",
            it.dialect, it.method, it.id, it.reason, it.answered
        )
        .unwrap();
    }
    holds("json-rpc/ways.js", &(text + "];\n"));
}

#[test]
fn the_page_has_the_same_versions_of_mcp() {
    let about = "What the versions of MCP have, the oldest first.";
    let mut text = head(about, "src/dialect/mcp.rs");
    text.push_str("export const VERSIONS = [\n");
    for it in &VERSIONS {
        let mcp::Version {
            name,
            sessions,
            batches,
            audio,
            structure,
        } = it;
        writeln!(
            text,
            "  {{ name: '{name}', sessions: {sessions}, batches: {batches}, audio: {audio}, structure: {structure} }},"
        )
        .unwrap();
    }
    write!(
        text,
        "];\n\n/** Messages in one array. */\nexport const MAX_BATCH = {MAX_BATCH};\n"
    )
    .unwrap();
    holds("json-rpc/versions.js", &text);
}
