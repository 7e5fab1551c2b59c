//! A reliable link to another worker, over a stream that may lose, repeat and delay frames.
//!
//! A state machine without sockets or clocks. Frames have numbers from 1, and the link keeps each frame until
//! it is acknowledged. The link sends missing frames again, and drops repeated frames. Each pair of workers
//! has one link: a worker that was taken for dead joins under a new id.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use bytes::Bytes;

/// How many bytes of messages go into one frame: 256 KiB. A single message may be larger.
const FRAME_BYTES: usize = 256 << 10;
/// How many bytes may wait to be sent or acknowledged before no more should be pushed: 8 MiB.
const WINDOW_BYTES: usize = 8 << 20;
/// How many milliseconds without an acknowledgement pass before frames are sent again. The time doubles with
/// each attempt, up to the longest time.
const RESEND_MS: f64 = 1_000.0;
const LONGEST_RESEND_MS: f64 = 8_000.0;
/// How many received frames make an acknowledgement due at once.
const ACK_FRAMES: u32 = 64;
/// How many milliseconds an acknowledgement waits for a frame that can carry it.
const ACK_MS: f64 = 100.0;

/// A frame, which is sent as one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The frame's number. A frame that only acknowledges has the number 0.
    pub number: u64,
    /// The number of the last frame that the sender has received.
    pub ack: u64,
    /// The messages, one after the other.
    pub body: Bytes,
}

/// The result of receiving a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// The frame is the next one. Contains its messages.
    Next(Bytes),
    /// The frame is a repeated one, or only acknowledges.
    Nothing,
    /// An earlier frame is missing.
    Early,
}

/// One worker's end of a link. Times are milliseconds on a monotonic clock.
#[derive(Debug, Default)]
pub struct Link {
    waiting: VecDeque<Bytes>,
    sent: VecDeque<Sent>,
    /// How many frames of `sent` must be sent again.
    again: usize,
    bytes: usize,
    last_sent: u64,
    last_taken: u64,
    /// When an acknowledgement last came, and how many resends had no effect since.
    acknowledged_at: f64,
    resends: i32,
    owed: u32,
    owed_since: f64,
}

#[derive(Debug)]
struct Sent {
    number: u64,
    at: f64,
    body: Bytes,
}

impl Link {
    /// Adds a message to send.
    pub fn push(&mut self, message: Bytes) {
        self.bytes += message.len();
        self.waiting.push_back(message);
    }

    /// Whether there is room for another message.
    pub fn has_room(&self) -> bool {
        self.bytes < WINDOW_BYTES
    }

    /// Whether the other worker has acknowledged everything that was pushed.
    pub fn is_settled(&self) -> bool {
        self.bytes == 0
    }

    /// The next frame to send, if there is one.
    pub fn next_frame(&mut self, now: f64) -> Option<Frame> {
        if self.resend_at().is_some_and(|at| now >= at) {
            self.resends += 1;
            self.send_again();
        }
        if self.again > 0 {
            let index = self.sent.len() - self.again;
            self.again -= 1;
            self.owed = 0;
            let ack = self.last_taken;
            let sent = self.sent.get_mut(index)?;
            sent.at = now;
            let (number, body) = (sent.number, sent.body.clone());
            return Some(Frame { number, ack, body });
        }
        if !self.waiting.is_empty() {
            let body = self.gather();
            self.last_sent += 1;
            self.owed = 0;
            let number = self.last_sent;
            let at = now;
            self.sent.push_back(Sent {
                number,
                at,
                body: body.clone(),
            });
            let ack = self.last_taken;
            return Some(Frame { number, ack, body });
        }
        let due = self.owed >= ACK_FRAMES || (self.owed > 0 && now - self.owed_since >= ACK_MS);
        due.then(|| {
            self.owed = 0;
            Frame {
                number: 0,
                ack: self.last_taken,
                body: Bytes::new(),
            }
        })
    }

    /// The frames given out at `then` were written only at `now`. The other worker could not acknowledge them
    /// before.
    pub fn written(&mut self, then: f64, now: f64) {
        for sent in self.sent.iter_mut().filter(|sent| sent.at == then) {
            sent.at = now;
        }
    }

    /// When to call [`Link::next_frame`] again, if nothing happens before.
    pub fn deadline(&self) -> Option<f64> {
        let resend = self.resend_at();
        let ack = (self.owed > 0).then_some(self.owed_since + ACK_MS);
        match (resend, ack) {
            (Some(resend), Some(ack)) => Some(resend.min(ack)),
            (one, other) => one.or(other),
        }
    }

    fn resend_at(&self) -> Option<f64> {
        let patience = (RESEND_MS * 2_f64.powi(self.resends)).min(LONGEST_RESEND_MS);
        let first = self.sent.front()?;
        Some(first.at.max(self.acknowledged_at) + patience)
    }

    /// Sends all unacknowledged frames again, because they may have been lost.
    pub fn send_again(&mut self) {
        self.again = self.sent.len();
    }

    /// Handles a received frame.
    pub fn take(&mut self, frame: Frame, now: f64) -> Taken {
        self.acknowledged(frame.ack, now);
        if frame.number == 0 {
            return Taken::Nothing;
        }
        if self.owed == 0 {
            self.owed_since = now;
        }
        self.owed += 1;
        if frame.number <= self.last_taken {
            return Taken::Nothing;
        }
        if frame.number != self.last_taken + 1 {
            return Taken::Early;
        }
        self.last_taken = frame.number;
        Taken::Next(frame.body)
    }

    fn acknowledged(&mut self, ack: u64, now: f64) {
        while self.sent.front().is_some_and(|it| it.number <= ack) {
            (self.acknowledged_at, self.resends) = (now, 0);
            if let Some(sent) = self.sent.pop_front() {
                self.bytes = self.bytes.saturating_sub(sent.body.len());
            }
        }
        self.again = self.again.min(self.sent.len());
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
        let mut body = Vec::with_capacity(FRAME_BYTES.min(self.bytes));
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
