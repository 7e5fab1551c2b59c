//! What is looked at of a request's head before the SDK gets it.

use axum::http::StatusCode;
use axum::http::header::{ACCEPT, HeaderMap, HeaderValue};

use super::refusal::{invalid_request, status};
use crate::fronts::media_type::content_type;
use crate::fronts::media_type::essence;
use crate::fronts::refusal::Refusal;

/// The longest app id there is, in characters.
const MAX_APP_ID_CHARS: usize = 128;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// An app's id from the path.
pub fn app_id(text: &str) -> Result<&str, Refusal> {
    let length = text.chars().count();
    let wrong = !(1..=MAX_APP_ID_CHARS).contains(&length)
        || text.contains('/')
        || text.chars().any(char::is_control)
        || [".", ".."].contains(&text);
    if wrong {
        let message = format!(
            "The path is /mcp/<app id>: 1 to {MAX_APP_ID_CHARS} printable characters, `/` not among them"
        );
        return Err(invalid_request(message));
    }
    Ok(text)
}

/// Checks the type of a body and the types its answer may have, which are then both.
pub fn check_types(headers: &mut HeaderMap) -> Result<(), Refusal> {
    if content_type(headers) != JSON {
        let message = format!("Content-Type must be {JSON}");
        return Err(status(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let accepted: Vec<_> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(essence)
        .collect();
    let accepts = |kind: &str| accepted.iter().any(|it| it == kind || it == "*/*");
    if !accepts(JSON) || !accepts(EVENTS) {
        let message = format!("Accept must have both {JSON} and {EVENTS}");
        return Err(status(StatusCode::NOT_ACCEPTABLE, message));
    }
    // The SDK takes no wildcard.
    if accepted.iter().any(|it| it == "*/*") {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::http::header::CONTENT_TYPE;

    use super::*;

    #[test]
    fn app_ids_are_names_and_no_paths() {
        assert_eq!(app_id("caphost-demo").unwrap(), "caphost-demo");
        assert_eq!(app_id("é app").unwrap(), "é app");
        for bad in [
            "",
            "a/b",
            "/",
            "..",
            ".",
            "a\0b",
            "a\nb",
            &"x".repeat(129),
            &"x".repeat(10_000),
        ] {
            assert!(app_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn types_are_checked_as_the_protocol_has_them() {
        let headers = |pairs: &[(axum::http::HeaderName, &'static str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
                .collect()
        };
        let json = (CONTENT_TYPE, "application/json; charset=utf-8");
        let both = (ACCEPT, "application/json, text/event-stream");
        let mut good: HeaderMap = headers(&[json.clone(), both.clone()]);
        assert!(check_types(&mut good).is_ok());
        let mut any: HeaderMap = headers(&[json.clone(), (ACCEPT, "*/*")]);
        assert!(check_types(&mut any).is_ok());
        assert_eq!(any[ACCEPT], both.1);
        for bad in [
            headers(std::slice::from_ref(&both)),
            headers(&[(CONTENT_TYPE, "text/plain"), both]),
            headers(std::slice::from_ref(&json)),
            headers(&[json.clone(), (ACCEPT, "application/json")]),
            headers(&[json, (ACCEPT, "text/html")]),
        ] {
            let mut bad: HeaderMap = bad;
            assert!(check_types(&mut bad).is_err(), "{bad:?}");
        }
    }
}
