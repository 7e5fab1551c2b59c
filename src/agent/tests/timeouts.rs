use super::*;

fn timed(text: &str, timeout: Millis) -> Outgoing<&'static str> {
    Outgoing {
        timeout: Some(timeout),
        ..call(text)
    }
}

#[test]
fn a_timeout_is_the_hosts_to_keep() {
    let mut agent = Agent::new();
    let key = agent.sent_call(timed("a", 1_000.0));
    agent.wait(1_050.0);
    assert_eq!(agent.actions(), []);
    agent.answer(key, "cancelled");
    assert_eq!(agent.actions(), [cancelled(key)]);
    agent.assert_at_rest();
}

#[test]
fn a_host_that_keeps_no_timeouts_is_asked_to_cancel() {
    let mut agent = Agent::new();
    let key = agent.sent_call(timed("a", 1_000.0));
    agent.wait(1_100.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, "a")]);
    agent.confirm(key + 1);
    assert_eq!(agent.actions(), [cancelled(key)]);
    agent.assert_at_rest();
}

#[test]
fn a_result_after_the_backstop_still_counts() {
    let mut agent = Agent::new();
    let key = agent.sent_call(timed("a", 1_000.0));
    agent.wait(1_100.0);
    agent.actions();
    agent.answer(key, "data");
    agent.refuse(key + 1, "Operation already completed");
    assert_eq!(agent.actions(), [responded(key, "data")]);
    agent.assert_at_rest();
}

#[test]
fn a_host_that_answers_nothing_leaves_a_timed_out_call_unknown() {
    let mut agent = Agent::new();
    let key = agent.sent_call(timed("a", 1_000.0));
    agent.wait(5_999.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, "a")]);
    agent.wait(1.0);
    assert_eq!(failure(&agent.actions()[0]), Some("TIMEOUT"));
    agent.wait(5_000.0);
    agent.assert_at_rest();
}

#[test]
fn a_timeout_of_zero_is_one() {
    let mut agent = Agent::new();
    let key = agent.sent_call(timed("a", 0.0));
    agent.wait(100.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, "a")]);
}

#[test]
fn a_shorter_grace_shortens_the_backstop() {
    let mut agent = Agent::with(AgentOptions {
        grace: 20.0,
        ..AgentOptions::default()
    });
    let key = agent.sent_call(timed("a", 1_000.0));
    agent.wait(1_020.0);
    let actions = agent.actions();
    assert_eq!(actions[0], sends_cancel(key + 1, "a"));
    assert_eq!(failure(&actions[1]), Some("TIMEOUT"));
}
