//! The messages that are kept for a peer that may come back on another connection.

use crate::wire::Outgoing;
use caphost::dialect::delivery::{Misfit, Sent};

/// The messages that were written and are not acknowledged, and the bytes of those that wait to be written.
/// The peer counts what it receives, so messages are kept in the order in which they are written.
#[derive(Debug, Default)]
pub(super) struct Kept {
    written: Sent<Outgoing>,
    waiting: usize,
}

impl Kept {
    /// Whether there is room for a message of `bytes` bytes among at most `limit` bytes.
    pub fn has_room(&self, bytes: usize, limit: usize) -> bool {
        self.written.has_room(self.waiting + bytes, limit)
    }

    /// A message of `bytes` bytes begins to wait.
    pub fn expect(&mut self, bytes: usize) {
        self.waiting += bytes;
    }

    /// A message that has waited is written, or is the next to be written.
    pub fn keep(&mut self, message: Outgoing) {
        let bytes = message.cost();
        self.waiting = self.waiting.saturating_sub(bytes);
        self.written.keep(message, bytes);
    }

    /// How many bytes are kept or wait to be kept.
    pub fn bytes(&self) -> usize {
        self.written.bytes() + self.waiting
    }

    /// The peer has received `received` messages in total. Returns how many bytes are not kept any more.
    pub fn acknowledge(&mut self, received: u64) -> (usize, Result<(), Misfit>) {
        let before = self.written.bytes();
        let taken = self.written.acknowledge(received);
        (before - self.written.bytes(), taken)
    }

    /// The messages to write again on a new connection, in order.
    pub fn written(&self) -> impl Iterator<Item = &Outgoing> {
        self.written.kept()
    }
}
