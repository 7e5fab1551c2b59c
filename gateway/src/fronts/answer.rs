//! HTTP answers of the gateway's own.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::wire::{Failure, error_json};

/// A JSON text as a response.
pub(crate) fn json_text(status: StatusCode, text: String) -> Response {
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], text).into_response()
}

/// An error as a response.
pub(crate) fn refuse(status: StatusCode, error: &Failure) -> Response {
    json_text(status, json!({ "error": error_json(error) }).to_string())
}
