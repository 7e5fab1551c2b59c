use super::*;

const COMPLETED: &str = "Operation already completed";

/// A call and its cancel that were given up, because the page stood still.
fn given_up() -> (Agent, RequestKey, RequestKey) {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.wait(5_000.0);
    let actions = agent.actions();
    let failures: Vec<_> = actions.iter().map(failure).collect();
    assert_eq!(failures, [Some("TIMEOUT"); 2]);
    (agent, key, cancel)
}

/// Nobody answers any more, so that only what is known can be told.
fn told_without_the_app(agent: &mut Agent) -> Vec<Step> {
    let key = agent.cancel("a");
    agent.wait(5_000.0);
    let actions = agent.actions();
    assert!(matches!(&actions[..], [Action::SettleCancel(it, _)] if *it == key));
    actions
}

#[test]
fn a_repeated_cancel_gets_a_late_confirmation() {
    let (mut agent, key, cancel) = given_up();
    agent.confirm(cancel);
    agent.answer(key, "cancelled");
    // Those who were answered are not answered twice.
    assert_eq!(agent.actions(), []);
    let again = agent.cancel("a");
    agent.confirm(again);
    assert_eq!(agent.actions(), [confirmed(again)]);
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(again + 1)]);
    agent.assert_at_rest();
}

#[test]
fn a_late_response_of_a_cancelled_call_is_a_confirmation() {
    let (mut agent, key, _) = given_up();
    agent.answer(key, "cancelled");
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(key + 2)]);
}

#[test]
fn a_late_answer_to_a_cancel_that_names_another_call_is_known_as_that() {
    let (agent, key, cancel) = given_up();
    assert!(agent.state.is_of_another(cancel, "b"));
    for key in [key, cancel, cancel + 1] {
        assert!(!agent.state.is_of_another(key, "a"));
    }
    assert!(!agent.state.is_of_another(cancel + 1, "b"));
}

#[test]
fn a_late_response_of_a_completed_call_says_so() {
    let (mut agent, key, cancel) = given_up();
    agent.refuse(cancel, COMPLETED);
    agent.answer(key, "data");
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [refused(key + 2, COMPLETED)]);

    let (mut agent, key, _) = given_up();
    agent.answer(key, "data");
    let again = agent.cancel("a");
    agent.refuse(again, COMPLETED);
    assert_eq!(agent.actions(), [refused(again, COMPLETED)]);
}

#[test]
fn the_late_answer_that_comes_first_is_told_whatever_comes_after_it() {
    let (mut agent, key, cancel) = given_up();
    agent.answer(key, "data");
    agent.confirm(cancel);
    let again = agent.cancel("a");
    agent.confirm(again);
    assert_eq!(agent.actions(), [refused(again, COMPLETED)]);

    let (mut agent, key, cancel) = given_up();
    agent.confirm(cancel);
    agent.answer(key, "data");
    let again = agent.cancel("a");
    agent.refuse(again, COMPLETED);
    assert_eq!(agent.actions(), [confirmed(again)]);
}

#[test]
fn a_repeated_cancel_before_the_late_answer_gets_the_current_answer_of_the_app() {
    let (mut agent, key, cancel) = given_up();
    let again = agent.cancel("a");
    agent.confirm(again);
    assert_eq!(agent.actions(), [confirmed(again)]);
    agent.refuse(cancel, COMPLETED);
    agent.answer(key, "data");
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(again + 1)]);

    let (mut agent, ..) = given_up();
    let again = agent.cancel("a");
    agent.refuse(again, "Operation not found");
    assert_eq!(agent.actions(), [refused(again, "Operation not found")]);
    // That says nothing of what became of it.
    let actions = told_without_the_app(&mut agent);
    assert_eq!(failure(&actions[0]), Some("TIMEOUT"));
}

#[test]
fn a_silent_app_confirms_nothing_to_a_repeated_cancel() {
    let (mut agent, ..) = given_up();
    let actions = told_without_the_app(&mut agent);
    let unconfirmed = CancelOutcome::unconfirmed();
    assert!(matches!(&actions[..], [Action::SettleCancel(_, it)] if *it == unconfirmed));
}

#[test]
fn what_a_late_answer_says_of_an_aborted_call_is_told() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.abort(key);
    agent.actions();
    agent.wait(5_000.0);
    assert_eq!(failure(&agent.actions()[0]), Some("TIMEOUT"));
    agent.confirm(key + 1);
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(key + 2)]);
}

#[test]
fn a_cancel_that_is_confirmed_when_only_its_call_was_given_up_is_confirmed() {
    let mut agent = Agent::new();
    let timeout = Some(100.0);
    let key = agent.sent_call(Outgoing {
        timeout,
        ..call("a")
    });
    agent.wait(4_000.0);
    agent.actions();
    let cancel = agent.cancel("a");
    agent.wait(1_100.0);
    assert_eq!(failure(&agent.actions()[0]), Some("TIMEOUT"));
    agent.confirm(cancel);
    assert_eq!(agent.actions(), [confirmed(cancel)]);
    agent.answer(key, "cancelled");
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(cancel + 1)]);
}

#[test]
fn a_call_that_the_app_refused_to_cancel_as_completed_stays_so() {
    let mut agent = Agent::new();
    let timeout = Some(100.0);
    let key = agent.sent_call(Outgoing {
        timeout,
        ..call("a")
    });
    let cancel = agent.cancel("a");
    agent.refuse(cancel, COMPLETED);
    agent.wait(5_100.0);
    agent.actions();
    agent.answer(key, "cancelled");
    let again = agent.cancel("a");
    agent.confirm(again);
    assert_eq!(agent.actions(), [refused(again, COMPLETED)]);
}

#[test]
fn what_a_response_left_open_a_confirmation_decides() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.answer(key, "DISCONNECTED");
    agent.actions();
    let cancel = agent.cancel("a");
    agent.confirm(cancel);
    assert_eq!(agent.actions(), [confirmed(cancel)]);
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(cancel + 1)]);
}

#[test]
fn the_end_of_a_handler_that_a_late_confirmation_abandoned_is_told() {
    let (mut agent, _, cancel) = given_up();
    let stop = Stop::Abandoned;
    let end = LateEnd {
        success: false,
        after: 20.0,
    };
    agent.confirm_as(cancel, stop);
    agent.state.ended("a", end);
    let late_end = Some(end);
    let outcome = CancelOutcome::confirmed(Grade {
        late_end,
        ..stop.into()
    });
    let actions = told_without_the_app(&mut agent);
    assert!(matches!(&actions[..], [Action::SettleCancel(_, it)] if *it == outcome));
}

#[test]
fn after_a_disconnect_a_late_confirmation_is_still_told() {
    let (mut agent, _, cancel) = given_up();
    agent.confirm(cancel);
    agent.state.disconnected();
    agent.actions();
    let again = agent.state.cancel(id("a"), None, agent.now);
    assert_eq!(agent.actions(), [confirmed(again)]);
}

#[test]
fn of_several_cancels_that_were_given_up_the_last_one_may_confirm() {
    let mut agent = Agent::new();
    agent.sent("a");
    let (_, last) = (agent.cancel("a"), agent.cancel("a"));
    agent.wait(5_000.0);
    agent.actions();
    agent.confirm(last);
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(last + 1)]);
}

#[test]
fn the_late_confirmation_of_the_first_of_several_cancels_is_told_too() {
    let mut agent = Agent::new();
    agent.sent("a");
    let first = agent.cancel("a");
    let later = [agent.cancel("a"), agent.cancel("a")];
    agent.wait(5_000.0);
    assert_eq!(agent.actions().len(), 4);
    agent.confirm(first);
    let actions = told_without_the_app(&mut agent);
    assert_eq!(actions, [confirmed(later[1] + 1)]);
    agent.assert_at_rest();
}

#[test]
fn cancels_that_nobody_ever_answers_do_not_pile_up() {
    let (mut agent, key, first) = given_up();
    for _ in 0..1_000 {
        agent.cancel("a");
        agent.wait(5_000.0);
        agent.actions();
    }
    // The oldest of so many are forgotten, and the call itself is not.
    agent.confirm(first);
    assert!(matches!(
        told_without_the_app(&mut agent)[..],
        [Action::SettleCancel(_, CancelOutcome { grade: None, .. })]
    ));
    agent.answer(key, "cancelled");
    assert!(matches!(
        told_without_the_app(&mut agent)[..],
        [Action::SettleCancel(
            _,
            CancelOutcome { grade: Some(_), .. }
        )]
    ));
}
