//! What is wrong with a request, as an answer: `{ "error": ABPError }`.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::broker::runs::RunId;
use crate::fronts::auth::CHALLENGE;
use crate::gateway::Unsure;
use crate::tokens::Denied;
use crate::wire::{Failure, error_json};
use caphost::call::{Code, Error};

/// A refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    pub status: StatusCode,
    pub error: Box<Failure>,
}

impl Refusal {
    fn new(status: StatusCode, error: Failure) -> Self {
        Refusal {
            status,
            error: Box::new(error),
        }
    }

    /// The request is wrong at `path`.
    pub(super) fn invalid(path: &str, message: String) -> Self {
        let error = Error::invalid_params(message).with_details(Box::new(json!({ "path": path })));
        Refusal::new(StatusCode::BAD_REQUEST, error)
    }

    /// There is no such run, or whoever asks may not know of it.
    pub(super) fn not_found() -> Self {
        let error = Error::invalid_params("Run not found");
        Refusal::new(StatusCode::NOT_FOUND, error)
    }

    /// No run is found, but not all workers could be asked.
    pub(super) fn unsure(unsure: Unsure) -> Self {
        let mut error = Error::new(Code::TRANSPORT_ERROR, unsure.to_string());
        error.retryable = true;
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }

    /// An id is that of several runs.
    pub(super) fn ambiguous(runs: &[RunId]) -> Self {
        let runs: Vec<_> = runs.iter().map(RunId::to_string).collect();
        let error = Error::invalid_params("Several runs have this id: name one by its run id")
            .with_details(Box::new(json!({ "runIds": runs })));
        Refusal::new(StatusCode::CONFLICT, error)
    }

    /// The body is too large, or stops short.
    pub(super) fn body() -> Self {
        let limit = super::BODY_BYTES;
        let message = format!("The body is larger than {limit} bytes");
        let error = Error::invalid_params(message)
            .with_details(Box::new(json!({ "limit": "body", "max": limit })));
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error)
    }

    /// The path is known, its method is not.
    pub(super) fn method() -> Self {
        let error = Error::new(Code::NOT_IMPLEMENTED, "There is no such method here");
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, error)
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        let status = match denied {
            Denied::Missing => StatusCode::UNAUTHORIZED,
            Denied::Forbidden => StatusCode::FORBIDDEN,
        };
        let message = "A valid token of role agent or admin is needed";
        Refusal::new(status, Error::new(Code::PERMISSION_DENIED, message))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = Json(json!({ "error": error_json(&self.error) }));
        let mut response = (self.status, body).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(RETRY_AFTER, soon);
        }
        response
    }
}
