use super::*;
use crate::wire::Header;

fn message(bytes: usize) -> Outgoing {
    let header = Header {
        kind: "progress",
        id: None,
        agent: None,
        timestamp: "0",
    };
    Outgoing::new(header, &"x".repeat(bytes), None)
}

#[test]
fn a_queue_says_when_it_is_long_and_when_it_is_short_again() {
    let outbox = Outbox::new(10_000, Arc::default());
    assert_eq!(outbox.push(message(4_000)), Pushed::Queued);
    assert_eq!(outbox.push(message(2_000)), Pushed::Grown(Backlog::Long));
    assert_eq!(outbox.push(message(1_000)), Pushed::Queued);
    assert_eq!(outbox.push(message(1_000)), Pushed::Grown(Backlog::Full));
    assert_eq!(outbox.push(message(1)), Pushed::Queued);
    let mut less = Vec::new();
    while let Some(OutboxStep::Message(_, cost)) = outbox.pop() {
        less.push((outbox.written(cost), outbox.backlog()));
    }
    let (short, long) = (Backlog::Short, Backlog::Long);
    assert_eq!(
        less,
        [
            (true, long),
            (true, short),
            (false, short),
            (false, short),
            (false, short)
        ]
    );
}

#[test]
fn a_queue_past_its_limit_is_over() {
    let outbox = Outbox::new(10_000, Arc::default());
    assert_eq!(
        outbox.push(message(20_000)),
        Pushed::Grown(Backlog::Full),
        "one message always fits"
    );
    assert_eq!(outbox.push(message(1)), Pushed::Overflow);
    assert!(outbox.pop().is_none());
    assert_eq!(outbox.queue.lock().phase, OutboxPhase::Over);
}

#[test]
fn a_queue_that_lasts_is_emptied_but_for_farewells() {
    let outbox = Outbox::new(10_000, Arc::default()).lasting();
    let header = Header {
        kind: "agent/closed",
        id: None,
        agent: Some("a1"),
        timestamp: "0",
    };
    outbox.push(Outgoing::new(header, "{}", None));
    assert_eq!(outbox.push(message(9_000)), Pushed::Grown(Backlog::Full));
    assert_eq!(outbox.push(message(9_000)), Pushed::Emptied);
    assert!(outbox.is_open() && !outbox.is_congested());
    assert!(
        matches!(outbox.pop(), Some(OutboxStep::Message(farewell, _)) if farewell.is_farewell())
    );
    assert!(outbox.pop().is_none());
    assert_eq!(outbox.push(message(9_000)), Pushed::Grown(Backlog::Full));
}

#[test]
fn a_farewell_that_finds_no_room_in_a_queue_that_lasts_is_kept() {
    let outbox = Outbox::new(10_000, Arc::default()).lasting();
    let farewell = |agent| {
        let header = Header {
            kind: "agent/closed",
            id: None,
            agent: Some(agent),
            timestamp: "0",
        };
        Outgoing::new(header, "{}", None)
    };
    outbox.push(farewell("a1"));
    outbox.push(message(9_000));
    while outbox.push(farewell("a2")) != Pushed::Emptied {}
    let mut left = 0;
    while let Some(OutboxStep::Message(farewell, cost)) = outbox.pop() {
        assert!(farewell.is_farewell());
        outbox.written(cost);
        left += 1;
    }
    let cost = farewell("a2").cost();
    assert_eq!(left, 1 + (10_000 - message(9_000).cost() - cost) / cost + 1);
    assert_eq!(
        outbox.push(message(5_000)),
        Pushed::Grown(Backlog::Long),
        "nothing is counted twice"
    );
}

#[test]
fn the_close_frame_comes_after_what_was_queued_and_nothing_after_it() {
    let outbox = Outbox::new(10_000, Arc::default());
    outbox.push(message(1));
    outbox.close(CloseCode::APP_GONE, "first".into());
    outbox.close(CloseCode::GOING_AWAY, "second".into());
    outbox.push(message(2));
    assert!(matches!(outbox.pop(), Some(OutboxStep::Message(..))));
    assert!(
        matches!(outbox.pop(), Some(OutboxStep::Close(CloseCode::APP_GONE, reason)) if reason == "first")
    );
    assert!(outbox.pop().is_none());
}
