//! Answers that refuse: `{ "detail": … }`, as FastAPI writes them.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::BODY_BYTES;
use super::problem::Problem;
use crate::broker::runs::RunId;
use crate::fronts::auth::CHALLENGE;
use crate::gateway::Unsure;
use crate::tokens::Denied;

/// A refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    body: Box<Value>,
}

impl Refusal {
    fn new(status: StatusCode, body: Value) -> Self {
        Refusal {
            status,
            body: Box::new(body),
        }
    }

    fn detail(status: StatusCode, detail: &str) -> Self {
        Refusal::new(status, json!({ "detail": detail }))
    }

    /// There is no such run.
    pub(super) fn not_found() -> Self {
        Refusal::detail(StatusCode::NOT_FOUND, "Run not found")
    }

    /// The API is off: nothing is here.
    pub(super) fn off() -> Self {
        Refusal::detail(StatusCode::NOT_FOUND, "Not Found")
    }

    /// The path is known, its method is not.
    pub(super) fn method() -> Self {
        Refusal::detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
    }

    /// The body is too large, or stops short.
    pub(super) fn body() -> Self {
        let detail = format!("The body is larger than {BODY_BYTES} bytes");
        Refusal::detail(StatusCode::PAYLOAD_TOO_LARGE, &detail)
    }

    /// No run is found, but not all workers could be asked.
    pub(super) fn unsure(unsure: Unsure) -> Self {
        Refusal::detail(StatusCode::SERVICE_UNAVAILABLE, &unsure.to_string())
    }

    /// An id is that of several runs.
    pub(super) fn ambiguous(runs: &[RunId]) -> Self {
        let runs: Vec<_> = runs.iter().map(RunId::to_string).collect();
        let detail = "Several runs have this id: name one by its run id";
        Refusal::new(
            StatusCode::CONFLICT,
            json!({ "detail": detail, "runIds": runs }),
        )
    }
}

impl From<Vec<Problem>> for Refusal {
    fn from(problems: Vec<Problem>) -> Self {
        Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            json!({ "detail": problems }),
        )
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Missing => Refusal::detail(StatusCode::UNAUTHORIZED, "Not authenticated"),
            Denied::Forbidden => Refusal::detail(
                StatusCode::FORBIDDEN,
                "Insufficient permissions. Required: admin.system_config",
            ),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(*self.body)).into_response();
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
