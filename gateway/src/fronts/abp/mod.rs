//! ABP over WebSocket: `/abp` for agents, `/abp/app` for apps.

mod agent_peer;
mod app_peer;
mod refused;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::any;

use crate::broker::calls::Dialect;
use crate::broker::{Event, PeerId, Profile, Seat};
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::{Endpoint, SocketRequest, serve_socket};
use crate::gateway::{Hub, Outbox};
use crate::tokens::Role;
use agent_peer::AgentPeer;
use app_peer::AppPeer;
use refused::refuse;

/// The subprotocol that a browser offers besides the token's subprotocol, because the answer must name an
/// offered one.
const PROTOCOL: &str = "abp";

/// Both routes.
pub fn routes(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/abp", any(agent).with_state(hub.clone()))
        .route("/abp/app", any(app).with_state(hub))
}

/// `/abp`
async fn agent(State(hub): State<Arc<Hub>>, request: SocketRequest) -> Result<Response, Refusal> {
    let owner = request.identify(&hub, Role::Agent);
    let admitted = owner.and_then(|owner| Ok((request.share(&hub, &owner)?, owner)));
    let (share, owner) = match admitted {
        Ok(admitted) => admitted,
        Err(refusal) => return refuse(request, hub, refusal, Role::Agent),
    };
    let app = request.app().into();
    let profile = Profile {
        dialect: Dialect::Abp,
        quota_key: request.quota_key(&hub, &owner).name(),
        owner,
        name: None,
        seat: Seat::Connected,
    };
    let joined = |peer| Event::AgentJoined { peer, app, profile };
    let endpoint = move |hub, peer, _| AgentPeer {
        hub,
        peer,
        _share: share,
        wants_sizes: AtomicBool::new(false),
    };
    Ok(enter(request, hub, "agent", joined, endpoint))
}

/// `/abp/app`. A token may also come with `app/register`. A wrong token is refused at once.
async fn app(State(hub): State<Arc<Hub>>, mut request: SocketRequest) -> Result<Response, Refusal> {
    let identity = match request.identify(&hub, Role::App) {
        Ok(identity) => Some(identity),
        Err(_) if !request.shows_secret() => {
            request.treat_as_stranger();
            None
        }
        Err(refusal) => return refuse(request, hub, refusal, Role::App),
    };
    let known = identity.clone();
    let joined = |peer| Event::AppJoined {
        peer,
        identity,
        seat: Seat::Connected,
    };
    let base = hub.files.base(request.headers()).unwrap_or_default();
    let connection = (request.connection().clone(), base);
    let endpoint = |hub, peer, outbox| AppPeer::new(hub, peer, known, outbox, connection);
    Ok(enter(request, hub, "app", joined, endpoint))
}

fn enter<E: Endpoint>(
    request: SocketRequest,
    hub: Arc<Hub>,
    side: &'static str,
    joined: impl FnOnce(PeerId) -> Event<'static> + Send + 'static,
    endpoint: impl FnOnce(Arc<Hub>, PeerId, Arc<Outbox>) -> E + Send + 'static,
) -> Response {
    let limits = hub.limits.clone();
    let address = request.connection().address.0;
    request.accept(PROTOCOL, &limits, async move |socket| {
        let (peer, outbox, _connected) = hub.join(joined);
        outbox.log_address(address);
        tracing::debug!(peer = peer.0, side, "connected");
        let limits = hub.limits.clone();
        let endpoint = Arc::new(endpoint(hub, peer, outbox.clone()));
        serve_socket(socket, &limits, endpoint, outbox).await;
        tracing::debug!(peer = peer.0, side, "gone");
    })
}
