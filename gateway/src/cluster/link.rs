//! The messages on the way to and from another worker: each at most once, and in order.
//!
//! A state machine without sockets or clocks. Frames have numbers from 1. Nothing is acknowledged, kept or
//! sent again: if a frame is missing, what the two workers had between them has ended. Each pair of workers
//! has one link, and a worker that joins again has another id.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use bytes::Bytes;

/// How many bytes of messages go into one frame: 256 KiB. A single message may be larger.
const FRAME_BYTES: usize = 256 << 10;
/// How many bytes may wait here, or unread in Redis, before no more should be pushed: 8 MiB.
const WINDOW_BYTES: usize = 8 << 20;
/// How many bytes Redis needs for an entry besides its messages, about.
const ENTRY_BYTES: usize = 128;
/// How many bytes of entries are noted together: 64 KiB.
const NOTED_BYTES: usize = 64 << 10;

/// A frame, which is sent as one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The frame's number.
    pub number: u64,
    /// The messages, one after the other.
    pub body: Bytes,
}

/// A frame is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap;

/// One worker's end of a link.
#[derive(Debug, Default)]
pub struct Link {
    waiting: VecDeque<Bytes>,
    waiting_bytes: usize,
    /// How many frames are being written.
    writing: usize,
    /// The entries that the other worker may not have read, oldest first: how many, and how many bytes.
    unread: VecDeque<(usize, usize)>,
    unread_bytes: usize,
    last_sent: u64,
    last_taken: u64,
}

impl Link {
    /// Adds a message to send.
    pub fn push(&mut self, message: Bytes) {
        self.waiting_bytes += message.len();
        self.waiting.push_back(message);
    }

    /// Whether there is room for another message.
    pub fn has_room(&self) -> bool {
        self.waiting_bytes + self.unread_bytes < WINDOW_BYTES
    }

    /// Whether everything that was pushed is written.
    pub fn is_written(&self) -> bool {
        self.waiting.is_empty() && self.writing == 0
    }

    /// Whether so much may be unread that Redis should be asked how far the other worker has read.
    pub fn may_be_behind(&self) -> bool {
        self.unread_bytes >= WINDOW_BYTES / 2
    }

    /// The next frame to write, if there is one and the other worker keeps up.
    pub fn next_frame(&mut self) -> Option<Frame> {
        if self.waiting.is_empty() || self.unread_bytes >= WINDOW_BYTES {
            return None;
        }
        let body = self.gather();
        self.waiting_bytes -= body.len();
        let bytes = body.len() + ENTRY_BYTES;
        self.writing += 1;
        match self.unread.back_mut() {
            Some((count, noted)) if *noted < NOTED_BYTES => {
                (*count, *noted) = (*count + 1, *noted + bytes);
            }
            _ => self.unread.push_back((1, bytes)),
        }
        self.unread_bytes += bytes;
        self.last_sent += 1;
        Some(Frame {
            number: self.last_sent,
            body,
        })
    }

    /// All frames that were being written are in the stream now.
    pub fn written(&mut self) {
        self.writing = 0;
    }

    /// The stream of the other worker has `left` entries that are not read, of all workers. So the other
    /// worker has read the entries of this link, except at most the last `left`.
    pub fn left(&mut self, left: usize) {
        let mut newer: usize = self.unread.iter().map(|(count, _)| count).sum();
        while let Some((count, bytes)) = self.unread.front().copied() {
            newer -= count;
            if newer < left {
                break;
            }
            self.unread.pop_front();
            self.unread_bytes -= bytes;
        }
    }

    /// Handles a received frame. Returns its messages.
    pub fn take(&mut self, frame: Frame) -> Result<Bytes, Gap> {
        if frame.number != self.last_taken + 1 {
            return Err(Gap);
        }
        self.last_taken = frame.number;
        Ok(frame.body)
    }

    /// Takes as many waiting messages as fit in a frame.
    fn gather(&mut self) -> Bytes {
        let first = self.waiting.pop_front().unwrap_or_default();
        let fits = |length: usize, next: &Bytes| length + next.len() <= FRAME_BYTES;
        if !self
            .waiting
            .front()
            .is_some_and(|next| fits(first.len(), next))
        {
            return first;
        }
        let mut body = Vec::with_capacity(FRAME_BYTES.min(self.waiting_bytes));
        body.extend_from_slice(&first);
        while let Some(next) = self.waiting.pop_front() {
            body.extend_from_slice(&next);
            let more = self.waiting.front();
            if !more.is_some_and(|next| fits(body.len(), next)) {
                break;
            }
        }
        body.into()
    }
}
