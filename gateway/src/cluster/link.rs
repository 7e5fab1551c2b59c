//! A reliable way to one other worker, over a stream that may lose, repeat and hold back.
//!
//! A state machine without sockets or clocks. Frames are numbered from 1 and kept until they are
//! acknowledged; whatever is missing is sent again, and what has come before is dropped. Of one
//! pair of workers there is one link: a worker that was taken for dead joins under a new id.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use bytes::Bytes;

/// Bytes of the messages put into one frame, unless one message alone has more: 256 KiB.
const FRAME_BYTES: usize = 256 << 10;
/// Bytes that may wait to be sent or acknowledged before no more should be pushed: 8 MiB.
const WINDOW_BYTES: usize = 8 << 20;
/// Milliseconds without an acknowledgement after which what waits for one is sent again; twice as
/// long each time, up to the longest.
const RESEND_MS: f64 = 1_000.0;
const LONGEST_RESEND_MS: f64 = 8_000.0;
/// Frames taken after which they are acknowledged at once.
const ACK_FRAMES: u32 = 64;
/// Milliseconds for which an acknowledgement waits for a frame to go with.
const ACK_MS: f64 = 100.0;

/// What is sent at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its number; 0 for one that only acknowledges.
    pub number: u64,
    /// The number of the last frame taken.
    pub ack: u64,
    /// Its messages, one after the other.
    pub body: Bytes,
}

/// What became of a frame that has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is the next one: its messages.
    Next(Bytes),
    /// It had come before, or only acknowledges.
    Nothing,
    /// One before it is missing.
    Early,
}

/// One worker's end of a link. Times are milliseconds on a clock that never goes back.
#[derive(Debug, Default)]
pub struct Link {
    waiting: VecDeque<Bytes>,
    sent: VecDeque<Sent>,
    /// How many of `sent` are to be sent again.
    again: usize,
    bytes: usize,
    last_sent: u64,
    last_taken: u64,
    /// When an acknowledgement last came, and how many resends were in vain since.
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
    /// Adds a message to be sent.
    pub fn push(&mut self, message: Bytes) {
        self.bytes += message.len();
        self.waiting.push_back(message);
    }

    /// Whether there is room for another message.
    pub fn has_room(&self) -> bool {
        self.bytes < WINDOW_BYTES
    }

    /// Whether everything pushed has been acknowledged.
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

    /// What was given out at `then` was written only `now`: nobody could acknowledge it
    /// before.
    pub fn written(&mut self, then: f64, now: f64) {
        for sent in self.sent.iter_mut().filter(|sent| sent.at == then) {
            sent.at = now;
        }
    }

    /// When [`Link::next_frame`] is to be asked again, if nothing happens before.
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

    /// Everything that is not acknowledged goes out again: it may have been lost.
    pub fn send_again(&mut self) {
        self.again = self.sent.len();
    }

    /// Takes a frame that has come.
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

    /// The messages waiting, as many as a frame holds.
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
