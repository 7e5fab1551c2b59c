//! What an answer says, without parsing the rest of it.

use std::borrow::Cow;

use super::scan::{members, text_of};
use crate::wire::stopped_by;
use crate::wire::stops::{self, Grade};
use caphost::call::{LateEnd, Stop, StoppedBy};

/// What the payload of an answer says that its relaying depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said<'a> {
    /// `success`, if it is a boolean.
    pub success: Option<bool>,
    /// `cancelled: true`, and not a success.
    pub cancelled: bool,
    /// `metadata.stop`, if it is there and one of the words known here.
    pub stop: Option<Stop>,
    /// `metadata.step` and `metadata.took`, if both are there and can be.
    pub by: Option<StoppedBy>,
    /// `metadata.ended`, if it is there.
    pub ended: Option<LateEnd>,
    /// Something of these is there, and cannot be read.
    pub odd: bool,
    /// `reason`, if it is a string.
    pub reason: Option<Cow<'a, str>>,
    /// `error` as JSON, if it is an object.
    pub error: Option<&'a str>,
    /// `error.code`, if it is a string.
    pub code: Option<Cow<'a, str>>,
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
        "metadata" => said.read_metadata(value),
        "reason" => said.reason = text_of(value),
        "error" => {
            said.error = std::str::from_utf8(value)
                .ok()
                .filter(|it| it.starts_with('{'));
            said.code = None;
            members(value, |key, value| {
                if key == "code" {
                    said.code = text_of(value);
                }
            });
        }
        _ => {}
    });
    said.cancelled &= said.success != Some(true);
    said
}

impl Said<'_> {
    fn read_metadata(&mut self, metadata: &[u8]) {
        let (mut stop, mut ended) = (None, None);
        let (mut step, mut took, mut written) = (None, None, [false; 2]);
        members(metadata, |key, value| match key {
            "stop" => {
                let word = text_of(value);
                stop = Stop::ALL
                    .into_iter()
                    .find(|it| word.as_deref() == Some(it.as_str()));
            }
            "ended" => (ended, written[1]) = (stops::read_ended(value), true),
            "step" => (step, written[0]) = (text_of(value), true),
            "took" => (took, written[0]) = (serde_json::from_slice(value).ok(), true),
            _ => {}
        });
        let by = stopped_by::read(step.as_deref(), took);
        self.odd = written != [by.is_some(), ended.is_some()];
        (self.stop, self.by, self.ended) = (stop, by, ended);
    }

    /// Whether it says that, and nothing of it that cannot be read.
    pub fn says(&self, grade: Grade) -> bool {
        let said = (self.stop, self.by, self.ended);
        !self.odd && said == (Some(grade.stop), grade.by, grade.ended)
    }

    /// How far it says that the stop was seen: one that does not say has shown nothing.
    pub fn grade(&self) -> Grade {
        Grade {
            stop: self.stop.unwrap_or(Stop::Abandoned),
            by: self.by,
            ended: self.ended,
        }
    }
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
    let stop = format!("\"{}\"", grade.stop.as_str());
    push(&mut metadata, "stop", stop.as_bytes());
    for (name, value) in grade.by.into_iter().flat_map(stopped_by::members) {
        push(&mut metadata, name, value.to_string().as_bytes());
    }
    if let Some(ended) = grade.ended {
        let ended = stops::ended_json(ended).to_string();
        push(&mut metadata, "ended", ended.as_bytes());
    }
    let metadata = format!("{{{metadata}}}");
    push(&mut written, "metadata", metadata.as_bytes());
    format!("{{{written}}}")
}

/// Adds a member to the inside of an object.
fn push(object: &mut String, key: &str, value: &[u8]) {
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
mod tests {
    use super::*;

    const ENDED: LateEnd = LateEnd {
        success: true,
        after: 200.0,
    };

    #[test]
    fn what_is_said_of_a_stop_is_read() {
        for (payload, cancelled, stop, ended) in [
            (r#"{"callId":"c","cancelled":true}"#, true, None, None),
            (
                r#"{"success":false,"cancelled":true,"metadata":{"stop":"returned"}}"#,
                true,
                Some(Stop::Returned),
                None,
            ),
            (
                r#"{"cancelled":true,"metadata":{"ended":{"success":true,"after":200},"stop":"gone"}}"#,
                true,
                None,
                Some(ENDED),
            ),
            (r#"{"success":true,"cancelled":true}"#, false, None, None),
            (r#"{"cancelled":"true"}"#, false, None, None),
            ("[]", false, None, None),
        ] {
            let said = said(payload);
            let read = (said.cancelled, said.stop, said.ended);
            assert_eq!(read, (cancelled, stop, ended), "{payload}");
        }
    }

    #[test]
    fn a_grade_is_written_beside_what_is_there() {
        for (before, after) in [
            ("{}", r#"{"metadata":{"stop":"dropped"}}"#),
            (
                r#"{ "success": false, "cancelled":true }"#,
                r#"{"success":false,"cancelled":true,"metadata":{"stop":"dropped"}}"#,
            ),
            (
                r#"{"metadata":{"duration":1.5,"stop":"gone","x":{"stop":1}},"cancelled":true}"#,
                r#"{"cancelled":true,"metadata":{"duration":1.5,"x":{"stop":1},"stop":"dropped"}}"#,
            ),
            (r#"{"metadata":7}"#, r#"{"metadata":{"stop":"dropped"}}"#),
            (
                r#"{"text":"\ud800","number":1e400}"#,
                r#"{"text":"\ud800","number":1e400,"metadata":{"stop":"dropped"}}"#,
            ),
        ] {
            assert_eq!(with_grade(before, Stop::Dropped.into()), after);
        }
        let by = stopped_by::read(Some("terminate"), Some(57.25));
        let ended = Some(ENDED);
        for (by, ended) in [(None, ended), (by, None), (by, ended)] {
            let stop = Stop::Abandoned;
            let grade = Grade { stop, by, ended };
            let odd = r#"{"metadata":{"ended":1,"step":"flag","took":-1}}"#;
            assert!(said(odd).odd);
            let written = with_grade(odd, grade);
            let said = said(&written);
            assert!(said.says(grade) && !said.cancelled, "{written}");
            assert_eq!(said.grade(), grade);
        }
    }

    #[test]
    fn what_has_stopped_a_call_is_read_only_as_a_whole() {
        let read = |metadata: &str| {
            let payload = format!(r#"{{"cancelled":true,"metadata":{metadata}}}"#);
            let said = said(&payload);
            (said.by, said.odd)
        };
        let by = stopped_by::read(Some("signal"), Some(3.0));
        assert_eq!(
            read(r#"{"stop":"returned","step":"signal","took":3}"#),
            (by, false)
        );
        assert_eq!(read(r#"{"stop":"returned"}"#), (None, false));
        for odd in [
            r#"{"step":"signal"}"#,
            r#"{"took":3}"#,
            r#"{"step":"kill","took":3}"#,
            r#"{"step":"signal","took":"3"}"#,
            r#"{"step":"signal","took":-3}"#,
            r#"{"step":"signal","took":1e400}"#,
            r#"{"step":7,"took":3}"#,
        ] {
            assert_eq!(read(odd), (None, true), "{odd}");
        }
    }
}
