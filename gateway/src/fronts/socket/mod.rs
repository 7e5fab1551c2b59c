//! WebSockets of any protocol: what sits behind one, its upgrade, reading, writing and signs of life.

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
use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tungstenite::Utf8Bytes;

use crate::bounds::ledger::Party;
use crate::bounds::shares::{Holder, network};
use crate::fronts::refusal::Refusal;
use crate::gateway::{Counted, Hub, Outbox};
use crate::tokens::{Identity, Role};
use bounds::SocketBounds;
use stream::Watch;

pub use reader::serve as serve_socket;
pub(crate) use upgrade::RETRY_SHARE;
pub use upgrade::{Socket, SocketRequest};

/// The address of a connection's other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerAddress(pub SocketAddr);

impl PeerAddress {
    /// What one party owns: see [`network`].
    pub(crate) fn network(self) -> IpAddr {
        network(self.0.ip())
    }
}

/// The connection that a request has come on: one of the request's extensions, and an extractor.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub address: PeerAddress,
    /// Told when it is to be closed.
    pub let_go: Arc<Notify>,
    pub watch: Watch,
    pub bounds: Arc<SocketBounds>,
}

impl Connection {
    /// That of a request.
    fn of(extensions: &Extensions) -> Result<&Self, Refusal> {
        let unknown = || Refusal::internal("Its connection is not known");
        extensions.get().ok_or_else(unknown)
    }

    /// It is known whose it is.
    pub fn belongs_to(&self, hub: &Hub, identity: &Identity, role: Role) {
        let holder = Holder::of(hub, identity, self.address.0.ip());
        self.watch.belongs_to(Party::Member(holder, role));
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

/// What takes a connection's messages. It answers by way of the connection's [`Outbox`].
pub trait Endpoint: Send + Sync + 'static {
    /// A text frame of `bytes` bytes has come. If those are more than are accepted, `text` is the
    /// beginning.
    fn text(self: &Arc<Self>, text: &Utf8Bytes, bytes: usize) -> Counted;
    /// How many messages are read in a second. None: the endpoint itself limits their rate.
    fn rate(&self) -> Option<f64> {
        None
    }
    /// A binary frame of so many bytes has come, which none of our protocols knows: it is answered with
    /// [`not_text`](crate::wire::not_text).
    fn binary(&self, bytes: usize);
    /// A message to be written directly before another of so many bytes.
    fn announcement(&self, _bytes: usize) -> Option<String> {
        None
    }
    /// The queue to the peer, which was long, is short again.
    fn relieved(&self, _: &Outbox) {}
    /// Whether the peer is read from even while it does not read what is sent to it.
    fn is_urgent(&self) -> bool {
        false
    }
    /// Waits for room for what the peer sends. None: there is room. Until there is, the peer is not read
    /// from, and need not show a sign of life.
    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }
    /// How long the peer may take before [`Endpoint::late`].
    fn deadline(&self) -> Option<Duration> {
        None
    }
    /// The deadline is over.
    fn late(&self) {}
    /// Nothing more will come: the peer has closed, or broken a rule, or the gateway closes.
    fn gone(&self);
    /// Nothing more will come: the connection broke, or the peer fell silent.
    fn lost(&self) {
        self.gone();
    }
}
