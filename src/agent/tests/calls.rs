use super::*;

#[test]
fn calls_are_sent_in_order_at_the_flush() {
    let mut agent = Agent::new();
    let first = agent.make(call("a"));
    let second = agent.make(call("b"));
    assert_eq!(agent.actions(), [Action::Wake]);
    agent.state.flush(agent.now);
    let sent = [
        Action::Send(first, Request::Call(call("a"))),
        Action::Send(second, Request::Call(call("b"))),
    ];
    assert_eq!(agent.actions(), sent);
}

#[test]
fn the_hosts_response_settles_a_call_once() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.answer(key, "data");
    agent.answer(key, "again");
    agent.answer(key, "cancelled");
    assert_eq!(agent.actions(), [responded(key, "data")]);
    agent.assert_at_rest();
}

#[test]
fn an_answer_that_is_no_response_fails_the_call() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.called(key, Answer::Unreadable, "odd");
    assert_eq!(failure(&agent.actions()[0]), Some("TRANSPORT_ERROR"));
    agent.assert_at_rest();
}

#[test]
fn an_abort_in_the_same_tick_never_sends_the_call() {
    let mut agent = Agent::new();
    let key = agent.make(call("a"));
    agent.abort(key);
    assert_eq!(agent.actions(), [Action::Wake, never_started(key)]);
    agent.state.flush(agent.now);
    agent.assert_at_rest();
}

#[test]
fn an_already_aborted_signal_sends_nothing_and_counts_as_cancelled() {
    let mut agent = Agent::new();
    let key = agent.state.call_aborted(id("a"));
    assert_eq!(agent.actions(), [never_started(key)]);
    // The host has never heard of it; the confirmation agrees with the response all the same.
    let cancel = agent.cancel("a");
    agent.refuse(cancel, "Operation not found");
    assert_eq!(agent.actions(), [confirmed_as(Stop::NeverStarted, cancel)]);
    agent.assert_at_rest();
}

#[test]
fn an_already_aborted_signal_counts_as_cancelled_without_a_session_too() {
    let mut agent = Agent::new();
    agent.state.disconnected();
    agent.actions();
    let key = agent.state.call_aborted(id("a"));
    assert_eq!(agent.actions(), [never_started(key)]);
}

#[test]
fn a_call_id_in_flight_is_refused_and_the_first_call_undisturbed() {
    let mut agent = Agent::new();
    let first = agent.sent("a");
    agent.make(call("a"));
    agent.state.call_aborted(id("a"));
    let codes: Vec<_> = agent
        .actions()
        .iter()
        .map(|it| failure(it).map(String::from))
        .collect();
    assert_eq!(
        codes,
        [Some("INVALID_PARAMS".into()), Some("INVALID_PARAMS".into())]
    );
    agent.answer(first, "data");
    assert_eq!(agent.actions(), [responded(first, "data")]);
}

#[test]
fn a_call_id_said_to_be_cancelled_is_refused() {
    let mut agent = Agent::new();
    let first = agent.make(call("a"));
    agent.abort(first);
    agent.actions();
    agent.make(call("a"));
    assert_eq!(failure(&agent.actions()[0]), Some("INVALID_PARAMS"));
}

#[test]
fn after_a_response_the_host_decides_on_a_call_id_used_again() {
    let mut agent = Agent::new();
    let first = agent.sent("a");
    agent.answer(first, "data");
    agent.actions();
    let second = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.confirm(cancel);
    assert_eq!(agent.actions(), [confirmed(cancel), cancelled(second)]);
}

#[test]
fn what_cannot_be_sent_fails_its_call_only() {
    let mut agent = Agent::new();
    let (bad, good) = (agent.sent("a"), agent.sent("b"));
    agent
        .state
        .unsendable(bad, crate::call::Error::invalid_params("not cloneable"));
    assert_eq!(failure(&agent.actions()[0]), Some("INVALID_PARAMS"));
    agent.answer(good, "data");
    assert_eq!(agent.actions(), [responded(good, "data")]);
    // Its id is free again.
    let again = agent.sent("a");
    agent.answer(again, "data");
    assert_eq!(agent.actions(), [responded(again, "data")]);
}

#[test]
fn a_message_the_host_does_not_understand_fails_its_request_only() {
    let mut agent = Agent::new();
    let (bad, good) = (agent.sent("a"), agent.sent("b"));
    agent.state.refused(bad, Some("error"));
    assert_eq!(agent.actions(), [responded(bad, "error")]);
    let cancel = agent.cancel("b");
    agent.state.refused(cancel, Some("error"));
    assert_eq!(failure(&agent.actions()[0]), Some("TRANSPORT_ERROR"));
    agent.answer(good, "data");
    assert_eq!(agent.actions(), [responded(good, "data")]);
    agent.assert_at_rest();
}

#[test]
fn progress_reaches_its_call_and_is_dropped_after_its_end() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.progress("a", "half");
    agent.state.progress("b", "of another");
    assert_eq!(agent.actions(), [Action::Progress(key, "half")]);
    agent.answer(key, "data");
    agent.actions();
    agent.state.progress("a", "late");
    agent.assert_at_rest();
}

#[test]
fn ten_thousand_calls_leave_nothing_but_a_bounded_memory() {
    let mut agent = Agent::with(AgentOptions {
        remembered: 100,
        liveness: Some(30_000.0),
        ..AgentOptions::default()
    });
    for number in 0..10_000 {
        let timeout = Some(60_000.0);
        let key = agent.sent_call(Outgoing {
            timeout,
            ..call(&number.to_string())
        });
        let cancel = agent.cancel(&number.to_string());
        agent.confirm(cancel);
        assert_eq!(agent.actions(), [confirmed(cancel), cancelled(key)]);
    }
    assert_eq!(agent.state.remembered(), 100);
    assert!(agent.state.deadlines() < 400, "{}", agent.state.deadlines());
    agent.assert_at_rest();
}
