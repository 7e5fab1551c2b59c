//! What an answer says, without parsing the rest of it.

use std::borrow::Cow;

use super::outline;
use super::scan::{members, text_of};
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
    /// `data` as JSON, if it is there and not null.
    pub data: Option<&'a str>,
    /// `metadata`, as JSON.
    pub metadata: Option<&'a str>,
    /// `error` as JSON, if it is an object, or as agents are to read it.
    pub error: Option<Cow<'a, str>>,
    /// `error.code`, if it is a string.
    pub code: Option<Cow<'a, str>>,
    /// `error.message`, if it is a string.
    pub message: Option<Cow<'a, str>>,
    /// `callId`, as JSON.
    pub call_id: Option<&'a [u8]>,
    /// Why nobody can tell what it says.
    pub unreadable: Option<&'static str>,
    /// The payload as agents are to read it, if that is not as the app has written it.
    pub mended: Option<Box<str>>,
}

/// The rest of an answer, which decides only how agents read it.
#[derive(Debug, Default)]
pub(super) struct Unchecked<'a> {
    /// `cancelled`, as JSON.
    pub claim: Option<&'a [u8]>,
    /// `error`, as JSON of any type.
    pub error: &'a [u8],
    /// `error` says whether the call may be repeated.
    pub has_retryable: bool,
}

/// Reads an answer.
pub fn said(payload: &str) -> Said<'_> {
    said_with_the_rest(payload).0
}

/// Reads an answer, once from its beginning to its end.
pub(super) fn said_with_the_rest(payload: &str) -> (Said<'_>, Unchecked<'_>) {
    let (mut said, mut rest) = (Said::default(), Unchecked::default());
    let json = |value| str::from_utf8(value).ok();
    members(payload.as_bytes(), |key, value| match key {
        "cancelled" => rest.claim = Some(value),
        "callId" => said.call_id = Some(value),
        "success" => {
            said.success = match value {
                b"true" => Some(true),
                b"false" => Some(false),
                _ => None,
            }
        }
        "data" => said.data = json(value).filter(|it| *it != "null"),
        "metadata" => {
            said.metadata = json(value);
            (said.grade, said.exact) = grade_in(value);
        }
        "reason" => said.reason = text_of(value),
        "error" => {
            rest.error = value;
            said.error = json(value).map(Cow::Borrowed);
        }
        _ => {}
    });
    said.error = said.error.filter(|error| error.starts_with('{'));
    members(rest.error, |key, value| match key {
        "code" => said.code = text_of(value),
        "message" => said.message = text_of(value),
        "retryable" => rest.has_retryable = true,
        _ => {}
    });
    said.cancelled = rest.claim == Some(b"true") && said.success != Some(true);
    (said, rest)
}

impl Said<'_> {
    /// Whether it says that, and nothing of it that cannot be read.
    pub fn says(&self, grade: Grade) -> bool {
        self.exact && self.grade == grade
    }

    /// Whether the answer to a cancel names another call than the cancel does, with this callId as JSON.
    pub fn is_of_another(&self, call_id: &str) -> bool {
        let named = self.call_id.filter(|it| *it != b"null");
        named.is_some_and(|named| text_of(named) != text_of(call_id.as_bytes()))
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
