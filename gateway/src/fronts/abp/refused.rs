//! Peers that may not connect. A browser hides the status of an answer from the page. So the gateway opens
//! the WebSocket, sends the reason over it, and closes it.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use serde_json::json;
use tungstenite::Utf8Bytes;

use super::PROTOCOL;
use crate::broker::CloseCode;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::bounds::{FIRST_BYTES, LobbyPlace};
use crate::fronts::socket::{Endpoint, SocketRequest, serve_socket};
use crate::gateway::{Counted, Hub, Outbox};
use crate::refusals;
use crate::tokens::Role;
use crate::wire::{Failure, Header, Incoming, Outgoing, error_json, failed};

/// The connection of a refused peer.
struct RefusedPeer {
    hub: Arc<Hub>,
    outbox: Arc<Outbox>,
    error: Failure,
    role: Role,
    _place: LobbyPlace,
}

/// Refuses a request by its status. If the client cannot see the status, refuses it by a message over the
/// WebSocket.
pub(super) fn refuse(
    mut request: SocketRequest,
    hub: Arc<Hub>,
    refusal: Refusal,
    role: Role,
) -> Result<Response, Refusal> {
    let (reason, address) = (&refusal.error.message, request.connection().address.0);
    refusals::peer(role, reason, Some(address), request.app().as_deref());
    if !request.hides_status() {
        return Err(refusal.already_logged());
    }
    request.treat_as_stranger();
    let connection = request.connection().clone();
    let limits = hub.limits.clone();
    Ok(request.accept(PROTOCOL, &limits, async move |socket| {
        let (outbox, _connected) = (Arc::new(hub.new_outbox()), hub.connected());
        let (watch, lobby) = (&connection.watch, &connection.bounds.lobby);
        watch.allow(FIRST_BYTES);
        let limits = hub.limits.clone();
        let peer = RefusedPeer {
            _place: lobby.enter(watch.quota_key(), outbox.clone()),
            outbox: outbox.clone(),
            error: refusal.error,
            role,
            hub,
        };
        serve_socket(socket, &limits, Arc::new(peer), outbox).await;
    }))
}

impl RefusedPeer {
    fn close(&self) {
        let reason = self.error.message.clone().into_owned();
        self.outbox.close(CloseCode::POLICY, reason);
    }
}

impl Endpoint for RefusedPeer {
    fn text(self: &Arc<Self>, text: &Utf8Bytes, bytes: usize) -> Counted {
        let limits = &self.hub.limits;
        if let Ok(envelope) = Incoming::beginning(text, bytes, None, limits).envelope(limits) {
            let (kind, payload) = match self.role {
                Role::App => {
                    let payload = json!({ "error": error_json(&self.error) });
                    ("app/refused", payload.to_string())
                }
                _ => failed(&envelope.subject(), &self.error),
            };
            let header = Header {
                kind,
                id: envelope.id,
                agent: None,
                timestamp: &self.hub.now().unix_ms.to_string(),
            };
            self.outbox.push(Outgoing::new(header, &payload, None));
        }
        // The peer gets one answer only.
        self.close();
        Counted::Message
    }

    fn binary(&self, _: Bytes, _: usize) -> Counted {
        self.close();
        Counted::Aside
    }

    fn deadline(&self) -> Option<Duration> {
        Some(self.hub.limits.register_timeout)
    }

    fn late(&self) {
        self.close();
    }

    fn gone(&self) {}
}
