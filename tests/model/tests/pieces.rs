//! The pieces of the core, beside the simplest thing that could be right: every sequence of steps up to a
//! length, on few ids.

use caphost::call::{CallId, CancelAnswer, Deadlines, End, LateEnd, Ledger, Queue, Standing, Stop};

/// Every sequence of `length` numbers below `many`.
fn sequences(many: usize, length: u32, mut each: impl FnMut(&[usize])) {
    let mut steps = vec![0; length as usize];
    for mut number in 0..many.pow(length) {
        for step in &mut steps {
            *step = number % many;
            number /= many;
        }
        each(&steps);
    }
}

/// What a ledger should know: the calls in flight by key, and the last ends, oldest first.
#[derive(Default)]
struct Book {
    in_flight: Vec<(usize, u32)>,
    ended: Vec<(usize, End, Option<LateEnd>)>,
}

const LATE: LateEnd = LateEnd {
    success: true,
    after: 1.0,
};

impl Book {
    const REMEMBERS: usize = 2;

    fn end(&mut self, id: usize, end: End) {
        let before = self.in_flight.len();
        self.in_flight.retain(|(it, _)| *it != id);
        if self.in_flight.len() == before {
            return;
        }
        self.note(id, end);
    }

    fn note(&mut self, id: usize, end: End) {
        match self.ended.iter_mut().find(|(it, ..)| *it == id) {
            Some(known) => (known.1, known.2) = (end, None),
            None => self.ended.push((id, end, None)),
        }
        if self.ended.len() > Book::REMEMBERS {
            self.ended.remove(0);
        }
    }

    fn is_in_flight(&self, id: usize) -> bool {
        self.in_flight.iter().any(|(it, _)| *it == id)
    }

    fn decide(&mut self, id: usize, end: End) {
        let known = self.ended.iter().find(|(it, ..)| *it == id);
        let open = known.is_some_and(|(_, end, _)| matches!(end, End::Unknown | End::Undecided));
        if open && !self.is_in_flight(id) {
            self.note(id, end);
        }
    }

    fn ended_late(&mut self, id: usize) {
        let abandoned = End::Cancelled(Stop::Abandoned);
        let known = self.ended.iter_mut();
        if let Some(known) = known.into_iter().find(|it| it.0 == id && it.1 == abandoned) {
            known.2.get_or_insert(LATE);
        }
    }

    fn standing(&self, id: usize) -> Standing {
        let in_flight = self.in_flight.iter().find(|(it, _)| *it == id);
        let ended = self.ended.iter().find(|(it, ..)| *it == id);
        match (in_flight, ended) {
            (Some((_, key)), _) => Standing::InFlight(*key),
            (None, Some((_, end, _))) => Standing::Ended(*end),
            (None, None) => Standing::Unknown,
        }
    }

    fn answer(&self, id: usize) -> CancelAnswer {
        match self.ended.iter().find(|(it, ..)| *it == id) {
            Some((_, End::Cancelled(stop), ended)) => CancelAnswer::Cancelled {
                stop: *stop,
                ended: *ended,
                by: None,
            },
            Some(_) => CancelAnswer::AlreadyCompleted,
            None => CancelAnswer::NotFound,
        }
    }
}

#[test]
fn a_ledger_knows_exactly_the_calls_in_flight_and_the_last_ends() {
    let ids = ["a", "b", "c"].map(|it| CallId::parse(it).unwrap());
    const STEPS: usize = 7;
    sequences(ids.len() * STEPS, 4, |steps| {
        let (mut ledger, mut book) = (Ledger::new(Book::REMEMBERS), Book::default());
        for (key, step) in (1..).zip(steps) {
            let (id, step) = (step / STEPS, step % STEPS);
            let name = &ids[id];
            let end = [
                End::Completed,
                End::Unknown,
                End::Cancelled(Stop::Abandoned),
            ];
            match step {
                0 if !book.is_in_flight(id) => {
                    ledger.enter(name, key);
                    book.in_flight.push((id, key));
                }
                0 => {}
                1..=3 => {
                    ledger.end(name, end[step - 1]);
                    book.end(id, end[step - 1]);
                }
                4 => {
                    let known = book.is_in_flight(id);
                    book.in_flight.retain(|(it, _)| *it != id);
                    assert_eq!(ledger.withdraw(name), known);
                }
                5 => {
                    ledger.decide(name, end[2]);
                    book.decide(id, end[2]);
                }
                _ => {
                    ledger.ended_late(name, LATE);
                    book.ended_late(id);
                }
            }
            for (id, name) in ids.iter().enumerate() {
                assert_eq!(ledger.standing(name), book.standing(id), "{steps:?}");
                assert_eq!(ledger.answer(name), book.answer(id), "{steps:?}");
            }
            assert_eq!(ledger.in_flight(), book.in_flight.len(), "{steps:?}");
            assert_eq!(ledger.remembered(), book.ended.len(), "{steps:?}");
        }
    });
}

#[test]
fn a_queue_gives_its_slots_in_order_to_those_that_still_wait() {
    for limit in 1..=2 {
        // Enter the next call, or one of four calls leaves or gives up.
        sequences(9, 6, |steps| {
            let mut queue = Queue::new(Some(limit));
            let (mut next, mut holders, mut waiting) = (0, Vec::new(), Vec::new());
            for step in steps {
                let key = (step / 2) as u32;
                match step {
                    8 => {
                        let free = holders.len() < limit && waiting.is_empty();
                        assert_eq!(queue.enter(next), free, "{steps:?}");
                        if free { &mut holders } else { &mut waiting }.push(next);
                        next += 1;
                    }
                    _ if step % 2 == 0 => {
                        let held = holders.iter().position(|it| *it == key);
                        let expected = held.and_then(|at| {
                            holders.remove(at);
                            (!waiting.is_empty()).then(|| waiting.remove(0))
                        });
                        holders.extend(expected);
                        let waits = waiting.clone();
                        let is_waiting = |it| waits.contains(&it) || expected == Some(it);
                        assert_eq!(queue.leave(key, is_waiting), expected, "{steps:?}");
                    }
                    _ => {
                        if let Some(at) = waiting.iter().position(|it| *it == key) {
                            waiting.remove(at);
                            let waits = waiting.clone();
                            queue.abandon(|it| waits.contains(&it));
                        }
                    }
                }
                let mut held: Vec<_> = queue.holders().iter().copied().collect();
                let mut expected = holders.clone();
                held.sort_unstable();
                expected.sort_unstable();
                assert_eq!(held, expected, "{steps:?}");
            }
        });
    }
}

#[test]
fn deadlines_come_up_in_order_and_those_of_ended_keys_never() {
    // Add one of two times under the next key, end one of four keys, or let time pass.
    sequences(8, 6, |steps| {
        let mut deadlines = Deadlines::default();
        let (mut now, mut next, mut live) = (0.0, 0_u32, Vec::new());
        for step in steps {
            match step {
                0 | 1 => {
                    let at = now + [5.0, 12.0][*step];
                    deadlines.insert(at, next);
                    live.push((at, next));
                    next += 1;
                }
                2..=5 => {
                    let key = (step - 2) as u32;
                    if let Some(at) = live.iter().position(|(_, it)| *it == key) {
                        live.remove(at);
                        let left = live.clone();
                        deadlines.forget(|key| left.iter().any(|(_, it)| *it == key));
                    }
                }
                _ => now += [5.0, 10.0][step - 6],
            }
            live.sort_by(|one, other| one.partial_cmp(other).unwrap());
            let is_live = |key| live.iter().any(|(_, it)| *it == key);
            assert_eq!(
                deadlines.next(is_live),
                live.first().map(|it| it.0),
                "{steps:?}"
            );
            let mut due = Vec::new();
            while let Some(key) = deadlines.pop_expired(now) {
                due.extend(is_live(key).then_some(key));
            }
            let passed: Vec<_> = live
                .iter()
                .filter(|it| it.0 <= now)
                .map(|it| it.1)
                .collect();
            assert_eq!(due, passed, "{steps:?}");
            live.retain(|it| it.0 > now);
        }
    });
}
