//! What every request goes through on its way to a front. Each layer has all those beneath it copied for
//! every request, so what belongs together is one.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::gateway::Hub;
use crate::http::headers::{self, Policy};
use crate::http::{http_limits, streams};

/// Only pages of our own origins, and bodies that come in time. What is answered is for whoever asked:
/// nobody keeps it.
pub(super) async fn own(
    State((policy, body_timeout)): State<(Arc<Policy>, Duration)>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match headers::own_origins(&policy, &request) {
        Some(refusal) => refusal,
        None => http_limits::body_time(body_timeout, request, next).await,
    };
    headers::is_private(&mut response);
    response
}

/// Only bodies as large as a message may be, and streams that end with the gateway.
pub(super) async fn whole(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    match http_limits::body(&request, hub.limits.message_bytes) {
        Some(refusal) => refusal,
        None => streams::end(&hub.lifecycle, next.run(request).await),
    }
}
