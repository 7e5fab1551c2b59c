//! The layers that every request passes on its way to a front, and every answer on its way back. For each
//! request axum copies all that lies beneath a layer, so checks that belong together share one layer.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::bounds::Ledgers;
use crate::fronts::auth::Bearer;
use crate::fronts::body::BodyBounds;
use crate::fronts::kept::keep;
use crate::fronts::refusal::{Refusal, Write};
use crate::fronts::socket::{Connection, PeerAddress};
use crate::gateway::Hub;
use crate::http::answers;
use crate::http::headers::{self, Policy, without_secret};
use crate::http::limits::announced_too_large;
use crate::http::rate::RequestRate;
use crate::wire::for_log;

/// What the layers need.
pub(super) struct Layers {
    pub policy: Arc<Policy>,
    pub rate: RequestRate,
    pub bodies: Arc<BodyBounds>,
    /// The ledgers of unsent answers.
    pub unsent: Ledgers,
    pub hub: Arc<Hub>,
}

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// For an interface. A page of a foreign origin may not even ask.
    Interface,
    /// The result of a tool server. A refused result is not delivered again, so these requests are not
    /// counted, except those for something that does not exist, which may be guesses. Their bodies do not
    /// count towards the bound of all bodies either: they wait for room of their own tool server.
    Callback,
    /// For a file, which any page may load.
    File,
}

impl Layers {
    /// The layers of all routes.
    pub fn around(
        self: &Arc<Self>,
        interfaces: impl IntoIterator<Item = (Router, Write)>,
        callbacks: Router,
        files: Router,
    ) -> Router {
        let checked = |kind, write| from_fn_with_state((self.clone(), kind, write), checked);
        let counted = |write| {
            (
                headers::cross_origin(self.policy.clone()),
                from_fn_with_state((self.clone(), write), counted),
            )
        };
        let plain: Write = Refusal::into_response;
        let callbacks = callbacks.layer(checked(Kind::Callback, plain));
        let files = files.layer((checked(Kind::File, plain), counted(plain)));
        interfaces
            .into_iter()
            .map(|(routes, write)| routes.layer((checked(Kind::Interface, write), counted(write))))
            .fold(callbacks.merge(files), Router::merge)
    }

    /// Refuses a request before it is read. Such a request counts like any other, and so does a preflight.
    fn refused(
        &self,
        kind: Kind,
        address: PeerAddress,
        bearer: &Bearer,
        request: &Request,
    ) -> Option<Refusal> {
        let headers = request.headers();
        let mut refusal = self.policy.ambiguous(request);
        refusal = refusal.or_else(|| self.policy.other_host(headers));
        if kind != Kind::File {
            refusal = refusal.or_else(|| self.policy.other_origin(headers));
        }
        let is_preflight = kind != Kind::Callback && request.method() == Method::OPTIONS;
        if (refusal.is_some() || is_preflight)
            && let Err(too_many) = self.rate.count(address, bearer, request.uri().path())
        {
            return Some(*too_many);
        }
        let refusal = refusal?;
        // Without the query, which may hold a token.
        let path = for_log(without_secret(request.uri().path()));
        tracing::info!(path, error = refusal.error.message.as_ref(), "refused");
        Some(refusal)
    }
}

/// Serves requests to the gateway's own name, and for interfaces only from the gateway's own pages. Their
/// answers are not kept by caches.
async fn checked(
    State((layers, kind, write)): State<(Arc<Layers>, Kind, Write)>,
    address: PeerAddress,
    mut request: Request,
    next: Next,
) -> Response {
    let Layers {
        policy, rate, hub, ..
    } = &*layers;
    let bearer = Bearer::of(&hub.tokens, request.headers(), request.uri().query());
    let asked = policy.look(address, &bearer, request.uri());
    let mut response = match layers.refused(kind, address, &bearer, &request) {
        Some(refusal) => write(refusal),
        None => {
            let stranger = (kind == Kind::Callback).then(|| rate.quota_key(address, &bearer));
            request.extensions_mut().insert(bearer);
            request.extensions_mut().insert(layers.bodies.clone());
            let response = next.run(request).await;
            match stranger {
                Some(quota_key) => rate.count_refusal(&quota_key, response),
                None => response,
            }
        }
    };
    if kind != Kind::File {
        headers::forbid_storing(&mut response);
    }
    policy.finish(asked, &mut response);
    response
}

/// Counts requests, their bytes and the bytes of their answers. A body may be as large as a message, and
/// streams end with the gateway.
async fn counted(
    State((layers, write)): State<(Arc<Layers>, Write)>,
    Connection {
        address, let_go, ..
    }: Connection,
    bearer: Bearer,
    mut request: Request,
    next: Next,
) -> Response {
    let (quota_key, share) = match layers.rate.begin(address, &bearer, request.uri().path()) {
        Ok(begun) => begun,
        Err(refusal) => return write(*refusal),
    };
    let hub = &layers.hub;
    if let Some(refusal) = announced_too_large(&request, hub.limits.message_bytes) {
        return write(refusal);
    }
    request.extensions_mut().insert(quota_key.clone());
    let response = answers::end_stream_with_gateway(&hub.lifecycle, next.run(request).await);
    let response = answers::count_unsent(&layers.unsent, quota_key, let_go, response);
    match share {
        Some(share) => response.map(|body| keep(body, share)),
        None => response,
    }
}
