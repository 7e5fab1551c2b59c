//! Errors of HTTP, in the body as JSON-RPC has them.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fronts::auth::CHALLENGE;
use crate::tokens::Denied;

/// A text of the SDK's is at most this long.
const MAX_TEXT_BYTES: usize = 64 << 10;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;
/// What servers of MCP commonly answer when the session is not known.
const NO_SESSION: i32 = -32001;

/// Why a request is not served.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    code: i32,
    message: String,
    data: Option<Value>,
}

impl Refusal {
    fn new(status: StatusCode, code: i32, message: impl Into<String>) -> Self {
        Refusal {
            status,
            code,
            message: message.into(),
            data: None,
        }
    }

    /// 400: no request of JSON-RPC.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_REQUEST, message)
    }

    /// 400: no JSON.
    pub fn parse_error(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, PARSE_ERROR, message)
    }

    /// 400: parameters that are not those of the method.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, message)
    }

    /// 401 or 403.
    pub fn denied(denied: Denied) -> Self {
        match denied {
            Denied::Missing => {
                let message = "A valid token of role agent is needed";
                Self::new(StatusCode::UNAUTHORIZED, INVALID_REQUEST, message)
            }
            Denied::Forbidden => {
                let message = "The token's role may not call apps";
                Self::new(StatusCode::FORBIDDEN, INVALID_REQUEST, message)
            }
        }
    }

    /// 403: the token is for another app.
    pub fn other_app(app: &str) -> Self {
        let message = format!("The token is not for the app {app:?}");
        Self::new(StatusCode::FORBIDDEN, INVALID_REQUEST, message)
    }

    /// 404: nobody to begin a session with.
    pub fn no_app(app: &str) -> Self {
        let message = format!("No app with id {app:?} is connected");
        let mut refusal = Self::new(StatusCode::NOT_FOUND, INVALID_PARAMS, message);
        refusal.data = Some(json!({ "code": "DISCONNECTED", "retryable": true }));
        refusal
    }

    /// 404: it has ended, or never was, or is another's.
    pub fn no_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, NO_SESSION, "Session not found")
    }

    /// 503: it may be on another worker, and nobody can say.
    pub fn unknown_for_now() -> Self {
        let message = "Whether there is such a session is not known at the moment";
        let mut refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, INTERNAL_ERROR, message);
        refusal.data = Some(json!({ "code": "DISCONNECTED", "retryable": true }));
        refusal
    }

    /// 503: too many.
    pub fn no_room() -> Self {
        let message = "Too many MCP sessions";
        let mut refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, INTERNAL_ERROR, message);
        refusal.data = Some(json!({ "code": "RATE_LIMITED", "retryable": true }));
        refusal
    }

    /// Any other.
    pub fn status(status: StatusCode, message: impl Into<String>) -> Self {
        let code = match status {
            StatusCode::NOT_FOUND => NO_SESSION,
            status if status.is_server_error() => INTERNAL_ERROR,
            _ => INVALID_REQUEST,
        };
        Self::new(status, code, message)
    }

    /// The answer to the request with that id, as JSON.
    pub fn answer(self, id: Option<&RawValue>) -> Response {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        let id: Value = id.map_or(Value::Null, |id| json!(id));
        let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status, [(CONTENT_TYPE, json)], body).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
        }
        response
    }
}

/// The SDK's answer, its errors in the same form as ours.
pub async fn in_json(response: Response, id: Option<&RawValue>) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_text = response
        .headers()
        .get(CONTENT_TYPE)
        .is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !is_error || !is_text {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = to_bytes(body, MAX_TEXT_BYTES)
        .await
        .unwrap_or_else(|_| Bytes::new());
    // The type of the body has been looked at before: what is left is a body that is no message.
    let status = match status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => StatusCode::BAD_REQUEST,
        status => status,
    };
    let text = String::from_utf8_lossy(&text);
    let (answer, body) = Refusal::status(status, text).answer(id).into_parts();
    parts.headers.extend(answer.headers);
    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
    parts.status = answer.status;
    Response::from_parts(parts, Body::new(body))
}
