//! Work for many calls takes time in proportion to their number.

use super::*;
use crate::call::growth::assert_linear;

/// Calls that were sent, and a cancel of each.
fn cancelled_calls(agent: &mut Agent, many: usize) -> (Vec<RequestKey>, Vec<RequestKey>) {
    let name = |it: usize| format!("call-{it}");
    let calls = (0..many).map(|it| agent.sent(&name(it))).collect();
    let cancels = (0..many).map(|it| agent.cancel(&name(it))).collect();
    (calls, cancels)
}

#[test]
fn late_answers_to_calls_and_cancels_that_were_given_up() {
    assert_linear(|many| {
        let remembered = many;
        let mut agent = Agent::with(AgentOptions {
            remembered,
            ..AgentOptions::default()
        });
        let (calls, cancels) = cancelled_calls(&mut agent, many);
        agent.wait(5_000.0);
        assert_eq!(agent.actions().len(), 2 * many);
        for (call, cancel) in calls.into_iter().zip(cancels) {
            agent.confirm(cancel);
            agent.answer(call, "cancelled");
        }
        agent.assert_at_rest();
    });
}

#[test]
fn a_shutdown_that_overtakes_the_cancels() {
    assert_linear(|many| {
        let mut agent = Agent::new();
        let (calls, cancels) = cancelled_calls(&mut agent, many);
        agent.state.shutdown(None, agent.now);
        for cancel in cancels {
            agent.refuse_with(cancel, NO_SESSION, "NOT_INITIALIZED");
        }
        for call in calls {
            agent.answer(call, "cancelled");
        }
        let settled = agent.actions().into_iter();
        let settled =
            settled.filter(|it| matches!(it, Action::Settle(..) | Action::SettleCancel(..)));
        assert_eq!(settled.count(), 2 * many);
    });
}

#[test]
fn requests_for_the_list_that_are_answered_oldest_first() {
    assert_linear(|many| {
        let mut agent = Agent::new();
        let asked: Vec<_> = (0..many).map(|_| agent.state.list(agent.now)).collect();
        for key in asked {
            agent.state.listed(key, Some("list"));
        }
        assert_eq!(agent.actions().len(), 2 * many);
        agent.assert_at_rest();
    });
}
