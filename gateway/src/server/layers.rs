//! What every request goes through on its way to a front, and every answer on its way back. Each layer
//! of axum has all those beneath it copied for every request, so what belongs together is one.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tower_http::limit::RequestBodyLimitLayer;

use crate::fronts::kept::keep;
use crate::gateway::Hub;
use crate::http::budget::Budget;
use crate::http::headers::{self, Policy};
use crate::http::http_limits::{self, RequestRate};
use crate::http::streams;

/// What the layers need.
pub(super) struct Layers {
    pub policy: Arc<Policy>,
    pub rate: Arc<RequestRate>,
    pub budget: Budget,
    pub hub: Arc<Hub>,
    pub body_timeout: Duration,
}

impl Layers {
    /// Around what a page of a foreign origin may not even ask.
    pub fn interfaces(self: &Arc<Self>, router: Router) -> Router {
        router.layer((
            from_fn_with_state(self.clone(), own_origins),
            headers::cross_origin(self.policy.clone()),
            from_fn_with_state(self.clone(), counted),
            RequestBodyLimitLayer::new(self.hub.limits.message_bytes),
        ))
    }

    /// Around the callbacks of tool servers. Only guesses are bounded in number, and the budget of bodies
    /// does not count: a refused callback is not delivered again. Bodies wait for room of their own tool
    /// server.
    pub fn tool_servers(self: &Arc<Self>, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), callbacks))
    }

    /// Around what any page may load.
    pub fn files(self: &Arc<Self>, router: Router) -> Router {
        router.layer((
            from_fn_with_state(self.clone(), any_origin),
            headers::cross_origin(self.policy.clone()),
            from_fn_with_state(self.clone(), counted),
            RequestBodyLimitLayer::new(self.hub.limits.message_bytes),
        ))
    }
}

/// Only pages of our own origins, and bodies that come in time. What is answered is for whoever asked:
/// nobody keeps it.
async fn own_origins(State(layers): State<Arc<Layers>>, request: Request, next: Next) -> Response {
    let Layers { policy, rate, .. } = &*layers;
    let asked = policy.look(&request);
    let refused = policy
        .other_host(&request)
        .or_else(|| policy.other_origin(&request))
        .or_else(|| rate.preflight(&request));
    let mut response = match refused {
        Some(refused) => refused,
        None => http_limits::body_time(layers.body_timeout, request, next).await,
    };
    headers::is_private(&mut response);
    policy.finish(asked, &mut response);
    response
}

/// The same for callbacks, of which only those to nobody count.
async fn callbacks(State(layers): State<Arc<Layers>>, request: Request, next: Next) -> Response {
    let Layers { policy, rate, .. } = &*layers;
    let asked = policy.look(&request);
    let refused = policy.other_host(&request);
    let mut response = match refused.or_else(|| policy.other_origin(&request)) {
        Some(refused) => refused,
        None => {
            let party = rate.party(&request);
            let response = http_limits::body_time(layers.body_timeout, request, next).await;
            rate.count_refusal(&party, response)
        }
    };
    headers::is_private(&mut response);
    policy.finish(asked, &mut response);
    response
}

async fn any_origin(State(layers): State<Arc<Layers>>, request: Request, next: Next) -> Response {
    let Layers { policy, rate, .. } = &*layers;
    let asked = policy.look(&request);
    let refused = policy.other_host(&request);
    let mut response = match refused.or_else(|| rate.preflight(&request)) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    policy.finish(asked, &mut response);
    response
}

/// Counts requests, and the bytes of them and their answers. Only bodies as large as a message may be,
/// and streams that end with the gateway.
async fn counted(State(layers): State<Arc<Layers>>, mut request: Request, next: Next) -> Response {
    let share = match layers.rate.begin(&mut request) {
        Ok(share) => share,
        Err(too_many) => return *too_many,
    };
    let hub = &layers.hub;
    let response = match http_limits::body(&request, hub.limits.message_bytes) {
        Some(refusal) => refusal,
        None => streams::end(&hub.lifecycle, layers.budget.count(request, next).await),
    };
    match share {
        Some(share) => response.map(|body| keep(body, share)),
        None => response,
    }
}
