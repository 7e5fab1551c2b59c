//! What is checked of every request, and what every answer carries.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, UPGRADE, X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;

use super::answer::refuse;
use super::guard::Guard;
use crate::call::{Code, Error};
use crate::gateway::wire::Failure;

/// What the pages may do unless told otherwise: their own scripts, wasm, and blobs they made.
pub const DEFAULT_CONTENT_SECURITY_POLICY: &str = "default-src 'self'; \
    script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' blob: data:; media-src 'self' blob: data:; object-src 'self' blob: data:; \
    frame-src 'self' blob: data:; worker-src 'self' blob:; \
    connect-src 'self' ws: wss: blob: data:; base-uri 'none'; form-action 'self'";

/// The checks and the headers.
pub(super) struct Policy {
    pub guard: Guard,
    pub content_security_policy: Option<HeaderValue>,
}

/// Turns away what a foreign page may have sent, and adds the headers.
pub(super) async fn apply(
    State(policy): State<Arc<Policy>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match policy.objection(request.headers()) {
        Some((status, error)) => {
            tracing::info!(uri = %request.uri(), error = error.message.as_ref(), "refused");
            refuse(status, &error)
        }
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
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

impl Policy {
    fn objection(&self, headers: &HeaderMap) -> Option<(StatusCode, Failure)> {
        let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
        let denied = |message: String| Error::new(Code::PERMISSION_DENIED, message);
        let Some(host) = text(&HOST) else {
            let error = Error::invalid_params("`Host` is missing");
            return Some((StatusCode::BAD_REQUEST, error));
        };
        if !self.guard.accepts_host(host) {
            let error = denied(format!("`Host` {host:?} is not a name of this gateway"));
            return Some((StatusCode::FORBIDDEN, error));
        }
        // A native client sends no Origin; a browser always does when it opens a WebSocket.
        let origin = text(&ORIGIN).filter(|_| headers.contains_key(UPGRADE))?;
        if self.guard.accepts_origin(origin, host) {
            return None;
        }
        let message = format!("Origin {origin:?} may not connect: allow it with --allow-origin");
        Some((StatusCode::FORBIDDEN, denied(message)))
    }
}
