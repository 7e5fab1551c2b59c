//! Work for many calls takes time in proportion to their number.

use super::*;
use crate::call::growth::assert_linear;

fn name(number: usize) -> String {
    format!("call-{number}")
}

/// Calls of an agent that run or wait.
fn begin(host: &mut Host, agent: ConnectionId, capability: &str, many: usize) -> Vec<CallKey> {
    let keys = (0..many)
        .map(|it| host.call(agent, Some(9), request(&name(it), capability), 0.0))
        .collect();
    drain(host);
    keys
}

/// Calls that `parent` makes.
fn children(host: &mut Host, parent: CallKey, many: usize) -> Vec<CallKey> {
    let keys = (0..many)
        .map(|it| host.call_from(parent, request(&name(it), "script"), 0.0))
        .collect();
    drain(host);
    keys
}

#[test]
fn a_parent_of_many_that_is_cancelled_again_and_again() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        let parent = start(&mut host, agent, "parent", "script");
        children(&mut host, parent, many);
        for _ in 0..many {
            host.cancel(agent, Some(8), 0, "parent", None, 1.0);
        }
        host.handle_timeout(100.0);
        let steps = drain(&mut host);
        let confirmed = steps
            .iter()
            .filter(|it| matches!(it, Action::Answer { .. }));
        assert_eq!((confirmed.count(), host.in_flight()), (many, 0));
    });
}

#[test]
fn children_that_end_in_the_opposite_order() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        let parent = start(&mut host, agent, "parent", "script");
        for child in children(&mut host, parent, many).into_iter().rev() {
            host.settle(child, Ok(1), false, 1.0);
        }
        drain(&mut host);
        assert_eq!(host.in_flight(), 1);
    });
}

#[test]
fn a_chain_of_calls_each_cancelled_after_the_call_that_it_has_made() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        let mut last = start(&mut host, agent, "first", "script");
        for it in 0..many - 1 {
            last = host.call_from(last, request(&name(it), "script"), 0.0);
            drain(&mut host);
        }
        for it in (0..many - 1).rev() {
            host.cancel(agent, Some(8), 0, &name(it), None, 1.0);
        }
        drain(&mut host);
        assert_eq!(host.in_flight(), many);
    });
}

#[test]
fn cancels_of_each_call_after_a_shutdown() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        begin(&mut host, agent, "script", many);
        host.shutdown(agent, Some(7), None, 1.0);
        for it in 0..many {
            host.cancel(agent, Some(8), 0, &name(it), None, 1.0);
        }
        host.handle_timeout(100.0);
        let steps = drain(&mut host);
        let answers = steps
            .iter()
            .filter(|it| matches!(it, Action::Answer { .. }));
        assert_eq!((answers.count(), host.in_flight()), (many + 1, 0));
    });
}

#[test]
fn cancels_by_the_app_of_each_call() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        begin(&mut host, agent, "work", many);
        for it in 0..many {
            host.cancel_anywhere(&name(it), None, 1.0);
        }
        drain(&mut host);
        assert_eq!(host.in_flight(), 0);
    });
}

#[test]
fn calls_that_wait_for_a_slot_and_are_cancelled_newest_first() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        begin(&mut host, agent, "single", many);
        for it in (0..many).rev() {
            host.cancel(agent, Some(8), 0, &name(it), None, 1.0);
        }
        drain(&mut host);
        assert_eq!(host.in_flight(), 0);
    });
}

#[test]
fn calls_of_a_closing_session_beside_calls_of_another_session() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        let other = join(&mut host, "other");
        begin(&mut host, other, "script", many);
        let keys = begin(&mut host, agent, "script", many);
        host.shutdown(agent, Some(7), None, 1.0);
        for key in keys {
            host.settle(key, Ok(1), true, 1.0);
        }
        drain(&mut host);
        assert_eq!(host.in_flight(), many);
    });
}

#[test]
fn calls_that_are_abandoned_without_end() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        for it in 0..2 * many {
            host.call(agent, Some(9), request(&name(it), "hasty"), 0.0);
            drain(&mut host);
            host.cancel(agent, Some(8), 0, &name(it), None, 1.0);
        }
        drain(&mut host);
        assert_eq!(host.in_flight(), 0);
    });
}

#[test]
fn questions_of_one_call_that_are_answered_newest_first() {
    assert_linear(|many| {
        let (mut host, agent) = host();
        let call = start(&mut host, agent, "call", "script");
        let asked: Vec<_> = (0..many)
            .map(|_| host.elicit(call, question(None), 0.0))
            .collect();
        assert_eq!(host.pending_elicitations(), many);
        for key in asked.into_iter().rev() {
            host.answered(agent, key, Ok(1));
        }
        drain(&mut host);
        assert_eq!(host.pending_elicitations(), 0);
    });
}
