//! What an agent remembers of calls that could not be sent, and when exactly a host counts as lost.

use super::*;
use crate::agent::liveness::{Liveness, Upload};
use crate::call::{Code, Error};

const COMPLETED: &str = "Operation already completed";

fn is_lost(agent: &mut Agent) -> bool {
    let actions = agent.actions();
    actions
        .iter()
        .any(|it| matches!(it, Action::Closed(Code::DISCONNECTED)))
}

#[test]
fn a_call_that_could_not_be_sent_is_remembered_by_its_code() {
    for (code, known) in [
        (Code::INTERNAL_ERROR, true),
        (Code::TRANSPORT_ERROR, false),
        (Code::TIMEOUT, false),
        // The host never had the call.
        (Code::INVALID_PARAMS, false),
    ] {
        let mut agent = Agent::new();
        let key = agent.sent("a");
        agent.state.unsendable(key, Error::new(code.clone(), "no"));
        agent.state.disconnected();
        agent.actions();
        let cancel = agent.state.cancel(id("a"), None, agent.now);
        let actions = agent.actions();
        if known {
            assert_eq!(actions, [refused(cancel, COMPLETED)]);
        } else {
            assert_eq!(failure(&actions[0]), Some("DISCONNECTED"), "{code}");
        }
    }
}

#[test]
fn the_call_id_of_a_call_that_the_host_never_had_may_be_used_again() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    agent.state.unsendable(key, Error::invalid_params("no"));
    assert_eq!(failure(&agent.actions()[0]), Some("INVALID_PARAMS"));
    let again = agent.sent("a");
    agent.answer(again, "data");
    assert_eq!(agent.actions(), [responded(again, "data")]);
}

#[test]
fn without_a_session_a_cancel_has_an_error_and_no_reason() {
    for (shut_down, code) in [(true, "NOT_INITIALIZED"), (false, "DISCONNECTED")] {
        let mut agent = Agent::new();
        if shut_down {
            agent.state.shutdown(None, agent.now);
            agent.state.shut_down();
        } else {
            agent.state.disconnected();
        }
        agent.actions();
        agent.state.cancel(id("a"), None, agent.now);
        let actions = agent.actions();
        assert_eq!(failure(&actions[0]), Some(code));
        let Action::SettleCancel(_, outcome) = &actions[0] else {
            panic!("{actions:?}");
        };
        assert_eq!(outcome.reason.is_none(), shut_down);
    }
}

#[test]
fn a_response_says_nothing_of_a_late_end() {
    let mut agent = Agent::new();
    let key = agent.sent("a");
    let grade = Grade {
        late_end: Some(LateEnd {
            success: true,
            after: 1.0,
        }),
        ..Grade::default()
    };
    agent
        .state
        .called(key, Answer::Cancelled(grade), "cancelled");
    let settled = Settled::Cancelled(Grade::default());
    assert_eq!(agent.actions(), [Action::Settle(key, settled)]);
}

#[test]
fn pending_cancels_and_deadlines_are_counted() {
    let mut agent = Agent::new();
    let mut with_timeout = call("a");
    with_timeout.timeout = Some(10.0);
    agent.make(with_timeout);
    assert!(agent.state.needs_time());
    agent.state.flush(agent.now);
    agent.actions();
    assert_eq!(agent.state.deadlines(), 2);
    agent.cancel("a");
    assert_eq!(agent.state.pending_cancels(), 1);
    assert_eq!(agent.state.deadlines(), 3);
}

#[test]
fn time_counts_while_the_connection_is_lost_or_may_be() {
    let mut agent = Agent::with(AgentOptions {
        reconnects: true,
        ..AgentOptions::default()
    });
    assert!(!agent.state.needs_time());
    agent.sent("a");
    agent.state.failed_with("SESSION_INVALID", agent.now);
    let actions = agent.actions();
    let Action::Send(probe, _) = actions[0] else {
        panic!("{actions:?}");
    };
    agent.refuse(probe, "Operation not found");
    assert!(agent.state.needs_time());
    agent.state.disconnected();
    assert!(agent.state.needs_time());
}

#[test]
fn nothing_is_looked_for_once_the_connection_is_lost() {
    let mut agent = Agent::with(AgentOptions {
        liveness: Some(1_000.0),
        ..AgentOptions::default()
    });
    agent.sent("a");
    agent.wait(300.0);
    assert!(matches!(agent.actions()[..], [Action::Send(..)]));
    agent.state.disconnected();
    assert_eq!(agent.state.next_deadline(), None);
}

#[test]
fn a_silent_host_is_asked_once_more_if_the_timer_was_more_than_half_late() {
    for (late, asked_again) in [
        (0.0, false),
        (500.0, false),
        (1_000.0, false),
        (1_500.0, true),
    ] {
        let mut agent = Agent::new();
        agent.state.suspect(true, agent.now);
        assert_eq!(agent.actions().len(), 1);
        agent.state.handle_timeout(agent.now + 2_000.0 + late);
        assert_eq!(is_lost(&mut agent), !asked_again, "{late}");
    }
}

#[test]
fn a_host_that_has_never_answered_has_the_benefit_of_the_doubt() {
    let mut agent = Agent::with(AgentOptions {
        liveness: Some(1_000.0),
        ..AgentOptions::default()
    });
    agent.now = 100_000.0;
    agent.state.heard(agent.now);
    agent.state.suspect(false, agent.now);
    agent.state.handle_timeout(agent.now + 2_000.0);
    assert!(!is_lost(&mut agent));
}

#[test]
fn what_is_still_leaving_excuses_a_silent_host() {
    for (bytes, excused) in [(0.0, false), (1e9, true)] {
        let mut agent = Agent::new();
        let large = agent.sent("a");
        let beside = agent.sent("b");
        agent.state.uploads(large, bytes, agent.now);
        // This answer may have been on its way before.
        agent.answer(beside, "data");
        agent.actions();
        agent.state.suspect(true, agent.now);
        agent.state.handle_timeout(agent.now + 2_000.0);
        assert_eq!(is_lost(&mut agent), !excused, "{bytes}");
    }
}

#[test]
fn only_an_answer_to_what_was_sent_later_shows_that_a_large_request_has_left() {
    let mut life = Liveness::of(true);
    life.upload = Some(Upload {
        key: 3,
        newest: 5,
        until: 1e9,
    });
    life.received(5);
    assert!(life.upload.is_some());
    life.received(6);
    assert!(life.upload.is_none());
}
