//! Holds the page's copy of the table to the table.

use std::fmt::Write;
use std::fs;

use super::{MAX_BATCH, VERSIONS};

/// Set to have the file rewritten instead.
const UPDATE: &str = "CAPHOST_UPDATE_DOCS";

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/web/js/json-rpc/versions.js"
);

fn script() -> String {
    let mut text = String::from(
        "/**\n * What the versions of MCP have, the oldest first. Written by a test of `src/dialect/mcp.rs`, where\n \
         * each member is described.\n */\nexport const VERSIONS = [\n",
    );
    for it in &VERSIONS {
        writeln!(
            text,
            "  {{ name: '{}', sessions: {}, batches: {}, audio: {}, structure: {} }},",
            it.name, it.sessions, it.batches, it.audio, it.structure
        )
        .unwrap();
    }
    write!(
        text,
        "];\n\n/** Messages in one array. */\nexport const MAX_BATCH = {MAX_BATCH};\n"
    )
    .unwrap();
    text
}

#[test]
fn the_page_knows_the_same_versions() {
    let expected = script();
    if fs::read_to_string(FILE).is_ok_and(|written| written == expected) {
        return;
    }
    assert!(
        std::env::var_os(UPDATE).is_some(),
        "{FILE} is not up to date: {UPDATE}=1 cargo test --lib the_page_knows"
    );
    fs::write(FILE, expected).unwrap();
}
