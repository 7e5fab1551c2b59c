use super::*;

fn message(number: u32) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

fn numbers(body: &Bytes) -> impl Iterator<Item = u32> + '_ {
    body.chunks(4)
        .map(|it| u32::from_be_bytes(it.try_into().unwrap()))
}

/// A random number generator that draws the same numbers in every test run.
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

#[test]
fn what_takes_long_to_be_written_is_not_sent_again_meanwhile() {
    let mut link = Link::default();
    link.push(message(0));
    assert_eq!(link.next_frame(0.0).unwrap().number, 1);
    link.written(0.0, 5_000.0);
    assert_eq!(link.next_frame(5_000.0), None);
    assert_eq!(link.next_frame(5_000.0 + RESEND_MS).unwrap().number, 1);
}
