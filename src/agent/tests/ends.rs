use super::*;
use crate::call::Code;

fn codes(actions: &[Step]) -> Vec<Option<&str>> {
    actions.iter().map(failure).collect()
}

#[test]
fn a_lost_transport_settles_everything_as_disconnected() {
    let mut agent = Agent::new();
    let (first, second) = (agent.sent("a"), agent.sent("b"));
    let cancel = agent.cancel("b");
    let unsent = agent.make(call("c"));
    agent.actions();
    agent.state.disconnected();
    agent.state.disconnected();
    let actions = agent.actions();
    assert_eq!(codes(&actions[..4]), [Some("DISCONNECTED"); 4]);
    assert_eq!(actions[4..], [Action::Closed(Code::DISCONNECTED)]);
    let keys = actions[..4].iter().map(|action| match action {
        Action::SettleCancel(key, _) | Action::Settle(key, _) => *key,
        other => panic!("{other:?}"),
    });
    let order: Vec<_> = keys.collect();
    assert_eq!(order, [cancel, first, second, unsent]);
    agent.state.flush(agent.now);
    agent.assert_at_rest();
}

#[test]
fn after_that_calls_and_cancels_are_answered_at_once() {
    let mut agent = Agent::new();
    agent.state.disconnected();
    agent.actions();
    agent.make(call("a"));
    agent.state.cancel(id("a"), None, agent.now);
    assert_eq!(codes(&agent.actions()), [Some("DISCONNECTED"); 2]);
    agent.assert_at_rest();
}

#[test]
fn a_cancel_pending_at_the_loss_says_what_its_call_said() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.answer(key, "cancelled");
    agent.state.disconnected();
    let closed = Action::Closed(Code::DISCONNECTED);
    assert_eq!(agent.actions(), [cancelled(key), confirmed(cancel), closed]);
}

#[test]
fn a_shutdown_waits_for_the_hosts_answers() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let unsent = agent.make(call("b"));
    agent.actions();
    agent.state.shutdown(Some("done".into()), agent.now);
    agent.state.shutdown(None, agent.now);
    let shutdown = Request::Shutdown {
        reason: Some("done".into()),
    };
    let sent = [
        Action::Send(unsent, Request::Call(call("b"))),
        Action::Send(unsent + 1, shutdown),
    ];
    assert_eq!(agent.actions(), sent);
    agent.answer(key, "cancelled");
    agent.answer(unsent, "cancelled");
    agent.state.shut_down();
    let closed = Action::Closed(Code::NOT_INITIALIZED);
    assert_eq!(agent.actions(), [cancelled(key), cancelled(unsent), closed]);
    agent.make(call("c"));
    agent.state.cancel(id("a"), None, agent.now);
    assert_eq!(codes(&agent.actions()), [Some("NOT_INITIALIZED"); 2]);
    agent.assert_at_rest();
}

#[test]
fn no_call_is_made_during_a_shutdown() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.shutdown(None, agent.now);
    agent.actions();
    agent.make(call("b"));
    assert_eq!(codes(&agent.actions()), [Some("NOT_INITIALIZED")]);
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
}

#[test]
fn a_host_that_does_not_answer_a_shutdown_ends_it_all_the_same() {
    let mut agent = Agent::new();
    agent.state.shutdown(None, agent.now);
    agent.actions();
    agent.wait(500.0);
    assert_eq!(agent.actions(), [Action::Closed(Code::NOT_INITIALIZED)]);
    agent.assert_at_rest();
}

#[test]
fn with_calls_pending_it_is_given_the_grace() {
    let mut agent = Agent::new();
    let (first, _) = (agent.sent("a"), agent.sent("b"));
    agent.state.shutdown(None, agent.now);
    agent.actions();
    agent.wait(1_200.0);
    agent.answer(first, "cancelled");
    assert_eq!(agent.actions(), [cancelled(first)]);
    agent.wait(3_799.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1.0);
    let actions = agent.actions();
    assert_eq!(failure(&actions[0]), Some("DISCONNECTED"));
    assert_eq!(actions[1], Action::Closed(Code::NOT_INITIALIZED));
    agent.assert_at_rest();
}

#[test]
fn it_ends_soon_after_the_last_answer() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.shutdown(None, agent.now);
    agent.actions();
    agent.wait(700.0);
    agent.answer(key, "cancelled");
    agent.actions();
    agent.wait(300.0);
    assert_eq!(agent.actions(), [Action::Closed(Code::NOT_INITIALIZED)]);
}

#[test]
fn a_cancel_that_a_shutdown_overtakes_says_what_became_of_the_call() {
    for response in ["cancelled", "data"] {
        let mut agent = Agent::new();
        let key = agent.sent("a");
        let cancel = agent.cancel("a");
        agent.state.shutdown(None, agent.now);
        agent.actions();
        agent.refuse_with(cancel, NO_SESSION, "NOT_INITIALIZED");
        assert_eq!(agent.actions(), []);
        agent.answer(key, response);
        let expected = match response {
            "cancelled" => [confirmed(cancel), cancelled(key)],
            _ => [
                refused(cancel, "Operation already completed"),
                responded(key, "data"),
            ],
        };
        assert_eq!(agent.actions(), expected);
        agent.state.shut_down();
        assert_eq!(agent.actions(), [Action::Closed(Code::NOT_INITIALIZED)]);
        agent.assert_at_rest();
    }
}

#[test]
fn after_a_disconnect_a_known_outcome_is_still_told() {
    let mut agent = Agent::new();
    for (call, response) in [("a", "cancelled"), ("b", "data")] {
        let key = agent.sent(call);
        agent.answer(key, response);
    }
    let lost = agent.sent("e");
    agent.answer(lost, "DISCONNECTED");
    agent.actions();
    let pending = agent.cancel("e");
    let unknown = agent.sent("c");
    agent.state.disconnected();
    assert_eq!(failure(&agent.actions()[0]), Some("DISCONNECTED"));
    assert!(pending < unknown);
    let now = agent.now;
    let [a, b, c, never, _] =
        ["a", "b", "c", "d", "e"].map(|it| agent.state.cancel(id(it), None, now));
    let actions = agent.actions();
    assert_eq!(actions[0], confirmed(a));
    assert_eq!(actions[1], refused(b, "Operation already completed"));
    assert_eq!(failure(&actions[2]), Some("DISCONNECTED"));
    assert_eq!(failure(&actions[3]), Some("DISCONNECTED"));
    assert_eq!(failure(&actions[4]), Some("DISCONNECTED"));
    assert!(unknown < c && c < never);
}

#[test]
fn a_host_without_the_session_has_lost_the_calls() {
    let mut agent = Agent::new();
    agent.sent("a");
    let cancel = agent.cancel("a");
    agent.refuse_with(cancel, NO_SESSION, "NOT_INITIALIZED");
    let actions = agent.actions();
    let outcome = CancelOutcome {
        grade: None,
        reason: None,
        error: Some(Ok("NOT_INITIALIZED")),
    };
    assert_eq!(actions[0], Action::SettleCancel(cancel, outcome));
    assert_eq!(failure(&actions[1]), Some("DISCONNECTED"));
    assert_eq!(actions[2], Action::Closed(Code::DISCONNECTED));
}
