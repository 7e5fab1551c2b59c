//! `/healthz`, `/readyz` and `/metrics`, for a supervisor, a load balancer and Prometheus.

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

/// Whether that path is a health route. Health routes have a rate of their own, and are answered when other
/// requests are not.
pub(crate) fn is_asked_for(path: &str) -> bool {
    ["/healthz", "/readyz"].contains(&path)
}

/// How old the count of peers may be. Counting them makes everything else wait.
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

/// What `/readyz` reports.
struct Ready {
    hub: Arc<Hub>,
    /// Agents and apps.
    peers: Recent<(usize, usize)>,
}

/// A value that is computed now and then, however often it is asked for.
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
        // The apps of this worker still work. If every worker went out of service, they would stop too.
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
