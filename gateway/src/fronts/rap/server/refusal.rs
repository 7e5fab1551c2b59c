//! Requests that are not taken: an HTTP status and `{ error: ABPError }`.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::fronts::auth::CHALLENGE;
use crate::tokens::Denied;
use crate::wire::{Failure, error_json};
use caphost::call::{Code, Error};

/// Why a request is not taken.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: Failure,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: Failure) -> Self {
        Refusal { status, error }
    }

    /// 400, for what the request says.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            Error::invalid_params(message.into()),
        )
    }

    /// 403
    pub(super) fn denied(message: impl Into<String>) -> Self {
        Refusal::new(
            StatusCode::FORBIDDEN,
            Error::new(Code::PERMISSION_DENIED, message.into()),
        )
    }

    /// With `Retry-After`: 429 for who asks too much, 503 for when there is too much of all.
    pub(super) fn later(status: StatusCode, message: impl Into<String>, wait: Duration) -> Self {
        let mut error = Error::new(Code::RATE_LIMITED, message.into());
        error.retry_after = Some(wait.as_secs_f64() * 1_000.0);
        Refusal::new(status, error)
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Missing => {
                let message = "A valid token of role agent is needed";
                Refusal::new(
                    StatusCode::UNAUTHORIZED,
                    Error::new(Code::PERMISSION_DENIED, message),
                )
            }
            Denied::Forbidden => Refusal::denied("That token is not of role agent"),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal { status, error } = self;
        let json = json!({ "error": error_json(&error) }).to_string();
        let mut response = (status, json).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        if let Some(wait) = error.retry_after {
            // Whole seconds, and never sooner than it makes sense.
            headers.insert(
                RETRY_AFTER,
                HeaderValue::from((wait / 1_000.0).ceil().max(1.0) as u64),
            );
        }
        response
    }
}
