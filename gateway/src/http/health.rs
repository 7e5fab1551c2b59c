//! `/healthz`, `/readyz` and `/metrics`: what a supervisor, a load balancer and Prometheus ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get};
use parking_lot::Mutex;
use serde_json::json;

use crate::fronts::auth::Bearer;
use crate::fronts::refusal::{Refusal, json_text};
use crate::gateway::Hub;
use crate::gateway::lifecycle::Phase;
use crate::tokens::Role;

/// Whether that path asks whether the gateway is well: it has a rate of its own, and is answered when others
/// are not.
pub(crate) fn is_asked_for(path: &str) -> bool {
    ["/healthz", "/readyz"].contains(&path)
}

/// How old the count of peers may be: to count them, all others wait.
const FRESH: Duration = Duration::from_millis(100);

const PROMETHEUS_TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4");

/// `/healthz` says `ok` while the process lives; `/readyz` has status 200 while new calls are
/// accepted and 503 from the signal to stop on, and counts who is connected; it says `degraded`
/// while Redis does not answer or a background task is `down`. `/metrics` is for admins, where there
/// are tokens.
pub(crate) fn routes(hub: Arc<Hub>) -> Router {
    let metrics = get(metrics).with_state(hub.clone());
    let ready_state = Arc::new(Ready {
        hub,
        peers: Recent::default(),
    });
    Router::new()
        .route("/healthz", get("ok"))
        .route("/readyz", get(ready).with_state(ready_state))
        .route("/metrics", metrics)
}

/// What `/readyz` looks at.
struct Ready {
    hub: Arc<Hub>,
    /// Agents and apps.
    peers: Recent<(usize, usize)>,
}

/// What is looked at now and then, however often it is asked for.
#[derive(Debug, Default)]
struct Recent<T>(Mutex<Option<(Instant, T)>>);

impl<T: Copy> Recent<T> {
    fn get(&self, look: impl FnOnce() -> T) -> T {
        let mut last = self.0.lock();
        match *last {
            Some((at, seen)) if at.elapsed() < FRESH => seen,
            _ => last.insert((Instant::now(), look())).1,
        }
    }
}

async fn ready(State(ready): State<Arc<Ready>>) -> Response {
    let Ready { hub, peers } = &*ready;
    let phase = hub.lifecycle.phase();
    let (status, word) = match phase {
        Phase::Serving => (StatusCode::OK, "ready"),
        Phase::Draining => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
        Phase::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
    };
    let (agents, apps) = peers.get(|| hub.peers());
    let mut body = json!({ "status": word, "apps": apps, "agents": agents });
    if let Some(standing) = hub.cluster().map(|cluster| cluster.standing()) {
        let redis = if standing.connected {
            "connected"
        } else {
            "unreachable"
        };
        body["redis"] = redis.into();
        body["workers"] = (standing.others + 1).into();
        // What is here goes on: taking every worker out of service would stop that too.
        if !standing.connected && phase == Phase::Serving {
            body["status"] = "degraded".into();
        }
    }
    let down = hub.tasks.down();
    if !down.is_empty() {
        body["down"] = json!(down);
        if phase == Phase::Serving {
            body["status"] = "degraded".into();
        }
    }
    json_text(status, body.to_string())
}

async fn metrics(State(hub): State<Arc<Hub>>, bearer: Bearer) -> Response {
    let denied = match bearer.acts_as(Role::Admin) {
        Ok(_) => {
            let text = hub.metrics.render(hub.readings());
            return ([(CONTENT_TYPE, PROMETHEUS_TEXT)], text).into_response();
        }
        Err(denied) => denied,
    };
    Refusal::of_token(denied, "A token of role admin is needed").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_not_counted_for_each_who_asks() {
        let recent = Recent::default();
        assert_eq!([1, 2, 3].map(|now| recent.get(|| now)), [1, 1, 1]);
        recent.0.lock().as_mut().unwrap().0 -= FRESH;
        assert_eq!(recent.get(|| 4), 4);
    }
}
