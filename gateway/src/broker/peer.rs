//! Who is connected: names of connections, where a peer is, and what an agent wants.

use std::sync::Arc;

use crate::broker::runs::Dialect;
use crate::tokens::Identity;

/// Names one connection. Later connections have greater ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u64);

/// The time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Now {
    /// Milliseconds on a clock that never goes back.
    pub monotonic_ms: f64,
    /// Unix milliseconds, for timestamps.
    pub unix_ms: u64,
}

/// Which app an agent wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The only one there is.
    #[default]
    Any,
    /// The one with that id; the latest, if several have it, or the instance that the id names.
    Id(String),
    /// The one on that connection.
    Peer(PeerId),
}

impl From<Option<String>> for Wanted {
    fn from(id: Option<String>) -> Self {
        id.map_or(Wanted::Any, Wanted::Id)
    }
}

/// Who an agent is.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What its runs count as.
    pub dialect: Dialect,
    /// Whose they are.
    pub owner: Identity,
    /// Whose share of sessions its own count towards: the owner, or a network where there are no tokens.
    pub holder: Arc<str>,
    /// What it calls itself, once it has said so.
    pub name: Option<Arc<str>>,
    /// Where it is.
    pub seat: Seat,
}

/// Where a peer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seat {
    /// At the other end of a connection of its own, which is bounded and counted.
    #[default]
    Connected,
    /// Inside the gateway: a front's session, or a tool server. No connection limit applies to it.
    Own,
    /// On another worker, which bounds, counts and registers.
    Elsewhere,
}

/// A WebSocket close code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The peer has closed.
    pub const NORMAL: CloseCode = CloseCode(1000);
    /// The gateway stops.
    pub const GOING_AWAY: CloseCode = CloseCode(1001);
    /// Not the WebSocket protocol.
    pub const PROTOCOL: CloseCode = CloseCode(1002);
    /// A text frame that is not UTF-8.
    pub const NOT_TEXT: CloseCode = CloseCode(1007);
    /// The peer broke a rule: it may not register, or it does not read.
    pub const POLICY: CloseCode = CloseCode(1008);
    /// A message past the limit of what is read.
    pub const TOO_BIG: CloseCode = CloseCode(1009);
    /// Too many peers: try again later.
    pub const TRY_AGAIN: CloseCode = CloseCode(1013);
    /// The app goes on over another connection.
    pub const REPLACED: CloseCode = CloseCode(4002);
    /// The agent's app has disconnected.
    pub const APP_GONE: CloseCode = CloseCode(4001);
}
