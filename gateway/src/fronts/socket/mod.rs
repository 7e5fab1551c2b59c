//! WebSockets of any protocol: the endpoint behind one, upgrading, reading, writing and signs of life.

pub(crate) mod bounds;
pub(crate) mod bursts;
pub(crate) mod messages;
pub(crate) mod reader;
mod replies;
pub(crate) mod stream;
mod upgrade;
mod writer;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use bytes::Bytes;
use tokio::sync::Notify;
use tungstenite::Utf8Bytes;

use crate::bounds::{QuotaKey, network};
use crate::fronts::refusal::Refusal;
use crate::gateway::{Counted, Hub, Outbox};
use crate::tokens::{Identity, Role};
use bounds::SocketBounds;
use stream::Watch;

pub use reader::serve as serve_socket;
pub(crate) use upgrade::RETRY_SHARE;
pub use upgrade::{Socket, SocketRequest};

/// The address of the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerAddress(pub SocketAddr);

impl PeerAddress {
    /// The network of the address, which one party owns: see [`network`].
    pub(crate) fn network(self) -> IpAddr {
        network(self.0.ip())
    }
}

/// The connection of a request: one of the request's extensions, and an extractor.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub address: PeerAddress,
    /// Notified when the connection must be closed.
    pub let_go: Arc<Notify>,
    pub watch: Watch,
    pub bounds: Arc<SocketBounds>,
}

impl Connection {
    /// The connection of a request.
    fn of(extensions: &Extensions) -> Result<&Self, Refusal> {
        let unknown = || Refusal::internal("The connection of the request is not known");
        extensions.get().ok_or_else(unknown)
    }

    /// The owner of the connection is known now.
    pub fn belongs_to(&self, hub: &Hub, identity: &Identity, role: Role) {
        let key = QuotaKey::of(&hub.tokens, identity, self.address.0.ip());
        self.watch.belongs_to(key.in_role(role));
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Connection {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Connection::of(&parts.extensions).cloned()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PeerAddress {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Connection::of(&parts.extensions).map(|it| it.address)
    }
}

/// The receiver of a connection's messages. It answers through the connection's [`Outbox`].
pub trait Endpoint: Send + Sync + 'static {
    /// A text frame of `bytes` bytes has come. If the frame is larger than the gateway accepts, `text` is
    /// only its beginning.
    fn text(self: &Arc<Self>, text: &Utf8Bytes, bytes: usize) -> Counted;
    /// How many messages are read per second. `None` means that the endpoint itself limits the rate.
    fn rate(&self) -> Option<f64> {
        None
    }
    /// How many bytes of a binary frame are kept. Nothing is kept of a larger frame.
    fn binary_bytes(&self) -> usize {
        0
    }
    /// A binary frame of `bytes` bytes has come, of which `frame` is kept. Only apps send such frames. For all others
    /// the answer is [`not_text`](crate::wire::not_text).
    fn binary(&self, frame: Bytes, bytes: usize) -> Counted;
    /// A message to write directly before a message of that many bytes.
    fn announcement(&self, _bytes: usize) -> Option<String> {
        None
    }
    /// The queue to the peer was long and is short again.
    fn relieved(&self, _: &Outbox) {}
    /// Whether messages of the peer are read even while the peer does not read.
    fn is_urgent(&self) -> bool {
        false
    }
    /// How long the peer may take before [`Endpoint::late`].
    fn deadline(&self) -> Option<Duration> {
        None
    }
    /// The deadline has passed.
    fn late(&self) {}
    /// No more messages will come: the peer has closed or broken a rule, or the gateway closes.
    fn gone(&self);
    /// No more messages will come: the connection broke, or the peer fell silent.
    fn lost(&self) {
        self.gone();
    }
}
