//! `/healthz` and `/readyz`: what a supervisor and a load balancer ask.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{Router, get};
use serde_json::json;

use super::answer::json_text;
use super::hub::Hub;
use super::lifecycle::{Lifecycle, Phase};

/// `/healthz` says `ok` while the process lives; `/readyz` has status 200 while new calls are
/// accepted and 503 from the signal to stop on, and counts who is connected.
pub(super) fn routes(hub: Arc<Hub>, lifecycle: Arc<Lifecycle>) -> Router {
    Router::new()
        .route("/healthz", get("ok"))
        .route("/readyz", get(ready))
        .with_state((hub, lifecycle))
}

async fn ready(State((hub, lifecycle)): State<(Arc<Hub>, Arc<Lifecycle>)>) -> Response {
    let (status, word) = match lifecycle.phase() {
        Phase::Serving => (StatusCode::OK, "ready"),
        Phase::Draining => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
        Phase::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
    };
    let (agents, apps) = hub.peers();
    let body = json!({ "status": word, "apps": apps, "agents": agents });
    json_text(status, body.to_string())
}
