//! How much is kept of what others write: it stays for as long as its run is remembered.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::wire::clipped;

/// Characters of an id that anybody may ask for, of a name and of an error code, 256: as many as a
/// JSON-RPC id may have bytes.
pub const ID_CHARS: usize = 256;
/// Characters of a reason, 4 096.
pub const REASON_CHARS: usize = 4_096;
/// Bytes of a `ProgressInfo`, 8 KiB.
const PROGRESS_BYTES: usize = 8 << 10;

/// The beginning of a name or an error code.
pub(super) fn name(text: String) -> String {
    match is_long(&text, ID_CHARS) {
        true => clipped(&text, ID_CHARS).into(),
        false => text,
    }
}

/// An id, unless it is longer than anybody may ask for.
pub(super) fn id(text: Arc<str>) -> Option<Arc<str>> {
    (!is_long(&text, ID_CHARS)).then_some(text)
}

/// The beginning of an id that is only shown.
pub(super) fn shown_id(text: Arc<str>) -> Arc<str> {
    match is_long(&text, ID_CHARS) {
        true => clipped(&text, ID_CHARS).into(),
        false => text,
    }
}

/// The beginning of a reason.
pub(super) fn reason(text: &str) -> String {
    clipped(text, REASON_CHARS).into()
}

/// A `ProgressInfo`, unless it is too large.
pub(super) fn progress(info: &str) -> Option<Box<RawValue>> {
    let small = (info.len() <= PROGRESS_BYTES).then_some(info)?;
    RawValue::from_string(small.into()).ok()
}

fn is_long(text: &str, characters: usize) -> bool {
    text.len() > characters && clipped(text, characters).len() < text.len()
}
