//! Refusals of requests: one error for all fronts, which each front writes in its own way.

use std::borrow::Cow;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::broker::calls::RunId;
use crate::gateway::{Gone, Unsure};
use crate::gateway::{Placed, Sought};
use crate::tokens::Denied;
use crate::wire::json_rpc::{Id, RpcError, code};
use crate::wire::{Failure, error_json};
use caphost::call::{Code, Error};

/// How a front writes a refusal.
pub(crate) type Write = fn(Refusal) -> Response;

/// `WWW-Authenticate` of an answer with status 401.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"caphost\"");

/// Why a request is refused. As a response of its own it is `{ "error": ABPError }`.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// The code, message and details.
    pub error: Failure,
    /// The code in JSON-RPC.
    pub rpc_code: i32,
    /// Seconds to wait before the next try.
    pub retry_after: Option<u64>,
    /// Whether the log says that a token is missing or wrong.
    is_of_token: bool,
    /// Whether the rest of the request's body stays unread.
    is_unread: bool,
}

/// Why a response refuses a token, for the log.
#[derive(Clone, Debug)]
pub(crate) struct TokenRefused(pub Cow<'static, str>);

impl Refusal {
    /// A refusal whose code in JSON-RPC follows from the status.
    pub(crate) fn new(status: StatusCode, error: Failure) -> Self {
        let rpc_code = match status {
            StatusCode::NOT_FOUND => code::NOT_FOUND,
            status if status.is_server_error() => code::INTERNAL_ERROR,
            _ => code::INVALID_REQUEST,
        };
        let wait = error.retry_after;
        Refusal {
            status,
            error,
            rpc_code,
            // Whole seconds, at least one.
            retry_after: wait.map(|ms| (ms / 1_000.0).ceil().max(1.0) as u64),
            is_of_token: false,
            is_unread: false,
        }
    }

    /// 400: something in the request is wrong.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let error = Error::new(Code::INTERNAL_ERROR, message.into());
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        let error = Error::invalid_params(message.into());
        Refusal::new(StatusCode::BAD_REQUEST, error)
    }

    /// 400: the value at `path` is wrong.
    pub(crate) fn invalid_at(path: &str, message: String) -> Self {
        let mut refusal = Refusal::invalid(message);
        refusal.error.details = Some(Box::new(json!({ "path": path })));
        refusal
    }

    /// 401 without a known token, 403 if the token's role does not allow the request. The messages say which.
    pub(crate) fn denied(denied: Denied, missing: &'static str, forbidden: &'static str) -> Self {
        Refusal::of_token(
            denied,
            match denied {
                Denied::Missing => missing,
                Denied::Forbidden => forbidden,
            },
        )
    }

    /// 401 or 403 with that message.
    pub(crate) fn of_token(denied: Denied, message: impl Into<Cow<'static, str>>) -> Self {
        let status = match denied {
            Denied::Missing => StatusCode::UNAUTHORIZED,
            Denied::Forbidden => StatusCode::FORBIDDEN,
        };
        let mut refusal = Refusal::new(status, Error::new(Code::PERMISSION_DENIED, message));
        refusal.is_of_token = true;
        refusal
    }

    /// The log has already said so.
    pub(crate) fn already_logged(mut self) -> Self {
        self.is_of_token = false;
        self
    }

    /// 403: the requester may not do this.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        let error = Error::new(Code::PERMISSION_DENIED, message.into());
        Refusal::new(StatusCode::FORBIDDEN, error)
    }

    /// With `Retry-After`: 429 when one requester asks too often, 503 when all together do.
    pub(crate) fn later(status: StatusCode, message: impl Into<String>, wait: Duration) -> Self {
        let mut error = Error::new(Code::RATE_LIMITED, message.into());
        error.retry_after = Some(wait.as_secs_f64() * 1_000.0);
        Refusal::new(status, error)
    }

    /// 503: another request may be served in a second.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        let wait = Duration::from_secs(1);
        Refusal::later(StatusCode::SERVICE_UNAVAILABLE, message, wait)
    }

    /// 404
    pub(crate) fn not_found(message: &'static str) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, Error::invalid_params(message))
    }

    /// 409: several apps are connected, and none is named. Else 404.
    pub(crate) fn no_app(error: Failure) -> Self {
        let status = match error.code == Code::INVALID_PARAMS {
            true => StatusCode::CONFLICT,
            false => StatusCode::NOT_FOUND,
        };
        Refusal::new(status, error)
    }

    /// 404: there is no such run, or the requester may not know of it.
    pub(crate) fn no_run() -> Self {
        Refusal::not_found("Run not found")
    }

    /// 405: the path exists, but not with this method.
    pub(crate) fn method(message: &'static str) -> Self {
        let error = Error::new(Code::NOT_IMPLEMENTED, message);
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, error)
    }

    /// 413: the body has more bytes than `max`, or stops short.
    pub(crate) fn body(max: usize) -> Self {
        let details = json!({ "limit": "body", "max": max });
        let error = Error::invalid_params(format!("The body is larger than {max} bytes"))
            .with_details(Box::new(details));
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error)
    }

    /// 409: several runs have this id.
    pub(crate) fn ambiguous(runs: &[RunId]) -> Self {
        let runs: Vec<_> = runs.iter().map(RunId::to_string).collect();
        let error = Error::invalid_params("Several runs have this id: name one by its run id")
            .with_details(Box::new(json!({ "runIds": runs })));
        Refusal::new(StatusCode::CONFLICT, error)
    }

    /// With another code in JSON-RPC.
    pub(crate) fn with_rpc_code(mut self, code: i32) -> Self {
        self.rpc_code = code;
        self
    }

    /// The rest of the request's body stays unread. What still comes is no request, so the connection closes.
    pub(crate) fn unread(mut self) -> Self {
        self.is_unread = true;
        self
    }

    /// The response with that body. A request that is too late gets the same answer on all paths.
    fn with_body(self, mut body: Value) -> Response {
        if self.status == StatusCode::REQUEST_TIMEOUT {
            body = json!({ "error": error_json(&self.error) });
        }
        let mut response = (self.status, Json(body)).into_response();
        if self.is_of_token {
            let refused = TokenRefused(self.error.message.clone());
            response.extensions_mut().insert(refused);
        }
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if self.is_unread {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// 503: no run is found, but not all workers could be asked.
impl From<Unsure> for Refusal {
    fn from(unsure: Unsure) -> Self {
        let mut error = Error::new(Code::TRANSPORT_ERROR, unsure.to_string());
        error.retryable = true;
        let mut refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error);
        refusal.retry_after = Some(1);
        refusal
    }
}

/// 410: the run was, or may have been, on a worker that is gone.
impl From<Gone> for Refusal {
    fn from(gone: Gone) -> Self {
        let error = Error::new(Code::DISCONNECTED, gone.to_string());
        Refusal::new(StatusCode::GONE, error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({ "error": error_json(&self.error) });
        self.with_body(body)
    }
}

/// A refusal in JSON-RPC. Its id is `null` if the request's id is unknown.
#[derive(Debug)]
pub(crate) struct JsonRpc(pub Refusal, pub Option<Id>);

impl<R: Into<Refusal>> From<R> for JsonRpc {
    fn from(refusal: R) -> Self {
        JsonRpc(refusal.into(), None)
    }
}

impl IntoResponse for JsonRpc {
    fn into_response(self) -> Response {
        let JsonRpc(mut refusal, id) = self;
        let error = &mut refusal.error;
        let mut answer = RpcError::new(refusal.rpc_code, &*error.message);
        answer.data = match error.retryable {
            true => Some(error_json(error)),
            false => error.details.take().map(|details| *details),
        };
        let id = id.as_ref().map_or(&Value::Null, Id::value);
        let answer = answer.answer(id);
        refusal.with_body(answer)
    }
}

/// A refusal in FastAPI's form: `{ "detail": … }`. The detail is the message, or the list of all mistakes if
/// the details are a list. Of other details only those of an ambiguous id stand here.
#[derive(Debug)]
pub(crate) struct FastApi(pub Refusal);

impl<R: Into<Refusal>> From<R> for FastApi {
    fn from(refusal: R) -> Self {
        FastApi(refusal.into())
    }
}

impl IntoResponse for FastApi {
    fn into_response(self) -> Response {
        let FastApi(refusal) = self;
        let (message, details) = (&refusal.error.message, &refusal.error.details);
        let body = match details.as_deref() {
            Some(details @ Value::Array(_)) => json!({ "detail": details }),
            Some(details) if details["runIds"].is_array() => {
                json!({ "detail": message, "runIds": details["runIds"] })
            }
            _ => json!({ "detail": message }),
        };
        refusal.with_body(body)
    }
}

/// The one run that was searched for.
pub(crate) fn found(sought: Sought) -> Result<Box<Placed>, Refusal> {
    match sought {
        Sought::One(placed) => Ok(placed),
        Sought::None => Err(Refusal::no_run()),
        Sought::Several(runs) => Err(Refusal::ambiguous(&runs)),
        Sought::Unsure(unsure) => Err(unsure.into()),
        Sought::Gone(gone) => Err(gone.into()),
    }
}

/// A JSON text as a response.
pub(crate) fn json_text(status: StatusCode, text: impl Into<Body>) -> Response {
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], text.into()).into_response()
}
