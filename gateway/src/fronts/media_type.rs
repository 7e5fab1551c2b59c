//! What the body of a request is.

use axum::http::header::{CONTENT_TYPE, HeaderMap};

/// A media type in lower case, without its parameters: of `Application/JSON; charset=utf-8` it is
/// `application/json`.
pub fn essence(media_type: &str) -> String {
    let (essence, _) = media_type.split_once(';').unwrap_or((media_type, ""));
    essence.trim().to_ascii_lowercase()
}

/// The [`essence`] of `Content-Type`; empty if there is none, or none that can be read.
pub fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    essence(value.unwrap_or_default())
}
