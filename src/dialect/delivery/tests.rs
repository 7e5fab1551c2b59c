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
