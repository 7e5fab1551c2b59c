use super::*;
use crate::wire::Header;

fn message(bytes: usize) -> Outgoing {
    message_of(None, bytes)
}

fn message_of(agent: Option<&str>, bytes: usize) -> Outgoing {
    let header = Header {
        kind: "progress",
        id: None,
        agent,
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

/// The texts of all messages that are written.
fn written(outbox: &Outbox) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(OutboxStep::Message(message, cost)) = outbox.pop() {
        outbox.written(cost);
        texts.push(message.into_text());
    }
    texts
}

/// A queue that keeps messages, with a long message of one agent and a short one of another after it, twice.
fn of_two_agents(budget: &Arc<QueuedBytes>) -> Outbox {
    let outbox = Outbox::new(1_000_000, budget.clone());
    outbox.keep();
    for _ in 0..2 {
        outbox.push(message_of(Some("long"), 10_000));
        outbox.push(message_of(Some("short"), 10));
    }
    outbox
}

#[test]
fn a_short_message_of_one_agent_is_written_before_long_ones_of_another() {
    let texts = written(&of_two_agents(&Arc::default()));
    let short = |text: &&String| text.contains("short");
    assert_eq!(texts.iter().take(2).filter(short).count(), 2);
    assert_eq!(texts.len(), 4);
}

#[test]
fn what_a_peer_lacks_after_messages_took_turns_is_written_again_once_and_in_the_same_order() {
    let whole = written(&of_two_agents(&Arc::default()));
    // So many messages are written before the connection is lost, and so many of them are received.
    for (sent, received) in [(0, 0), (1, 0), (1, 1), (3, 2), (4, 0), (4, 4)] {
        let budget = Arc::<QueuedBytes>::default();
        let before = of_two_agents(&budget);
        for _ in 0..sent {
            let Some(OutboxStep::Message(_, cost)) = before.pop() else {
                panic!("there are {sent} messages")
            };
            before.written(cost);
        }
        assert!(before.suspend().is_some());
        before.push(message_of(Some("later"), 10));
        before.end();
        let after = Outbox::new(1_000_000, budget.clone());
        let first = message_of(Some("first"), 10);
        after.take_over(&before, received as u64, first).unwrap();
        drop(before);
        let texts = written(&after);
        assert!(texts[0].contains("first"), "{sent} {received}");
        assert_eq!(
            texts[1..texts.len() - 1],
            whole[received..],
            "{sent} {received}"
        );
        assert!(texts.last().unwrap().contains("later"));
        after.acknowledge(5).unwrap();
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn a_peer_cannot_acknowledge_what_was_not_written() {
    let outbox = of_two_agents(&Arc::default());
    assert_eq!(outbox.acknowledge(1), Err(Misfit));
    outbox.pop();
    assert_eq!(outbox.acknowledge(1), Ok(()));
}

#[test]
fn a_queue_that_keeps_nothing_any_more_writes_what_waits_and_counts_nothing_twice() {
    let budget = Arc::<QueuedBytes>::default();
    let outbox = of_two_agents(&budget);
    outbox.forget();
    outbox.keep();
    assert_eq!(written(&outbox).len(), 4);
    assert_eq!(budget.used(), 0);
    assert_eq!(outbox.acknowledge(1), Err(Misfit));
}
