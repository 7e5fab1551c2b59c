//! `caphost stdio`: JSON-RPC on standard input and output, carried to a gateway.
//!
//! A bridge without rules of its own: what the peer says goes to `/jsonrpc` as it is, and the
//! answers come back in the framing the peer uses.

mod bridge;
mod framing;
mod pending;

pub use bridge::{Bounds, Ended, carry};
pub use framing::{Deframer, Frame, Framing, Lost};
