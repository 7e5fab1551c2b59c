//! Standard output, whose reader may have left and whose disk may be full.

use std::io::{ErrorKind, Write, stderr, stdout};

use serde_json::Value;

use super::json;

/// Prints a line or several, all of them written when this returns.
///
/// A reader that has left, as `head` does, has what it wanted and is no error.
pub(in super::super) fn print(text: &str) -> Result<(), String> {
    let mut out = stdout().lock();
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes a line or several on standard error. Where that is closed, nobody reads it.
pub(in super::super) fn say(text: &str) {
    let _ = stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints a document for scripts.
pub(in super::super) fn print_json(document: &Value) -> Result<(), String> {
    print(&json(document))
}
