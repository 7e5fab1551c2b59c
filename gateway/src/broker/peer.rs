//! Peers: connections, where each is, and which app an agent wants.

use std::sync::Arc;

use crate::broker::calls::Dialect;
use crate::tokens::Identity;

/// The number of a connection. Later connections have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u64);

/// The time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Now {
    /// Milliseconds on the monotonic clock.
    pub monotonic_ms: f64,
    /// Unix milliseconds, for timestamps.
    pub unix_ms: u64,
}

/// Which app an agent wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The only connected app.
    #[default]
    Any,
    /// The app with that id: the latest connection of it, or the instance that the id names.
    Id(String),
    /// The app on that connection.
    Peer(PeerId),
}

impl From<Option<String>> for Wanted {
    fn from(id: Option<String>) -> Self {
        id.map_or(Wanted::Any, Wanted::Id)
    }
}

/// The identity of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The dialect of its runs.
    pub dialect: Dialect,
    /// The owner of its runs.
    pub owner: Identity,
    /// The holder whose share of sessions the agent uses: the owner, or a network where there are no tokens.
    pub quota_key: Arc<str>,
    /// The agent's own name, once it has given one.
    pub name: Option<Arc<str>>,
    /// Where the agent is.
    pub seat: Seat,
}

/// Where a peer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seat {
    /// On a connection to this worker, which is bounded and counted.
    #[default]
    Connected,
    /// Inside the gateway: a front's session, or a tool server, which has a port in place of a socket. No
    /// connection limit applies to it.
    Own,
    /// On another worker, which bounds, counts and registers it.
    Elsewhere,
}

/// A WebSocket close code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The peer has closed.
    pub const NORMAL: CloseCode = CloseCode(1000);
    /// The gateway is stopping.
    pub const GOING_AWAY: CloseCode = CloseCode(1001);
    /// The peer does not speak the WebSocket protocol.
    pub const PROTOCOL: CloseCode = CloseCode(1002);
    /// A text frame that is not UTF-8.
    pub const NOT_TEXT: CloseCode = CloseCode(1007);
    /// The peer broke a rule: it may not register, or does not read its messages.
    pub const POLICY: CloseCode = CloseCode(1008);
    /// A message is larger than the gateway reads.
    pub const TOO_BIG: CloseCode = CloseCode(1009);
    /// There are too many peers. The peer may try again later.
    pub const TRY_AGAIN: CloseCode = CloseCode(1013);
    /// The app goes on over another connection.
    pub const REPLACED: CloseCode = CloseCode(4002);
    /// The agent's app has disconnected.
    pub const APP_GONE: CloseCode = CloseCode(4001);
}
