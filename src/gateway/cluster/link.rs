//! A reliable way to one other worker, over a stream that may lose, repeat and hold back.
//!
//! A state machine without sockets or clocks. Frames are numbered from 1 and kept until they are
//! acknowledged; whatever is missing is sent again, and what has come before is dropped. Of one
//! pair of workers there is one link: a worker that was taken for dead joins under a new id.

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
    /// When an acknowledgement last came, and how often in vain it was sent again since.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u32) -> Bytes {
        Bytes::copy_from_slice(&number.to_be_bytes())
    }

    fn numbers(body: &Bytes) -> impl Iterator<Item = u32> + '_ {
        body.chunks(4)
            .map(|it| u32::from_be_bytes(it.try_into().unwrap()))
    }

    /// Draws the same numbers in every run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) % end
        }
    }

    #[test]
    fn whatever_is_lost_or_repeated_each_message_comes_once_and_in_order() {
        for seed in 0..50 {
            let mut dice = Dice(seed);
            let (mut ends, mut wires) = ([Link::default(), Link::default()], [vec![], vec![]]);
            let (mut pushed, mut taken) = ([0, 0], [0, 0]);
            let mut now = 0.0;
            for step in 0.. {
                now += 20.0;
                let noisy = step < 500;
                for end in 0..2 {
                    if noisy && dice.below(3) == 0 {
                        ends[end].push(message(pushed[end]));
                        pushed[end] += 1;
                    }
                    if noisy && dice.below(40) == 0 {
                        ends[end].send_again();
                    }
                    while let Some(frame) = ends[end].next_frame(now) {
                        if noisy && dice.below(4) == 0 {
                            continue;
                        }
                        if noisy && dice.below(8) == 0 {
                            wires[end].push(frame.clone());
                        }
                        wires[end].push(frame);
                    }
                    for frame in wires[end].drain(..) {
                        if let Taken::Next(body) = ends[1 - end].take(frame, now) {
                            for number in numbers(&body) {
                                assert_eq!(number, taken[end], "seed {seed}");
                                taken[end] += 1;
                            }
                        }
                    }
                }
                let over = !noisy && ends.iter().all(|end| end.deadline().is_none());
                if over {
                    break;
                }
                assert!(step < 5_000, "seed {seed} comes to no end");
            }
            assert_eq!(pushed, taken, "seed {seed}");
            assert!(ends.iter().all(|end| end.is_settled() && end.has_room()));
        }
    }

    #[test]
    fn what_waits_goes_out_together() {
        let mut link = Link::default();
        (0..3).for_each(|number| link.push(message(number)));
        let frame = link.next_frame(0.0).unwrap();
        assert_eq!((frame.number, frame.body.len()), (1, 12));
        assert_eq!(link.next_frame(0.0), None);
    }

    #[test]
    fn a_large_message_goes_alone_and_there_is_no_room_until_it_has_come() {
        let mut link = Link::default();
        link.push(message(0));
        link.push(Bytes::from(vec![0; WINDOW_BYTES]));
        assert!(!link.has_room());
        assert_eq!(link.next_frame(0.0).unwrap().body.len(), 4);
        assert_eq!(link.next_frame(0.0).unwrap().body.len(), WINDOW_BYTES);
        let ack = |ack| Frame {
            number: 0,
            ack,
            body: Bytes::new(),
        };
        link.take(ack(1), 0.0);
        assert!(!link.has_room());
        link.take(ack(2), 0.0);
        assert!(link.has_room());
    }

    #[test]
    fn an_acknowledgement_goes_with_an_answer_or_after_a_while() {
        let mut link = Link::default();
        let frame = |number| Frame {
            number,
            ack: 0,
            body: message(7),
        };
        link.take(frame(1), 0.0);
        assert_eq!(link.next_frame(10.0), None);
        assert_eq!(link.deadline(), Some(ACK_MS));
        assert_eq!(link.next_frame(ACK_MS).unwrap().ack, 1);
        assert_eq!(link.deadline(), None);
        link.take(frame(2), 200.0);
        link.push(message(8));
        let answer = link.next_frame(201.0).unwrap();
        assert_eq!((answer.number, answer.ack), (1, 2));
        assert_eq!(link.take(frame(4), 202.0), Taken::Early);
    }
}
