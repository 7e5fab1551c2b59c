//! Reading the body of a request.

use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::http::header::HeaderMap;
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::fronts::media_type::content_type;
use crate::fronts::refusal::Refusal;
use crate::wire::mended_bytes;
use caphost::call::{Code, Error};

/// How many characters are said about a bad body.
const MESSAGE_CHARS: usize = 300;

/// Reads a JSON object of at most `limit` bytes.
pub(super) async fn read_json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
) -> Result<T, Refusal> {
    parse(&read(headers, body, limit).await?)
}

/// Reads a body of at most `limit` bytes whose `Content-Type` is JSON.
pub(super) async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Refusal> {
    if content_type(headers) != "application/json" {
        let message = "The body must be JSON: `Content-Type: application/json`";
        let error = Error::new(Code::INVALID_TYPE, message);
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
    }
    to_bytes(body, limit).await.map_err(|error| {
        // It is too long, or the connection broke and nobody reads the answer.
        tracing::debug!(%error, "body");
        let error = Error::invalid_params(format!("The body has more than {limit} bytes"));
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error)
    })
}

/// Reads a JSON object.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    // Serde would read an array as the members in order.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_some_and(|byte| *byte != b'{') {
        return Err(Refusal::invalid("The body must be a JSON object"));
    }
    serde_json::from_slice(&mended_bytes(bytes)).map_err(|error| {
        // The message may quote what was sent.
        let what: String = error.to_string().chars().take(MESSAGE_CHARS).collect();
        Refusal::invalid(format!("Bad body: {what}"))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::CONTENT_TYPE;
    use axum::response::IntoResponse;
    use serde_json::{Map, Value};

    use super::*;

    async fn status(kind: Option<&'static str>, body: impl Into<Body>) -> u16 {
        let mut headers = HeaderMap::new();
        if let Some(kind) = kind {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        match read_json::<Map<String, Value>>(&headers, body.into(), 10).await {
            Ok(_) => 200,
            Err(refusal) => refusal.into_response().status().as_u16(),
        }
    }

    #[tokio::test]
    async fn only_json_objects_of_bounded_size_are_read() {
        let json = Some("application/json");
        assert_eq!(status(json, "{\"a\":1}").await, 200);
        assert_eq!(
            status(Some("Application/JSON; charset=utf-8"), " {}").await,
            200
        );
        for bad in ["", "{", "[]", "null", "\"{}\"", "{}{}", "{\"a\":\u{1}}"] {
            assert_eq!(status(json, bad).await, 400, "{bad}");
        }
        assert_eq!(
            status(json, vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}']).await,
            400
        );
        assert_eq!(status(json, "{\"a\":12345}").await, 413);
        for bad in [
            None,
            Some("text/plain"),
            Some("application/jsonp"),
            Some(""),
        ] {
            assert_eq!(status(bad, "{}").await, 415, "{bad:?}");
        }
    }
}
