//! The meaning of an app's answer to a call or a cancel. It is read here and nowhere else, and every dialect,
//! the run and the metrics use this reading. What an answer counts as is decided as in the page, by
//! `src/dialect/answers.rs`.

use serde_json::{Value, json};

use super::said::{Said, Unchecked, push, said_with_the_rest, with_grade};
use super::scan::{members, text_of};
use caphost::call::Code;
use caphost::dialect::answers::{Answer, Confirmation};

const NO_RESPONSE: &str = "`success` of an ABPResponse must be true or false";
const NO_CONFIRMATION: &str = "`cancelled` of a CancelResponse must be true or false";
const BOTH: &str = "a CancelResponse with `cancelled: true` has no error";
/// The message of an error for which the app has given none.
const NO_MESSAGE: &str = "The app did not say what went wrong";

/// Reads an answer to a call.
pub fn answer_to_call(payload: &str) -> Said<'_> {
    let (mut read, rest) = said_with_the_rest(payload);
    let claim = Some(read.cancelled);
    match Answer::of(read.success, claim, read.code.as_deref(), read.grade) {
        Answer::Unreadable => {
            read.cancelled = false;
            read.unreadable = Some(NO_RESPONSE);
        }
        Answer::Succeeded => read.mended = without_claim(payload, &rest).map(Into::into),
        Answer::Cancelled(_) if read.cancelled => {}
        // A cancelled call in the form of a failure.
        Answer::Cancelled(grade) => {
            read.cancelled = true;
            read.grade = grade;
            read.exact = true;
            (read.error, read.code) = (None, None);
            let plain = r#"{"success":false,"cancelled":true}"#;
            read.mended = Some(with_grade(plain, grade).into());
        }
        Answer::Failed | Answer::Undecided => {
            let plain = without_claim(payload, &rest);
            let error = readable_error(&mut read, &rest);
            let before = plain.as_deref().unwrap_or(payload);
            let mended = error.map(|error| with_member(before, "error", &error));
            read.mended = mended.or(plain).map(Into::into);
        }
    }
    read
}

/// Reads an answer to a cancel.
pub fn answer_to_cancel(payload: &str) -> Said<'_> {
    let (mut read, rest) = said_with_the_rest(payload);
    let cancelled = match rest.claim {
        Some(b"true") => Some(true),
        Some(b"false") => Some(false),
        _ => None,
    };
    let has_error = read.error.is_some();
    let confirmation = Confirmation::of(cancelled, has_error, read.code.as_deref(), read.grade);
    read.cancelled = matches!(confirmation, Confirmation::Cancelled(_));
    if confirmation == Confirmation::Unreadable {
        read.unreadable = Some(if has_error { BOTH } else { NO_CONFIRMATION });
    }
    read
}

/// The payload without a `cancelled` that contradicts the rest, if it has one.
fn without_claim(payload: &str, rest: &Unchecked<'_>) -> Option<String> {
    let claim = rest.claim?;
    (claim != b"false" && claim != b"null").then(|| without(payload, "cancelled"))
}

/// If the error of a failure is not one that every agent can read, the failure gets one, which is returned.
fn readable_error(read: &mut Said<'_>, rest: &Unchecked<'_>) -> Option<String> {
    let code = read.code.clone().filter(|it| !it.is_empty());
    let message = read.message.clone().filter(|it| !it.is_empty());
    if code.is_some() && message.is_some() {
        return None;
    }
    let code = code.unwrap_or(Code::OPERATION_FAILED.as_str().into());
    // Some apps give the error as a text.
    let text = || text_of(rest.error).filter(|it| !it.is_empty());
    let message = message.or_else(text).unwrap_or(NO_MESSAGE.into());
    let mut written = String::new();
    members(rest.error, |key, value| {
        if !matches!(key, "code" | "message") {
            push(&mut written, key, value);
        }
    });
    let mut add = |key, value: Value| push(&mut written, key, value.to_string().as_bytes());
    add("code", json!(code));
    add("message", json!(message));
    if !rest.has_retryable {
        add("retryable", Code::from(code.to_string()).retryable().into());
    }
    let error = format!("{{{written}}}");
    read.error = Some(error.clone().into());
    read.code = Some(code.into_owned().into());
    read.message = Some(message.into_owned().into());
    Some(error)
}

/// The payload with that member, whatever it was before.
fn with_member(payload: &str, name: &str, value: &str) -> String {
    let mut written = without(payload, name);
    written.truncate(written.len() - 1);
    written.push_str(if written == "{" { "" } else { "," });
    format!(r#"{written}"{name}":{value}}}"#)
}

/// The payload without that member.
fn without(payload: &str, name: &str) -> String {
    let mut written = String::with_capacity(payload.len());
    members(payload.as_bytes(), |key, value| {
        if key != name {
            push(&mut written, key, value);
        }
    });
    format!("{{{written}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> Value {
        let text = include_str!("../../../tests/conformance/abp/answers.json");
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_an_answer_to_a_call_counts_as() {
        for vector in vectors()["calls"].as_array().unwrap() {
            let payload = vector["payload"].to_string();
            let read = answer_to_call(&payload);
            let mended = read.mended.as_deref().unwrap_or(&payload);
            let mended: Value = serde_json::from_str(mended).unwrap_or_default();
            let got = match (read.unreadable, read.cancelled, read.success) {
                (Some(_), ..) => json!({ "unreadable": true }),
                (_, true, _) => json!({ "cancelled": read.grade.stop.as_str() }),
                (.., Some(true)) => json!({ "success": mended["data"] }),
                _ => json!({ "error": mended["error"] }),
            };
            assert_eq!(got, vector["is"], "{payload}");
            if read.unreadable.is_none() && !read.cancelled {
                let claim = &mended["cancelled"];
                assert!(claim.is_null() || claim == false, "{payload}");
            }
        }
    }

    #[test]
    fn what_an_answer_to_a_cancel_counts_as() {
        for vector in vectors()["cancels"].as_array().unwrap() {
            let payload = vector["payload"].to_string();
            let read = answer_to_cancel(&payload);
            let is_another = read.is_of_another(r#""mine""#);
            let got = match (read.unreadable.is_some() || is_another, read.cancelled) {
                (true, _) => json!("unreadable"),
                (_, true) => json!(read.grade.stop.as_str()),
                _ => json!(false),
            };
            assert_eq!(got, vector["is"], "{payload}");
        }
    }
}
