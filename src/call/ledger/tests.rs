use super::*;

fn id(text: &str) -> CallId {
    CallId::parse(text).unwrap()
}

#[test]
fn remembers_how_a_call_ended() {
    let mut ledger = Ledger::new(10);
    ledger.enter(&id("a"), 1);
    assert_eq!(ledger.standing("a"), Standing::InFlight(1));
    ledger.end(&id("a"), End::Cancelled(Stop::Dropped));
    assert_eq!(
        ledger.standing("a"),
        Standing::Ended(End::Cancelled(Stop::Dropped))
    );
    ledger.end(&id("a"), End::Completed);
    assert_eq!(
        ledger.standing("a"),
        Standing::Ended(End::Cancelled(Stop::Dropped))
    );
}

#[test]
fn evicts_the_oldest() {
    let mut ledger = Ledger::new(2);
    for (key, name) in ["a", "b", "c"].into_iter().enumerate() {
        ledger.enter(&id(name), key as CallKey);
        ledger.end(&id(name), End::Completed);
    }
    assert_eq!(ledger.standing("a"), Standing::Unknown);
    assert_eq!(ledger.standing("b"), Standing::Ended(End::Completed));
    assert_eq!(ledger.remembered(), 2);
}

#[test]
fn of_an_id_used_again_the_last_end_counts() {
    let mut ledger = Ledger::new(2);
    for (key, end) in [End::Unknown, End::Cancelled(Stop::Dropped)]
        .into_iter()
        .enumerate()
    {
        ledger.enter(&id("a"), key as CallKey);
        assert_eq!(ledger.standing("a"), Standing::InFlight(key as CallKey));
        ledger.end(&id("a"), end);
    }
    assert_eq!(
        ledger.standing("a"),
        Standing::Ended(End::Cancelled(Stop::Dropped))
    );
    assert_eq!((ledger.remembered(), ledger.in_flight()), (1, 0));
}

#[test]
fn one_withdrawn_was_never_there() {
    let mut ledger = Ledger::new(2);
    ledger.enter(&id("a"), 1);
    assert!(ledger.withdraw(&id("a")));
    assert_eq!(ledger.standing("a"), Standing::Unknown);
    assert_eq!((ledger.remembered(), ledger.in_flight()), (0, 0));
}

#[test]
fn says_how_an_abandoned_call_has_ended_since() {
    let mut ledger = Ledger::new(2);
    let end = LateEnd {
        success: true,
        after: 150.0,
    };
    for (key, stop) in [("a", Stop::Abandoned), ("b", Stop::Dropped)] {
        ledger.enter(&id(key), 1);
        ledger.end(&id(key), End::Cancelled(stop));
        ledger.ended_late(key, end);
    }
    let stop = Stop::Abandoned;
    let ended = Some(end);
    assert_eq!(
        ledger.answer("a"),
        CancelAnswer::Cancelled {
            stop,
            ended,
            by: None
        }
    );
    assert_eq!(ledger.answer("b"), CancelAnswer::cancelled(Stop::Dropped));
    assert_eq!(ledger.answer("c"), CancelAnswer::NotFound);
    ledger.enter(&id("c"), 1);
    ledger.end(&id("c"), End::Cancelled(stop));
    assert_eq!(ledger.answer("a"), CancelAnswer::NotFound);
    assert_eq!(ledger.answer("c"), CancelAnswer::cancelled(stop));
}

#[test]
fn a_ledger_that_is_kept_after_its_session_gives_its_room_back() {
    let mut ledger = Ledger::new(10);
    for key in 0..1_000 {
        ledger.enter(&id(&key.to_string()), key);
    }
    for key in 0..1_000 {
        ledger.withdraw(&id(&key.to_string()));
    }
    ledger.shrink();
    assert_eq!(ledger.calls.capacity(), 0);
}
