//! A WebSocket and what is known of the connection it is on.

use std::sync::Arc;

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;

use super::bounds::SocketBounds;
use super::parts::Parts;
use super::stream::Watch;

/// What the gateway serves WebSockets with.
pub(crate) type WebSocket = WebSocketStream<Parts<TokioIo<Upgraded>>>;

/// A WebSocket, and the connection it is on.
pub struct Socket {
    pub(crate) socket: WebSocket,
    pub(crate) watch: Watch,
    pub(crate) bounds: Arc<SocketBounds>,
}
