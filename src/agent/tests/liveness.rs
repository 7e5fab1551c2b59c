use super::*;
use crate::call::Code;

const PROBE: &str = "caphost.probe";

fn watching() -> Agent {
    Agent::with(AgentOptions {
        liveness: Some(30_000.0),
        ..AgentOptions::default()
    })
}

/// One that has answered the first probe of a pending call, and the key of that call.
fn known_to_answer() -> (Agent, RequestKey) {
    let mut agent = watching();
    let key = agent.sent("a");
    agent.wait(250.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, PROBE)]);
    answers(&mut agent, key + 1);
    (agent, key)
}

fn answers(agent: &mut Agent, probe: RequestKey) {
    agent.state.heard(agent.now);
    agent.refuse(probe, "Operation not found");
    assert_eq!(agent.actions(), []);
}

fn assert_lost(agent: &mut Agent) {
    let actions = agent.actions();
    assert_eq!(failure(&actions[0]), Some("DISCONNECTED"));
    assert_eq!(actions[1..], [Action::Closed(Code::DISCONNECTED)]);
    agent.assert_at_rest();
}

#[test]
fn only_a_timeout_or_a_watched_host_needs_the_time() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    assert!(!agent.state.needs_time());
    agent.make(Outgoing {
        timeout: Some(50.0),
        ..call("b")
    });
    assert!(agent.state.needs_time());
    agent.state.flush(agent.now);
    assert!(!agent.state.needs_time());
    // A host that may be gone is watched until it has answered.
    agent.state.suspect(true, agent.now);
    assert!(agent.state.needs_time());
    agent.answer(key, "data");
    assert!(agent.state.needs_time());
    assert!(watching().state.needs_time());
}

#[test]
fn short_calls_are_never_probed() {
    let mut agent = watching();
    for name in ["a", "b", "c"] {
        let key = agent.sent(name);
        agent.wait(200.0);
        agent.answer(key, "data");
        assert_eq!(agent.actions(), [responded(key, "data")]);
        agent.assert_at_rest();
    }
}

#[test]
fn a_silent_host_is_asked_for_a_sign_of_life_and_given_up_without_one() {
    let (mut agent, key) = known_to_answer();
    agent.wait(14_000.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1_000.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 2, PROBE)]);
    agent.wait(14_999.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1.0);
    assert_lost(&mut agent);
}

#[test]
fn a_host_that_answers_may_take_its_time() {
    let (mut agent, key) = known_to_answer();
    for probe in 2..10 {
        agent.wait(15_000.0);
        assert_eq!(agent.actions(), [sends_cancel(key + probe, PROBE)]);
        answers(&mut agent, key + probe);
    }
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
    agent.assert_at_rest();
}

#[test]
fn after_a_standstill_a_host_is_asked_before_it_is_given_up() {
    let (mut agent, key) = known_to_answer();
    agent.wait(15_000.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 2, PROBE)]);
    agent.now += 50_000.0;
    agent.state.handle_timeout(agent.now);
    assert_eq!(agent.actions(), [sends_cancel(key + 3, PROBE)]);
    agent.wait(14_000.0);
    answers(&mut agent, key + 3);
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
    agent.assert_at_rest();
}

#[test]
fn a_silent_host_is_given_up_although_every_look_is_late() {
    let (mut agent, key) = known_to_answer();
    agent.wait(15_000.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 2, PROBE)]);
    agent.now += 60_000.0;
    agent.state.handle_timeout(agent.now);
    assert_eq!(agent.actions(), [sends_cancel(key + 3, PROBE)]);
    agent.now += 60_000.0;
    agent.state.handle_timeout(agent.now);
    assert_lost(&mut agent);
}

#[test]
fn any_message_is_a_sign_of_life() {
    let (mut agent, key) = known_to_answer();
    for _ in 0..100 {
        agent.wait(10_000.0);
        agent.state.heard(agent.now);
        agent.state.progress("a", "some");
        let alone = |action: &Action<&str>| matches!(action, Action::Progress(it, _) if *it == key);
        assert!(agent.actions().iter().all(alone));
    }
}

#[test]
fn a_host_that_knows_no_cancels_is_given_the_benefit_of_the_doubt() {
    let mut agent = watching();
    agent.sent("a");
    agent.wait(119_000.0);
    let probes = agent.actions();
    assert!(
        probes
            .iter()
            .all(|action| matches!(action, Action::Send(..))),
        "{probes:?}"
    );
    assert!(probes.len() < 10);
    agent.wait(20_000.0);
    let actions = agent.actions();
    assert_eq!(failure(&actions[actions.len() - 2]), Some("DISCONNECTED"));
    assert_eq!(actions.last(), Some(&Action::Closed(Code::DISCONNECTED)));
    agent.assert_at_rest();
}

#[test]
fn without_calls_nobody_is_watched() {
    let (mut agent, key) = known_to_answer();
    agent.answer(key, "data");
    agent.actions();
    agent.wait(1e6);
    agent.assert_at_rest();
}

#[test]
fn a_probe_finds_out_about_a_host_that_has_forgotten_the_session() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.suspect(false, agent.now);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, PROBE)]);
    agent.refuse_with(key + 1, NO_SESSION, "NOT_INITIALIZED");
    assert_lost(&mut agent);
}

#[test]
fn an_unanswered_probe_counts_only_against_a_host_that_answered_one() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.suspect(false, agent.now);
    agent.wait(2_000.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, PROBE)]);
    agent.state.suspect(false, agent.now);
    agent.actions();
    answers(&mut agent, key + 2);
    agent.state.suspect(false, agent.now);
    agent.actions();
    agent.wait(2_000.0);
    assert_lost(&mut agent);
}

#[test]
fn a_probe_never_cancels_a_call_of_that_name() {
    let mut agent = Agent::new();
    agent.sent(PROBE);
    agent.state.suspect(false, agent.now);
    assert_eq!(agent.actions(), []);
}

#[test]
fn an_unanswered_probe_counts_against_a_host_known_to_answer() {
    let mut agent = Agent::new();
    agent.sent("a");
    agent.state.suspect(true, agent.now);
    agent.actions();
    agent.wait(2_000.0);
    assert_lost(&mut agent);
}

#[test]
fn to_answer_any_cancel_is_to_be_known_to_answer() {
    let mut agent = Agent::new();
    agent.sent("a");
    let cancel = agent.cancel("nothing");
    agent.refuse(cancel, "Operation not found");
    agent.state.suspect(false, agent.now);
    agent.actions();
    agent.wait(2_000.0);
    assert_lost(&mut agent);
}

#[test]
fn a_host_that_has_announced_its_answers_is_given_up_after_its_first_silence() {
    let mut agent = Agent::with(AgentOptions {
        liveness: Some(30_000.0),
        answers: true,
        ..AgentOptions::default()
    });
    let key = agent.sent("a");
    agent.wait(14_999.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, PROBE)]);
    agent.wait(15_000.0);
    assert_lost(&mut agent);
}

#[test]
fn an_announced_message_may_take_as_long_as_the_slowest_line() {
    let (mut agent, key) = known_to_answer();
    agent.wait(10_000.0);
    agent.state.expect(16e6, agent.now);
    agent.wait(1_000_000.0 + 14_999.0);
    assert_eq!(agent.actions(), []);
    agent.state.heard(agent.now);
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
    agent.assert_at_rest();
}

#[test]
fn a_host_that_never_ends_its_announced_message_is_given_up() {
    let (mut agent, _) = known_to_answer();
    agent.state.expect(16e3, agent.now);
    agent.wait(30_000.0);
    assert_eq!(agent.actions().len(), 1);
    agent.wait(16_000.0);
    assert_lost(&mut agent);
}

#[test]
fn the_next_message_ends_the_patience_for_the_announced_one() {
    let (mut agent, key) = known_to_answer();
    agent.state.expect(16e6, agent.now);
    agent.wait(1_000.0);
    agent.state.heard(agent.now);
    agent.wait(29_000.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 2, PROBE)]);
    agent.wait(15_000.0);
    assert_lost(&mut agent);
}

#[test]
fn a_call_made_meanwhile_does_not_cut_an_announced_message_short() {
    let (mut agent, key) = known_to_answer();
    agent.answer(key, "data");
    agent.state.expect(16e5, agent.now);
    agent.sent("b");
    agent.actions();
    agent.wait(99_000.0);
    assert_eq!(agent.actions(), []);
}

#[test]
fn the_answers_to_what_is_sent_after_a_large_request_may_wait_for_it() {
    let (mut agent, key) = known_to_answer();
    agent.state.uploads(key, 16e5, agent.now);
    agent.wait(99_000.0);
    let probes = agent.actions();
    assert!(probes.iter().all(|it| matches!(it, Action::Send(..))));
    agent.state.heard(agent.now);
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
}

#[test]
fn a_host_that_never_answers_after_a_large_request_is_given_up() {
    let (mut agent, key) = known_to_answer();
    agent.state.uploads(key, 16e5, agent.now);
    agent.wait(100_000.0 + 45_000.0);
    let actions = agent.actions();
    assert_eq!(actions.last(), Some(&Action::Closed(Code::DISCONNECTED)));
    agent.assert_at_rest();
}

#[test]
fn an_answer_that_comes_after_a_large_request_ends_the_patience_for_it() {
    for own in [true, false] {
        let (mut agent, key) = known_to_answer();
        let large = agent.sent("large");
        agent.state.uploads(large, 16e6, agent.now);
        if own {
            agent.state.heard(agent.now);
            agent.answer(large, "data");
            agent.actions();
        } else {
            agent.wait(15_000.0);
            assert_eq!(agent.actions(), [sends_cancel(large + 1, PROBE)]);
            answers(&mut agent, large + 1);
        }
        agent.wait(45_000.0);
        let actions = agent.actions();
        assert_eq!(actions.last(), Some(&Action::Closed(Code::DISCONNECTED)));
        assert!(key < large);
    }
}
