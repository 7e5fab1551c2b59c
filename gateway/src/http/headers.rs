//! What is checked of every request, and what every answer carries.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST,
    HeaderMap, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::fronts::rap::runtime::CALLBACK_PATH;
use crate::fronts::refusal::refuse;
use crate::gateway::Hub;
use crate::http::guard::Guard;
use crate::wire::Failure;
use caphost::call::{Code, Error};

/// What the pages may do unless told otherwise: their own scripts, wasm, and blobs they made.
pub const DEFAULT_CONTENT_SECURITY_POLICY: &str = "default-src 'self'; \
    script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' blob: data:; media-src 'self' blob: data:; object-src 'self' blob: data:; \
    frame-src 'self' blob: data:; worker-src 'self' blob:; \
    connect-src 'self' ws: wss: blob: data:; base-uri 'none'; form-action 'self'";

/// How long a browser may remember what is allowed.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// The checks and the headers.
pub(crate) struct Policy {
    pub guard: Guard,
    pub hub: Arc<Hub>,
    pub content_security_policy: Option<HeaderValue>,
}

/// Turns away what is addressed to another name than ours, and adds the headers.
pub(crate) async fn apply(
    State(policy): State<Arc<Policy>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match policy.wrong_host(request.headers()) {
        Some((status, error)) => turn_away(&request, status, &error),
        None => next.run(request).await,
    };
    policy.hub.metrics.http_answered(response.status().as_u16());
    let unread = response.status() == StatusCode::PAYLOAD_TOO_LARGE;
    let headers = response.headers_mut();
    if unread {
        // The connection ends with the rest of the body unread: nobody may send on it again.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let mut set = |name: HeaderName, value: &'static str| {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    };
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(REFERRER_POLICY, "no-referrer");
    // Files carry Last-Modified: a browser asks, and mostly gets 304.
    set(CACHE_CONTROL, "no-cache");
    if let Some(csp) = &policy.content_security_policy {
        headers
            .entry(CONTENT_SECURITY_POLICY)
            .or_insert(csp.clone());
    }
    response
}

/// Turns away what the page of a foreign origin has sent. A native client sends no `Origin`; a
/// browser does whenever it opens a WebSocket, and with every request that could change something
/// or whose answer a script of another origin would read.
pub(crate) async fn own_origins(
    State(policy): State<Arc<Policy>>,
    request: Request,
    next: Next,
) -> Response {
    match policy.foreign_origin(request.headers()) {
        Some(error) => turn_away(&request, StatusCode::FORBIDDEN, &error),
        None => next.run(request).await,
    }
}

/// Lets scripts of the allowed origins read the answers.
pub(crate) fn cross_origin(policy: Arc<Policy>) -> CorsLayer {
    let allowed = move |origin: &HeaderValue, request: &Parts| {
        let host = text(&request.headers, &HOST).unwrap_or_default();
        origin
            .to_str()
            .is_ok_and(|origin| policy.guard.accepts_origin(origin, host))
    };
    let ours = ["mcp-session-id", "mcp-protocol-version", "last-event-id"];
    let [session, version, event] = ours.map(HeaderName::from_static);
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(allowed))
        .allow_methods([
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::PUT,
            Method::DELETE,
        ])
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            ACCEPT,
            session.clone(),
            version,
            event,
        ])
        .expose_headers([session, RETRY_AFTER, WWW_AUTHENTICATE])
        .allow_private_network(true)
        .max_age(PREFLIGHT_AGE)
}

fn turn_away(request: &Request, status: StatusCode, error: &Failure) -> Response {
    // Not the query: it may hold a token.
    let path = without_secret(request.uri().path());
    tracing::info!(path, error = error.message.as_ref(), "refused");
    refuse(status, error)
}

/// The path up to what only one tool server knows.
fn without_secret(path: &str) -> &str {
    // Anywhere in it, as a proxy may have put something before.
    let callback = path.find(CALLBACK_PATH);
    callback.map_or(path, |at| &path[..at + CALLBACK_PATH.len()])
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let value = headers.get(name)?;
    Some(value.to_str().unwrap_or_default())
}

impl Policy {
    fn wrong_host(&self, headers: &HeaderMap) -> Option<(StatusCode, Failure)> {
        let Some(host) = text(headers, &HOST) else {
            let error = Error::invalid_params("`Host` is missing");
            return Some((StatusCode::BAD_REQUEST, error));
        };
        if self.guard.accepts_host(host) {
            return None;
        }
        let message = format!("`Host` {host:?} is not a name of this gateway");
        let error = Error::new(Code::PERMISSION_DENIED, message);
        Some((StatusCode::FORBIDDEN, error))
    }

    fn foreign_origin(&self, headers: &HeaderMap) -> Option<Failure> {
        let origin = text(headers, &ORIGIN)?;
        let host = text(headers, &HOST).unwrap_or_default();
        if self.guard.accepts_origin(origin, host) {
            return None;
        }
        let message = format!("Origin {origin:?} may not connect: allow it with --allow-origin");
        Some(Error::new(Code::PERMISSION_DENIED, message))
    }
}
