//! What an answer says, without parsing the rest of it.

use std::borrow::Cow;

use super::outline;
use super::scan::{member, members, text_of};
use super::stops::{self, Grade};

/// What the payload of an answer says that its relaying depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said<'a> {
    /// `success`, if it is a boolean.
    pub success: Option<bool>,
    /// `cancelled: true`, and not a success.
    pub cancelled: bool,
    /// How far `metadata` says that the stop was seen.
    pub grade: Grade,
    /// That is all there, and in words that are known here.
    pub exact: bool,
    /// `reason`, if it is a string.
    pub reason: Option<Cow<'a, str>>,
    /// `error` as JSON, if it is an object.
    pub error: Option<&'a str>,
    /// `error.code`, if it is a string.
    pub code: Option<Cow<'a, str>>,
    /// Why nobody can tell what it says.
    pub unreadable: Option<&'static str>,
    /// The payload as agents are to read it, if that is not as the app has written it.
    pub mended: Option<Box<str>>,
}

/// Reads it.
pub fn said(payload: &str) -> Said<'_> {
    let mut said = Said::default();
    members(payload.as_bytes(), |key, value| match key {
        "cancelled" => said.cancelled = value == b"true",
        "success" => {
            said.success = match value {
                b"true" => Some(true),
                b"false" => Some(false),
                _ => None,
            }
        }
        "metadata" => (said.grade, said.exact) = grade_in(value),
        "reason" => said.reason = text_of(value),
        "error" => {
            said.error = std::str::from_utf8(value)
                .ok()
                .filter(|it| it.starts_with('{'));
            said.code = member(value, "code").and_then(text_of);
        }
        _ => {}
    });
    said.cancelled &= said.success != Some(true);
    said
}

impl Said<'_> {
    /// Whether it says that, and nothing of it that cannot be read.
    pub fn says(&self, grade: Grade) -> bool {
        self.exact && self.grade == grade
    }
}

/// What `metadata` says of a stop, and whether every reader reads the same there.
fn grade_in(metadata: &[u8]) -> (Grade, bool) {
    let read = outline(
        metadata,
        &["stop", "step", "took", "ended.success", "ended.after"],
    );
    let grade = stops::read(&read);
    let has = |name: &str| read.get(name).is_some();
    let exact = read["stop"] == grade.stop.as_str()
        && (has("step") || has("took")) == grade.by.is_some()
        && has("ended") == grade.late_end.is_some();
    (grade, exact)
}

/// The payload with that in its `metadata`, whatever it said of it before. All else stays.
pub fn with_grade(payload: &str, grade: Grade) -> String {
    let mut written = String::with_capacity(payload.len() + 96);
    let mut metadata = String::new();
    members(payload.as_bytes(), |key, value| match key {
        "metadata" => {
            metadata.clear();
            members(value, |key, value| {
                if !matches!(key, "stop" | "step" | "took" | "ended") {
                    push(&mut metadata, key, value);
                }
            });
        }
        _ => push(&mut written, key, value),
    });
    for (name, value) in stops::metadata(grade).as_object().into_iter().flatten() {
        push(&mut metadata, name, value.to_string().as_bytes());
    }
    let metadata = format!("{{{metadata}}}");
    push(&mut written, "metadata", metadata.as_bytes());
    format!("{{{written}}}")
}

/// Adds a member to the inside of an object.
pub(super) fn push(object: &mut String, key: &str, value: &[u8]) {
    let Ok(value) = std::str::from_utf8(value) else {
        return;
    };
    // It was read: it is escaped again.
    let key = serde_json::Value::from(key).to_string();
    if !object.is_empty() {
        object.push(',');
    }
    object.extend([&key, ":", value]);
}

#[cfg(test)]
mod tests;
