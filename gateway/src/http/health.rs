//! `/healthz`, `/readyz` and `/metrics`: what a supervisor, a load balancer and Prometheus ask.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get};
use serde_json::json;

use crate::fronts::auth::{CHALLENGE, authenticate};
use crate::fronts::refusal::{json_text, refuse};
use crate::gateway::Hub;
use crate::gateway::lifecycle::{Lifecycle, Phase};
use crate::tokens::{Denied, Role};
use caphost::call::{Code, Error};

/// What has a rate of its own.
pub(crate) const PATHS: [&str; 2] = ["/healthz", "/readyz"];

const PROMETHEUS_TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4");

/// `/healthz` says `ok` while the process lives; `/readyz` has status 200 while new calls are
/// accepted and 503 from the signal to stop on, and counts who is connected; it says `degraded`
/// while Redis does not answer or a background task is `down`. `/metrics` is for admins, where there
/// are tokens.
pub(crate) fn routes(hub: Arc<Hub>, lifecycle: Arc<Lifecycle>) -> Router {
    let metrics = get(metrics).with_state(hub.clone());
    Router::new()
        .route("/healthz", get("ok"))
        .route("/readyz", get(ready).with_state((hub, lifecycle)))
        .route("/metrics", metrics)
}

async fn ready(State((hub, lifecycle)): State<(Arc<Hub>, Arc<Lifecycle>)>) -> Response {
    let (status, word) = match lifecycle.phase() {
        Phase::Serving => (StatusCode::OK, "ready"),
        Phase::Draining => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
        Phase::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
    };
    let (agents, apps) = hub.peers();
    let mut body = json!({ "status": word, "apps": apps, "agents": agents });
    if let Some(standing) = hub.workers().map(|workers| workers.standing()) {
        let redis = if standing.connected {
            "connected"
        } else {
            "unreachable"
        };
        body["redis"] = redis.into();
        body["workers"] = (standing.others + 1).into();
        // What is here goes on: taking every worker out of service would stop that too.
        if !standing.connected && lifecycle.phase() == Phase::Serving {
            body["status"] = "degraded".into();
        }
    }
    let down = hub.tasks.down();
    if !down.is_empty() {
        body["down"] = json!(down);
        if lifecycle.phase() == Phase::Serving {
            body["status"] = "degraded".into();
        }
    }
    json_text(status, body.to_string())
}

async fn metrics(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let denied = match authenticate(&hub, Role::Admin, &headers, query.as_deref()) {
        Ok(_) => {
            let text = hub.metrics.render(hub.readings());
            return ([(CONTENT_TYPE, PROMETHEUS_TEXT)], text).into_response();
        }
        Err(denied) => denied,
    };
    let status = match denied {
        Denied::Missing => StatusCode::UNAUTHORIZED,
        Denied::Forbidden => StatusCode::FORBIDDEN,
    };
    let error = Error::new(Code::PERMISSION_DENIED, "A token of role admin is needed");
    let mut response = refuse(status, &error);
    if denied == Denied::Missing {
        response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    }
    response
}
