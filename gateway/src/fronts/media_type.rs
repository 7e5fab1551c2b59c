//! The media type of a request's body.

use axum::http::header::{CONTENT_TYPE, HeaderMap};

/// A media type in lower case, without its parameters: `application/json` for `Application/JSON;
/// charset=utf-8`.
pub fn essence(media_type: &str) -> String {
    let (essence, _) = media_type.split_once(';').unwrap_or((media_type, ""));
    essence.trim().to_ascii_lowercase()
}

/// The [`essence`] of `Content-Type`. Empty if the header is missing or unreadable.
pub fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    essence(value.unwrap_or_default())
}
