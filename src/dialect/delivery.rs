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
mod tests {
    use super::*;

    /// One of two sides. A side sends the numbers 0, 1, 2, … and notes the numbers that arrive.
    #[derive(Default)]
    struct Side {
        sent: Sent<u64>,
        next: u64,
        received: Received,
        heard: Vec<u64>,
        /// The frames on their way to the other side.
        wire: VecDeque<Frame>,
    }

    enum Frame {
        Message(u64),
        Ack(u64),
    }

    impl Side {
        fn send(&mut self) {
            self.sent.keep(self.next, 1);
            self.wire.push_back(Frame::Message(self.next));
            self.next += 1;
        }

        fn acknowledge(&mut self) {
            let told = self.received.take_untold();
            self.wire.extend(told.map(Frame::Ack));
        }

        fn hear(&mut self, frame: Frame) {
            match frame {
                Frame::Message(number) => {
                    self.received.note(1);
                    self.heard.push(number);
                }
                Frame::Ack(received) => self.sent.acknowledge(received).unwrap(),
            }
        }

        /// There is a new connection: the other side has received `received` messages.
        fn resume(&mut self, received: u64) {
            self.sent.acknowledge(received).unwrap();
            self.wire = self.sent.kept().copied().map(Frame::Message).collect();
        }
    }

    /// The connection breaks and all frames on their way are lost. A new connection takes its place.
    fn reconnect(app: &mut Side, gateway: &mut Side) {
        let (of_app, of_gateway) = (app.received.tell(), gateway.received.tell());
        app.resume(of_gateway);
        gateway.resume(of_app);
    }

    fn arrive(from: &mut Side, to: &mut Side) {
        if let Some(frame) = from.wire.pop_front() {
            to.hear(frame);
        }
    }

    fn settle(app: &mut Side, gateway: &mut Side) {
        while !(app.wire.is_empty() && gateway.wire.is_empty()) {
            arrive(app, gateway);
            arrive(gateway, app);
        }
        for (from, to) in [(&*app, &*gateway), (&*gateway, &*app)] {
            assert_eq!(to.heard, (0..from.next).collect::<Vec<_>>());
        }
    }

    #[test]
    fn wherever_the_connection_breaks_every_message_arrives_once_and_in_order() {
        // Each side sends five messages and two acknowledgements. Only `up` and `down` of these frames
        // arrive.
        for (up, down) in (0..=7).flat_map(|up| (0..=7).map(move |down| (up, down))) {
            for again in 0..=5 {
                let (mut app, mut gateway) = (Side::default(), Side::default());
                for turn in 0..5 {
                    app.send();
                    gateway.send();
                    if turn % 2 == 1 {
                        app.acknowledge();
                        gateway.acknowledge();
                    }
                }
                (0..up).for_each(|_| arrive(&mut app, &mut gateway));
                (0..down).for_each(|_| arrive(&mut gateway, &mut app));
                reconnect(&mut app, &mut gateway);
                (0..again).for_each(|_| arrive(&mut app, &mut gateway));
                reconnect(&mut app, &mut gateway);
                settle(&mut app, &mut gateway);
            }
        }
    }

    #[test]
    fn whatever_happens_every_message_arrives_once_and_in_order() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..500 {
            let (mut app, mut gateway) = (Side::default(), Side::default());
            for _ in 0..200 {
                match random(16) {
                    0..4 => app.send(),
                    4..8 => gateway.send(),
                    8..11 => arrive(&mut app, &mut gateway),
                    11..14 => arrive(&mut gateway, &mut app),
                    14 => {
                        app.acknowledge();
                        gateway.acknowledge();
                    }
                    _ => reconnect(&mut app, &mut gateway),
                }
            }
            settle(&mut app, &mut gateway);
            app.acknowledge();
            gateway.acknowledge();
            settle(&mut app, &mut gateway);
            assert_eq!((app.sent.bytes(), gateway.sent.bytes()), (0, 0));
        }
    }

    #[test]
    fn a_count_that_cannot_be_is_refused() {
        let mut sent = Sent::default();
        for number in 0..3 {
            sent.keep(number, 10);
        }
        assert_eq!(sent.acknowledge(4), Err(Misfit), "never sent");
        assert_eq!(sent.acknowledge(2), Ok(()));
        assert_eq!(sent.acknowledge(1), Err(Misfit), "forgotten");
        assert_eq!(sent.acknowledge(u64::MAX), Err(Misfit));
        assert_eq!((sent.bytes(), sent.kept().count()), (10, 1));
    }

    #[test]
    fn no_more_is_kept_than_fits_but_always_one_message() {
        let mut sent = Sent::default();
        assert!(sent.has_room(20, 10));
        sent.keep((), 20);
        assert!(!sent.has_room(1, 10));
        sent.acknowledge(1).unwrap();
        sent.keep((), 9);
        assert!(sent.has_room(1, 10));
        assert!(!sent.has_room(2, 10));
    }

    #[test]
    fn acknowledgements_are_due_after_many_messages_or_bytes_and_else_a_little_later() {
        let mut received = Received::default();
        assert_eq!(received.take_untold(), None);
        assert_eq!(received.note(1), Due::Later);
        for _ in 2..MESSAGES {
            assert_eq!(received.note(1), Due::Pending);
        }
        assert_eq!(received.note(1), Due::Now);
        assert_eq!(received.take_untold(), Some(MESSAGES));
        assert_eq!(received.take_untold(), None);
        assert_eq!(received.note(BYTES), Due::Now);
        assert_eq!(received.tell(), MESSAGES + 1);
    }
}
