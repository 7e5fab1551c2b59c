//! Why no more is read of a WebSocket.

use std::time::Duration;

use crate::broker::CloseCode;

/// Why reading ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The gateway closes, or the peer has.
    Closed,
    /// The connection broke.
    Lost,
    /// The beginning of a message had to make room for others: the peer may try again.
    NoRoom,
    /// The peer has shown no sign of life for this long.
    Silent(Duration),
    /// The peer broke the WebSocket protocol or sent too much: what it still sends is not read.
    Broken(CloseCode, String),
}
