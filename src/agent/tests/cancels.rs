use super::*;
use crate::call::StoppedBy;

#[test]
fn a_confirmed_cancel_settles_first_and_then_its_call() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.confirm(cancel);
    agent.answer(key, "cancelled");
    assert_eq!(agent.actions(), [confirmed(cancel), cancelled(key)]);
    agent.assert_at_rest();
}

#[test]
fn a_call_result_before_its_confirmation_is_as_good() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.answer(key, "cancelled");
    agent.confirm(cancel);
    assert_eq!(agent.actions(), [cancelled(key), confirmed(cancel)]);
}

#[test]
fn a_cancel_of_what_was_not_sent_is_confirmed_here() {
    let mut agent = Agent::new();
    let key = agent.make(call("a"));
    agent.actions();
    let cancel = agent.state.cancel(id("a"), None, agent.now);
    agent.state.flush(agent.now);
    assert_eq!(
        agent.actions(),
        [confirmed_as(Stop::NeverStarted, cancel), never_started(key)]
    );
    let again = agent.cancel("a");
    agent.refuse(again, "Operation not found");
    assert_eq!(agent.actions(), [confirmed_as(Stop::NeverStarted, again)]);
}

#[test]
fn a_cancel_of_an_unknown_call_is_for_the_host_to_answer() {
    let mut agent = Agent::new();
    let cancel = agent.cancel("nothing");
    agent.refuse(cancel, "Operation not found");
    assert_eq!(agent.actions(), [refused(cancel, "Operation not found")]);
    agent.assert_at_rest();
}

#[test]
fn a_call_that_completes_while_its_cancel_is_in_flight_keeps_its_result() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.answer(key, "data");
    agent.refuse(cancel, "Operation already completed");
    let completed = refused(cancel, "Operation already completed");
    assert_eq!(agent.actions(), [responded(key, "data"), completed]);
}

#[test]
fn a_confirmation_that_contradicts_the_response_is_not_believed() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.answer(key, "data");
    agent.confirm(cancel);
    let completed = refused(cancel, "Operation already completed");
    assert_eq!(agent.actions(), [responded(key, "data"), completed]);
}

#[test]
fn a_response_that_contradicts_the_confirmation_is_not_believed() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.confirm(cancel);
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [confirmed(cancel), cancelled(key)]);
}

#[test]
fn a_call_cancelled_although_its_cancel_was_refused_is_an_error_of_the_app() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.refuse(cancel, "Operation already completed");
    agent.answer(key, "cancelled");
    let actions = agent.actions();
    assert_eq!(actions[0], refused(cancel, "Operation already completed"));
    assert_eq!(failure(&actions[1]), Some("INTERNAL_ERROR"));
}

#[test]
fn a_second_cancel_gives_the_answer_of_the_first() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let (first, second) = (agent.cancel("a"), agent.cancel("a"));
    agent.refuse(first, "Operation already completed");
    agent.confirm(second);
    let reason = "Operation already completed";
    assert_eq!(
        agent.actions(),
        [refused(first, reason), refused(second, reason)]
    );
    agent.answer(key, "data");

    let key = agent.sent("b");
    let (first, second) = (agent.cancel("b"), agent.cancel("b"));
    agent.confirm(first);
    agent.refuse(second, "Operation not found");
    assert_eq!(
        agent.actions(),
        [confirmed(first), cancelled(key), confirmed(second)]
    );
}

#[test]
fn the_end_of_an_abandoned_call_reaches_later_cancels_from_the_agent_and_from_the_host() {
    let end = LateEnd {
        success: true,
        after: 150.0,
    };
    let told = |key| {
        let late_end = Some(end);
        let outcome = CancelOutcome::confirmed(Grade {
            late_end,
            ..Stop::Abandoned.into()
        });
        Action::SettleCancel(key, outcome)
    };
    for from_host in [false, true] {
        let mut agent = Agent::new();
        let key = agent.sent("a");
        let stop = Stop::Abandoned;
        let answer = Answer::Cancelled(stop.into());
        agent.state.called(key, answer, "cancelled");
        assert_eq!(
            agent.actions(),
            [Action::Settle(key, Settled::Cancelled(stop.into()))]
        );
        if !from_host {
            agent.state.ended("a", end);
        }
        let cancel = agent.cancel("a");
        let late_end = from_host.then_some(end);
        agent.confirm_as(
            cancel,
            Grade {
                late_end,
                ..stop.into()
            },
        );
        assert_eq!(agent.actions(), [told(cancel)]);
    }
}

#[test]
fn what_was_said_of_how_far_a_stop_was_seen_is_said_again() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.answer(key, "cancelled");
    agent.actions();
    let cancel = agent.cancel("a");
    agent.confirm_as(cancel, Stop::Abandoned);
    assert_eq!(agent.actions(), [confirmed(cancel)]);
}

#[test]
fn a_host_that_confirms_nothing_leaves_the_outcome_unknown() {
    let mut agent = Agent::new();
    agent.sent("a");
    let cancel = agent.cancel("a");
    agent.wait(4_999.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1.0);
    let actions = agent.actions();
    assert_eq!(
        actions[0],
        Action::SettleCancel(cancel, CancelOutcome::unconfirmed())
    );
    assert_eq!(failure(&actions[0]), Some("TIMEOUT"));
    assert_eq!(failure(&actions[1]), Some("TIMEOUT"));
    assert_eq!(actions.len(), 2);
    agent.assert_at_rest();
}

#[test]
fn an_unconfirmed_cancel_of_a_call_that_has_settled_says_what_is_known() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.answer(key, "data");
    agent.actions();
    let cancel = agent.cancel("a");
    agent.wait(5_000.0);
    assert_eq!(
        agent.actions(),
        [refused(cancel, "Operation already completed")]
    );
}

#[test]
fn a_host_that_cannot_cancel_says_so_and_the_call_goes_on() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.refuse_with(cancel, REFUSED, "NOT_SUPPORTED");
    let outcome = CancelOutcome {
        grade: None,
        reason: None,
        error: Some(Ok("NOT_SUPPORTED")),
    };
    assert_eq!(agent.actions(), [Action::SettleCancel(cancel, outcome)]);
    agent.wait(60_000.0);
    assert_eq!(agent.actions(), []);
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
}

#[test]
fn an_abort_cancels_and_the_response_tells() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.abort(key);
    agent.abort(key);
    let actions = agent.actions();
    let [Action::Send(cancel, Request::Cancel { call, reason })] = &actions[..] else {
        panic!("{actions:?}");
    };
    assert_eq!((call, reason.as_deref()), (&id("a"), Some("enough")));
    agent.confirm(*cancel);
    agent.answer(key, "cancelled");
    assert_eq!(agent.actions(), [cancelled(key)]);
    agent.assert_at_rest();
}

#[test]
fn an_abort_too_late_leaves_the_result() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.abort(key);
    agent.actions();
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
    agent.abort(key);
    assert_eq!(agent.actions(), []);
}

#[test]
fn an_abort_that_the_host_refuses_does_not_wait_for_ever() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.abort(key);
    agent.actions();
    agent.refuse(key + 1, "Operation not found");
    assert_eq!(agent.actions(), []);
    agent.wait(5_000.0);
    assert_eq!(failure(&agent.actions()[0]), Some("TIMEOUT"));
    agent.assert_at_rest();
}

fn terminated(took: Millis) -> Grade {
    Grade {
        by: StoppedBy::of_peer(Some("terminate"), Some(took)),
        ..Stop::Terminated.into()
    }
}

#[test]
fn what_has_stopped_a_call_is_told_to_its_caller_and_to_whoever_cancels_it() {
    let seen = terminated(57.0);
    let cancelled = |key| Action::Settle(key, Settled::Cancelled(seen));

    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.confirm_as(cancel, seen);
    let actions = agent.actions();
    assert_eq!(actions, [confirmed_as(seen, cancel), cancelled(key)]);
    // The host has answered that the call is cancelled, and says no more.
    let again = agent.cancel("a");
    agent.confirm_as(again, Stop::Terminated);
    assert_eq!(agent.actions(), [confirmed_as(seen, again)]);

    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent
        .state
        .called(key, Answer::Cancelled(seen), "cancelled");
    assert_eq!(agent.actions(), [cancelled(key)]);
    let cancel = agent.cancel("a");
    agent.confirm_as(cancel, terminated(99.0));
    assert_eq!(agent.actions(), [confirmed_as(seen, cancel)]);
}

#[test]
fn what_has_stopped_a_call_is_not_mixed_with_another_grade() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.answer(key, "cancelled");
    agent.actions();
    let cancel = agent.cancel("a");
    agent.confirm_as(cancel, terminated(57.0));
    assert_eq!(agent.actions(), [confirmed(cancel)]);
}

#[test]
fn an_answer_to_a_cancel_that_names_another_call_or_cannot_be_read_confirms_nothing() {
    let confirms = Confirmation::Cancelled(Stop::Dropped.into());
    for (call, confirmation) in [
        (Some("b"), confirms),
        (Some("b"), NO_SESSION),
        (Some("a"), Confirmation::Unreadable),
        (None, Confirmation::Unreadable),
    ] {
        let mut agent = Agent::new();
        let key = agent.sent("a");
        let cancel = agent.cancel("a");
        agent
            .state
            .cancelled(cancel, call, confirmation, None, None);
        let actions = agent.actions();
        assert_eq!(actions.len(), 1);
        assert_eq!(failure(&actions[0]), Some("TRANSPORT_ERROR"));
        agent.answer(key, "data");
        assert_eq!(agent.actions(), [responded(key, "data")]);
    }
}
