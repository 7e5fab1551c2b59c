//! Who may open a WebSocket on `/jsonrpc`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::peer::Peer;
use crate::fronts::rate_limit::RateLimiter;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::{Socket, SocketRequest, serve_socket};
use crate::gateway::Hub;
use crate::gateway::Outbox;
use crate::tokens::{Identity, Role};

/// The subprotocol a browser offers beside a token's.
const PROTOCOL: &str = "jsonrpc";

/// What all connections share.
#[derive(Clone)]
pub(super) struct Jsonrpc(Arc<Shared>);

struct Shared {
    hub: Arc<Hub>,
    room: Arc<Semaphore>,
    rate: RateLimiter,
    last: AtomicU64,
}

/// One connection's place among the others.
pub(super) struct Place {
    shared: Jsonrpc,
    number: u64,
    /// Its place, if there was one.
    room: Option<OwnedSemaphorePermit>,
}

impl Jsonrpc {
    pub fn new(hub: Arc<Hub>) -> Self {
        let room = Arc::new(Semaphore::new(hub.limits.sessions));
        let rate = RateLimiter::per_second(hub.limits.requests_per_second);
        Jsonrpc(Arc::new(Shared {
            hub,
            room,
            rate,
            last: AtomicU64::new(0),
        }))
    }

    async fn serve(self, socket: Socket, owner: Identity, app: Option<String>) {
        let hub = self.0.hub.clone();
        let _connected = hub.connected();
        let number = self.0.last.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(number, owner = &*owner.name, "JSON-RPC peer connected");
        let place = Place {
            room: self.0.room.clone().try_acquire_owned().ok(),
            shared: self,
            number,
        };
        let outbox = Arc::new(Outbox::new(hub.limits.queued_bytes));
        let peer = Peer::new(hub.clone(), owner, app, outbox.clone(), place);
        let ending = tokio::spawn(peer.clone().end_with_gateway());
        serve_socket(socket, &hub.limits, peer, outbox).await;
        ending.abort();
        tracing::debug!(number, "JSON-RPC peer gone");
    }
}

impl Place {
    /// Whether the limit of connections left room for it.
    pub fn is_taken(&self) -> bool {
        self.room.is_some()
    }

    /// Counts a request, or says how long to wait for the next.
    pub fn count(&self) -> Result<(), Duration> {
        self.shared.0.rate.check(&self.number)
    }
}

/// `/jsonrpc`
pub(super) async fn jsonrpc(
    State(shared): State<Jsonrpc>,
    request: SocketRequest,
) -> Result<Response, Refusal> {
    let hub = shared.0.hub.clone();
    let owner = request.identify(&hub, Role::Agent)?;
    let app = request.app();
    Ok(request.accept(PROTOCOL, &hub.limits, |socket| {
        shared.serve(socket, owner, app)
    }))
}
