//! Which messages the other side of a connection between an app and a gateway has received. Each side counts
//! the messages that it receives. Each side keeps the messages that it has sent until the other side
//! acknowledges them. On a new connection each side sends the missing messages again. This resembles XMPP's
//! stream management (XEP-0198). Page and gateway count by the same code.

use std::collections::VecDeque;

use crate::call::Millis;

/// How long the first unacknowledged message waits for its acknowledgement, unless more messages come.
pub const IDLE: Millis = 1_000.0;
/// How many unacknowledged messages make an acknowledgement due.
const MESSAGES: u64 = 64;
/// How many unacknowledged bytes make an acknowledgement due.
const BYTES: usize = 1 << 20;

/// The messages that were sent and that the other side has not acknowledged.
#[derive(Debug)]
pub struct Sent<M> {
    kept: VecDeque<(M, usize)>,
    bytes: usize,
    acknowledged: u64,
}

/// The other side acknowledges more messages than were sent, or fewer than it acknowledged before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit;

impl<M> Default for Sent<M> {
    fn default() -> Self {
        Sent {
            kept: VecDeque::new(),
            bytes: 0,
            acknowledged: 0,
        }
    }
}

impl<M> Sent<M> {
    /// Whether there is room for a message of `bytes` bytes among at most `limit` bytes. There is always room for
    /// one message.
    pub fn has_room(&self, bytes: usize, limit: usize) -> bool {
        self.bytes == 0 || self.bytes + bytes <= limit
    }

    /// Keeps a message of about `bytes` bytes.
    pub fn keep(&mut self, message: M, bytes: usize) {
        self.bytes += bytes;
        self.kept.push_back((message, bytes));
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The other side has received `received` messages in total.
    pub fn acknowledge(&mut self, received: u64) -> Result<(), Misfit> {
        let more = received.checked_sub(self.acknowledged).ok_or(Misfit)?;
        let more = usize::try_from(more).map_err(|_| Misfit)?;
        if more > self.kept.len() {
            return Err(Misfit);
        }
        for _ in 0..more {
            self.bytes -= self.kept.pop_front().map_or(0, |(_, bytes)| bytes);
        }
        self.acknowledged = received;
        Ok(())
    }

    /// The messages to send again on a new connection, in order.
    pub fn kept(&self) -> impl Iterator<Item = &M> {
        self.kept.iter().map(|(message, _)| message)
    }
}

/// When to send an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A little later: this is the first unacknowledged message.
    Later,
    /// With an acknowledgement that is already due.
    Pending,
    /// Now.
    Now,
}

/// How many messages have arrived, and how many of them the other side knows of.
#[derive(Debug, Default)]
pub struct Received {
    count: u64,
    told: u64,
    untold_bytes: usize,
}

impl Received {
    /// A message of `bytes` bytes has arrived.
    pub fn note(&mut self, bytes: usize) -> Due {
        self.count += 1;
        self.untold_bytes += bytes;
        match self.count - self.told {
            more if more >= MESSAGES || self.untold_bytes >= BYTES => Due::Now,
            1 => Due::Later,
            _ => Due::Pending,
        }
    }

    /// How many messages have arrived, if the other side does not know. The caller must tell the other side.
    pub fn take_untold(&mut self) -> Option<u64> {
        let untold = self.told < self.count;
        untold.then(|| self.tell())
    }

    /// How many messages have arrived. The caller must tell the other side.
    pub fn tell(&mut self) -> u64 {
        self.told = self.count;
        self.untold_bytes = 0;
        self.count
    }
}

#[cfg(test)]
mod tests;
