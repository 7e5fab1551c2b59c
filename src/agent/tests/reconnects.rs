use super::*;
use crate::call::Code;

fn reconnecting() -> Agent {
    Agent::with(AgentOptions {
        reconnects: true,
        ..AgentOptions::default()
    })
}

fn timed(text: &str, timeout: Millis) -> Outgoing<&'static str> {
    Outgoing {
        timeout: Some(timeout),
        ..call(text)
    }
}

impl Agent {
    /// A call that is made while the connection is lost.
    fn waiting(&mut self, call: Outgoing<&'static str>) -> RequestKey {
        let key = self.make(call);
        self.state.flush(self.now);
        assert_eq!(self.actions(), [Action::Wake]);
        key
    }

    fn lose(&mut self) {
        self.state.disconnected();
        assert_eq!(self.actions(), [Action::Lost]);
    }

    fn reconnect(&mut self) -> Vec<Step> {
        self.state.reconnected(true, self.now);
        self.actions()
    }
}

fn sends(key: RequestKey, call: Outgoing<&'static str>) -> Step {
    Action::Send(key, Request::Call(call))
}

#[test]
fn a_call_in_flight_stays_unknown_and_is_not_sent_again() {
    let mut agent = reconnecting();
    let key = agent.sent("a");
    let cancel = agent.cancel("a");
    agent.state.disconnected();
    let actions = agent.actions();
    assert_eq!(failure(&actions[0]), Some("DISCONNECTED"));
    assert!(matches!(actions[0], Action::SettleCancel(it, _) if it == cancel));
    assert_eq!(failure(&actions[1]), Some("DISCONNECTED"));
    assert!(matches!(actions[1], Action::Settle(it, _) if it == key));
    assert_eq!(actions[2..], [Action::Lost]);
    assert_eq!(agent.reconnect(), []);
    agent.assert_at_rest();
}

#[test]
fn a_call_made_meanwhile_waits_for_the_connection() {
    let mut agent = reconnecting();
    agent.lose();
    let key = agent.waiting(call("a"));
    agent.wait(60_000.0);
    assert_eq!(agent.actions(), []);
    assert_eq!(agent.reconnect(), [sends(key, call("a"))]);
    agent.answer(key, "data");
    assert_eq!(agent.actions(), [responded(key, "data")]);
    agent.assert_at_rest();
}

#[test]
fn a_call_of_the_same_turn_as_the_loss_waits_too() {
    let mut agent = reconnecting();
    let key = agent.make(call("a"));
    assert_eq!(agent.actions(), [Action::Wake]);
    agent.lose();
    agent.state.flush(agent.now);
    assert_eq!(agent.reconnect(), [sends(key, call("a"))]);
}

#[test]
fn a_waiting_call_is_cancelled_by_its_timeout_its_signal_or_a_cancel() {
    let mut agent = reconnecting();
    agent.lose();
    let timed = agent.waiting(timed("timed", 1_000.0));
    let aborted = agent.waiting(call("aborted"));
    let cancelled = agent.waiting(call("cancelled"));
    agent.abort(aborted);
    assert_eq!(agent.actions(), [never_started(aborted)]);
    let cancel = agent.state.cancel(id("cancelled"), None, agent.now);
    let confirmation = confirmed_as(Stop::NeverStarted, cancel);
    assert_eq!(agent.actions(), [confirmation, never_started(cancelled)]);
    agent.wait(999.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1.0);
    assert_eq!(agent.actions(), [never_started(timed)]);
    // A later cancel says the same, and nothing is sent.
    for call in ["timed", "aborted", "cancelled"] {
        let cancel = agent.state.cancel(id(call), None, agent.now);
        assert_eq!(agent.actions(), [confirmed_as(Stop::NeverStarted, cancel)]);
    }
    assert_eq!(agent.reconnect(), []);
    agent.assert_at_rest();
}

#[test]
fn the_time_that_a_call_has_waited_counts_for_its_timeout() {
    let mut agent = reconnecting();
    agent.lose();
    let key = agent.waiting(timed("a", 1_000.0));
    agent.wait(400.0);
    assert_eq!(agent.reconnect(), [sends(key, timed("a", 600.0))]);
    agent.wait(599.0);
    assert_eq!(agent.actions(), []);
    agent.wait(1.0);
    assert_eq!(agent.actions(), [sends_cancel(key + 1, "a")]);
}

#[test]
fn a_shutdown_cancels_the_calls_that_wait() {
    let mut agent = reconnecting();
    agent.lose();
    let key = agent.waiting(call("a"));
    agent.state.shutdown(None, agent.now);
    let closed = Action::Closed(Code::NOT_INITIALIZED);
    assert_eq!(agent.actions(), [never_started(key), closed]);
    assert_eq!(agent.reconnect(), []);
    agent.assert_at_rest();
}

#[test]
fn an_agent_that_gives_up_says_that_the_waiting_calls_were_not_sent() {
    let mut agent = reconnecting();
    agent.lose();
    let key = agent.waiting(call("a"));
    agent.state.give_up();
    let actions = agent.actions();
    assert_eq!(failure(&actions[0]), Some("DISCONNECTED"));
    assert!(
        matches!(&actions[0], Action::Settle(it, Settled::Failed(error)) if *it == key && error.message.ends_with("the call was not sent"))
    );
    assert_eq!(actions[1..], [Action::Closed(Code::DISCONNECTED)]);
    agent.assert_at_rest();
}

#[test]
fn an_agent_that_has_given_up_while_connected_ends_with_the_connection() {
    let mut agent = reconnecting();
    agent.state.give_up();
    assert_eq!(agent.actions(), []);
    agent.state.disconnected();
    assert_eq!(agent.actions(), [Action::Closed(Code::DISCONNECTED)]);
}

#[test]
fn a_list_or_a_cancel_of_another_call_is_answered_at_once_while_the_connection_is_lost() {
    let mut agent = reconnecting();
    agent.lose();
    let list = agent.state.list(agent.now);
    assert_eq!(failure(&agent.actions()[0]), Some("DISCONNECTED"));
    let cancel = agent.state.cancel(id("other"), None, agent.now);
    assert_eq!(failure(&agent.actions()[0]), Some("DISCONNECTED"));
    assert!(cancel > list);
    agent.state.suspect(true, agent.now);
    agent.assert_at_rest();
}

#[test]
fn calls_are_held_back_while_an_answer_makes_the_session_doubtful() {
    for code in ["NOT_INITIALIZED", "DISCONNECTED"] {
        let mut agent = reconnecting();
        let first = agent.sent("a");
        agent.answer(first, "DISCONNECTED");
        agent.state.failed_with(code, agent.now);
        let responded = responded(first, "DISCONNECTED");
        let probe = first + 1;
        assert_eq!(
            agent.actions(),
            [responded, sends_cancel(probe, "caphost.probe")]
        );
        let second = agent.waiting(call("b"));
        // The session is lost indeed.
        agent.refuse_with(probe, NO_SESSION, "error");
        assert_eq!(agent.actions(), [Action::Lost]);
        assert_eq!(agent.reconnect(), [sends(second, call("b"))]);
    }
}

#[test]
fn calls_that_were_held_back_are_sent_if_the_session_is_not_lost() {
    let mut agent = reconnecting();
    let first = agent.sent("a");
    agent.answer(first, "DISCONNECTED");
    agent.state.failed_with("DISCONNECTED", agent.now);
    agent.actions();
    let second = agent.waiting(call("b"));
    agent.refuse(first + 1, "Operation not found");
    agent.wait(250.0);
    assert_eq!(agent.actions(), [sends(second, call("b"))]);
    let third = agent.sent("c");
    for key in [second, third] {
        agent.answer(key, "data");
    }
    agent.actions();
    agent.assert_at_rest();
}

#[test]
fn an_agent_that_does_not_reconnect_doubts_nothing() {
    let mut agent = Agent::new();
    let first = agent.sent("a");
    agent.state.failed_with("DISCONNECTED", agent.now);
    assert_eq!(agent.actions(), []);
    agent.answer(first, "DISCONNECTED");
}
