use super::*;
use crate::call::{Code, Error};

/// A request for the list that has been sent.
fn ask(agent: &mut Agent) -> RequestKey {
    let key = agent.state.list(agent.now);
    assert_eq!(agent.actions(), [Action::Send(key, Request::List)]);
    key
}

fn failures(actions: &[Step]) -> Vec<(RequestKey, Code)> {
    let failed = |it: &Step| match it {
        Action::Settle(key, Settled::Failed(error)) => Some((*key, error.code.clone())),
        _ => None,
    };
    actions.iter().filter_map(failed).collect()
}

#[test]
fn lists_come_as_they_are_and_each_to_its_request() {
    let mut agent = Agent::new();
    let (first, second) = (ask(&mut agent), ask(&mut agent));
    agent.state.listed(second, Some("error"));
    agent.state.listed(first, Some("list"));
    let expected = [responded(second, "error"), responded(first, "list")];
    assert_eq!(agent.actions(), expected);
    agent.assert_at_rest();
}

#[test]
fn a_host_that_does_not_know_the_request_refuses_it() {
    let mut agent = Agent::new();
    let (told, untold) = (ask(&mut agent), ask(&mut agent));
    agent.state.refused(told, Some("error"));
    agent.state.refused(untold, None);
    let actions = agent.actions();
    assert_eq!(actions[0], responded(told, "error"));
    assert_eq!(failures(&actions), [(untold, Code::TRANSPORT_ERROR)]);
    agent.assert_at_rest();
}

#[test]
fn an_answer_that_is_no_list_fails_the_request() {
    let mut agent = Agent::new();
    let key = ask(&mut agent);
    agent.state.listed(key, None);
    assert_eq!(failures(&agent.actions()), [(key, Code::TRANSPORT_ERROR)]);
    agent.assert_at_rest();
}

#[test]
fn a_list_that_does_not_come_within_the_grace_has_timed_out() {
    let mut agent = Agent::new();
    let key = ask(&mut agent);
    agent.wait(4_999.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1.0);
    assert_eq!(failures(&agent.actions()), [(key, Code::TIMEOUT)]);
    agent.assert_at_rest();
    agent.state.listed(key, Some("late"));
    assert_eq!(agent.actions(), []);
}

#[test]
fn a_list_is_settled_once() {
    let mut agent = Agent::new();
    let key = ask(&mut agent);
    agent.state.listed(key, Some("first"));
    agent.state.listed(key, Some("second"));
    assert_eq!(agent.actions(), [responded(key, "first")]);
}

#[test]
fn a_list_under_the_id_of_a_call_is_no_answer_to_the_call() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.listed(key, Some("list"));
    assert_eq!((agent.actions().len(), agent.state.pending()), (0, 1));
}

#[test]
fn a_request_for_the_list_that_cannot_be_sent_fails() {
    let mut agent = Agent::new();
    let key = ask(&mut agent);
    let error = Error::new(Code::INVALID_PARAMS, "no");
    agent.state.unsendable(key, error);
    assert_eq!(failures(&agent.actions()), [(key, Code::INVALID_PARAMS)]);
    agent.assert_at_rest();
}

#[test]
fn a_lost_session_settles_the_lists_that_were_asked_for_and_those_asked_for_later() {
    let mut agent = Agent::new();
    let (first, second) = (ask(&mut agent), ask(&mut agent));
    agent.state.disconnected();
    let later = agent.state.list(agent.now);
    let actions = agent.actions();
    let expected = [first, second, later].map(|key| (key, Code::DISCONNECTED));
    assert_eq!(failures(&actions), expected);
    assert_eq!(actions[2], Action::Closed(Code::DISCONNECTED));
    agent.assert_at_rest();
}

#[test]
fn a_list_may_come_until_the_session_is_shut_down() {
    let mut agent = Agent::new();
    agent.state.shutdown(None, agent.now);
    agent.actions();
    let (listed, pending) = (ask(&mut agent), ask(&mut agent));
    agent.state.listed(listed, Some("list"));
    assert_eq!(agent.actions(), [responded(listed, "list")]);
    agent.state.shut_down();
    let later = agent.state.list(agent.now);
    let expected = [pending, later].map(|key| (key, Code::NOT_INITIALIZED));
    assert_eq!(failures(&agent.actions()), expected);
    agent.assert_at_rest();
}
