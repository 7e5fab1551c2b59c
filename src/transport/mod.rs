//! The seam between a wire and the rest.
//!
//! A session and an agent know messages, not wires. A transport carries messages, in order, and
//! says when it is gone; what carries them is the shell's affair: a MessagePort, a WebSocket, or
//! the [`memory`] pair, which is what the conformance vectors run over natively.

pub mod memory;

/// One end of a connection that carries messages in order.
pub trait Transport {
    /// What it carries: an envelope.
    type Message;

    /// Hands a message over; dropped when the connection is closed.
    fn send(&mut self, message: Self::Message);

    /// The next message that has come, if any.
    fn receive(&mut self) -> Option<Self::Message>;

    /// Closes both ends. What has been sent is still received.
    fn close(&mut self);

    /// Whether it is closed and nothing is left to receive.
    fn is_over(&self) -> bool;
}
