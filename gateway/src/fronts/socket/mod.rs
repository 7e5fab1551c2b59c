//! WebSockets of whatever protocol: their upgrade, reading, writing and signs of life.

mod endpoint;
pub(crate) mod pulse;
mod reader;
mod upgrade;
mod writer;

use std::net::SocketAddr;

pub use endpoint::Endpoint;
pub use pulse::Socket;
pub use reader::serve as serve_socket;
pub use upgrade::SocketRequest;

/// The address of a connection's other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);
