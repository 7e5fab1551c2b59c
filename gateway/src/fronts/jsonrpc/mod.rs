//! JSON-RPC 2.0 over WebSocket, on `/jsonrpc`.
//!
//! | module | contents |
//! |---|---|
//! | `peer` | one connection: its messages, and its requests in flight |
//! | `requests` | the methods |
//! | `questions` | questions of apps to the peer |
//! | `greeting` | `initialize` of ACP and LSP peers |
//!
//! [`InFlight`](crate::fronts::rpc::InFlight) has the requests that wait for their answers, and
//! [`crate::wire::json_rpc`] reads and writes messages, and decides whether a cancelled request is answered.

mod greeting;
mod peer;
mod questions;
mod requests;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::any;

use crate::bounds::{Bound, Budget, Full, QuotaKey};
use crate::broker::{CloseCode, STOPPING};
use crate::fronts::lists::Listing;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::{PeerAddress, RETRY_SHARE, SocketRequest, serve_socket};
use crate::gateway::Hub;
use crate::gateway::lifecycle::Phase;
use crate::tokens::Role;
use peer::Peer;

/// The subprotocol that a browser offers besides the token's subprotocol.
const PROTOCOL: &str = "jsonrpc";

/// The state that all connections share.
#[derive(Clone)]
struct Jsonrpc {
    hub: Arc<Hub>,
    room: Arc<Budget>,
    /// The rate limit of lists of capabilities.
    lists: Arc<Listing>,
}

/// `/jsonrpc`
pub fn routes(hub: Arc<Hub>) -> Router {
    let shared = Jsonrpc {
        room: Budget::of(Bound::with_last_kept(
            hub.limits.sessions,
            hub.limits.sessions_per_token,
        )),
        lists: Listing::of_offers(hub.clone()),
        hub,
    };
    Router::new()
        .route("/jsonrpc", any(open))
        .with_state(shared)
}

async fn open(
    State(shared): State<Jsonrpc>,
    PeerAddress(address): PeerAddress,
    request: SocketRequest,
) -> Result<Response, Refusal> {
    let hub = shared.hub.clone();
    let owner = request.identify(&hub, Role::Agent)?;
    let quota_key = QuotaKey::of(&hub.tokens, &owner, address.ip());
    let room = shared.room.take(&quota_key, 1).map_err(no_room)?;
    let app = request.app();
    let limits = hub.limits.clone();
    Ok(request.accept(PROTOCOL, &limits, async move |socket| {
        let _connected = hub.connected();
        let number = hub.next_number();
        tracing::debug!(number, owner = &*owner.name, "JSON-RPC peer connected");
        let queued = hub.queue(&owner.name);
        let outbox = queued.outbox.clone();
        let peer = Peer::new(shared, owner, quota_key, room, app, outbox.clone());
        if hub.lifecycle.phase() == Phase::Serving {
            peer.until_gone(peer.clone().end_with_gateway());
        } else {
            // The gateway is stopping. The broker also refuses agents that come this late.
            outbox.close(CloseCode::GOING_AWAY, STOPPING.into());
        }
        serve_socket(socket, &hub.limits, peer, outbox).await;
        tracing::debug!(number, "JSON-RPC peer gone");
    }))
}

fn no_room(full: Full) -> Refusal {
    let connected = "JSON-RPC peers are connected, and no more are accepted";
    let (status, message) = match full {
        Full::All(max) => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{max} {connected} (--max-sessions)"),
        ),
        Full::Share(max) => (
            StatusCode::TOO_MANY_REQUESTS,
            format!("{max} of your {connected} (--max-sessions-per-token)"),
        ),
        Full::Last(last) => (
            StatusCode::TOO_MANY_REQUESTS,
            format!(
                "The last {last} places for JSON-RPC peers are for callers without a peer (--max-sessions)"
            ),
        ),
    };
    Refusal::later(status, message, RETRY_SHARE)
}
