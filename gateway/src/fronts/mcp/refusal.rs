//! Why a request of MCP over HTTP is not served.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use serde_json::value::RawValue;

use crate::fronts::jsonrpc::message::code;
use crate::fronts::refusal::Refusal;
use crate::wire::Failure;
use caphost::call::{Code, Error};

/// A text of the SDK's is at most this long.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// With that status.
pub fn status(status: StatusCode, message: impl Into<String>) -> Refusal {
    Refusal::new(status, Failure::invalid_params(message.into()))
}

/// 400: no request of JSON-RPC.
pub fn invalid_request(message: impl Into<String>) -> Refusal {
    Refusal::invalid(message)
}

/// 400: no JSON.
pub fn parse_error(message: impl Into<String>) -> Refusal {
    Refusal::invalid(message).with_rpc_code(code::PARSE_ERROR)
}

/// 400: parameters that are not those of the method.
pub fn invalid_params(message: impl Into<String>) -> Refusal {
    Refusal::invalid(message).with_rpc_code(code::INVALID_PARAMS)
}

/// 403: the token is for another app.
pub fn other_app(app: &str) -> Refusal {
    let message = format!("The token is not for the app {app:?}");
    status(StatusCode::FORBIDDEN, message)
}

/// 404: nobody to begin a session with.
pub fn no_app(app: &str) -> Refusal {
    let message = format!("No app with id {app:?} is connected");
    let error = Error::new(Code::DISCONNECTED, message);
    Refusal::new(StatusCode::NOT_FOUND, error).with_rpc_code(code::INVALID_PARAMS)
}

/// 404: it has ended, or never was, or is another's.
pub fn no_session() -> Refusal {
    Refusal::not_found("Session not found")
}

/// 503: it may be on another worker, and nobody can say.
pub fn unknown_for_now() -> Refusal {
    let message = "Whether there is such a session is not known at the moment";
    let error = Error::new(Code::DISCONNECTED, message);
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// 503: too many.
pub fn no_room() -> Refusal {
    let error = Error::new(Code::RATE_LIMITED, "Too many MCP sessions");
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// The answer to the request with that id.
pub fn answer(refusal: Refusal, id: Option<&RawValue>) -> Response {
    let mut response = refusal.in_json_rpc(id);
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = HeaderValue::from_static("GET, POST, DELETE");
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
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
    let refusal = self::status(status, String::from_utf8_lossy(&text));
    let (answer, body) = answer(refusal, id).into_parts();
    parts.headers.extend(answer.headers);
    parts.headers.remove(CONTENT_LENGTH);
    parts.status = answer.status;
    Response::from_parts(parts, Body::new(body))
}
