//! How handlers end, and what that means for their calls.

use super::*;

fn settled(
    host: &mut Host,
    key: CallKey,
    result: Result<u32, Error<u32>>,
    told: bool,
) -> Vec<Step> {
    host.settle(key, result, told, 2.0);
    drain(host)
}

fn broken() -> Error<u32> {
    Error::new(Code::OPERATION_FAILED, "no")
}

#[test]
fn a_handler_that_fails_unasked_has_failed() {
    let (mut host, agent) = host();
    for capability in ["work", "script"] {
        let key = start(&mut host, agent, capability, capability);
        let steps = settled(&mut host, key, Err(broken()), false);
        assert_eq!(code(&steps), Some(Code::OPERATION_FAILED));
        let (answer, _) = cancel(&mut host, agent, capability);
        assert_eq!(answer, CancelAnswer::AlreadyCompleted);
    }
    assert_eq!(host.counters().cancelled, 0);
}

#[test]
fn data_that_cannot_be_sent_is_a_failure_unless_the_handler_was_told() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "running", "script");
    host.settle_unfit(key, broken(), false, 2.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::OPERATION_FAILED));

    // It has taken its signal, which has not fired.
    let key = start(&mut host, agent, "ready", "script");
    host.settle_unfit(key, broken(), true, 2.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::OPERATION_FAILED));

    for (id, told) in [("untold", false), ("told", true)] {
        let key = start(&mut host, agent, id, "script");
        host.cancel(agent, None, 0, id, None, 1.0);
        drain(&mut host);
        host.settle_unfit(key, broken(), told, 2.0);
        let steps = drain(&mut host);
        let expected = match told {
            true => Outcome::Cancelled(Stop::Returned),
            false => Outcome::Failed(broken()),
        };
        assert_eq!(responses(&steps), [(key, expected)]);
    }

    let key = start(&mut host, agent, "late", "work");
    cancel(&mut host, agent, "late");
    host.settle_unfit(key, broken(), false, 2.0);
    assert_eq!(drain(&mut host), []);
    assert_eq!(host.counters().late_results, 1);
}

#[test]
fn a_handler_whose_data_cannot_be_sent_takes_what_it_made_with_it() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "script");
    host.call_from(root, request("child", "work"), 0.0);
    let child = started(&drain(&mut host)).unwrap();
    host.settle_unfit(root, broken(), false, 2.0);
    let dropped = Outcome::Cancelled(Stop::Dropped);
    let failed = Outcome::Failed(broken());
    assert_eq!(
        responses(&drain(&mut host)),
        [(child, dropped), (root, failed)]
    );
}

#[test]
fn only_the_first_end_of_a_handler_counts() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "script");
    host.call_from(root, request("child", "script"), 0.0);
    let child = started(&drain(&mut host)).unwrap();
    host.cancel(agent, None, 0, "root", None, 1.0);
    drain(&mut host);
    assert_eq!(settled(&mut host, root, Err(broken()), true), []);
    assert_eq!(host.counters().late_results, 0);
    assert_eq!(settled(&mut host, root, Ok(1), false), []);
    assert_eq!(host.counters().late_results, 1);
    let steps = settled(&mut host, child, Ok(1), true);
    let returned = Outcome::Cancelled(Stop::Returned);
    assert_eq!(
        responses(&steps),
        [(child, returned.clone()), (root, returned)]
    );
}

#[test]
fn a_call_that_comes_while_others_start_waits_for_the_next_turn() {
    let (mut host, agent) = host();
    host.call(agent, None, request("a", "work"), 0.0);
    assert_eq!(host.poll_action(), Some(Action::Wake));
    host.run_ready();
    assert!(matches!(host.poll_action(), Some(Action::Start { .. })));
    host.call(agent, None, request("b", "work"), 0.0);
    assert_eq!(host.poll_action(), Some(Action::Wake));
    assert_eq!(host.poll_action(), None);
    host.run_ready();
    assert!(matches!(host.poll_action(), Some(Action::Start { .. })));
}

#[test]
fn a_call_that_starts_at_once_has_the_key_that_was_given() {
    let (mut host, agent) = host();
    let key = host.call_at_once(agent, None, request("a", "work"), 0.0);
    assert_eq!(started(&drain(&mut host)), Some(key));
    assert!(host.is_in_flight(key));
    host.settle(key, Ok(1), false, 1.0);
    assert!(!host.is_in_flight(key));
}

#[test]
fn the_maker_of_a_call_cancels_the_call() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    host.cancel_child(key, None, 1.0);
    let steps = drain(&mut host);
    assert_eq!(
        responses(&steps),
        [(key, Outcome::Cancelled(Stop::Dropped))]
    );
    host.cancel_child(key, None, 1.0);
    assert_eq!(drain(&mut host), []);
}

#[test]
fn an_answer_to_a_question_that_says_cancelled_was_not_seen_to_stop() {
    let (mut host, agent) = host();
    let call = start(&mut host, agent, "a", "work");
    for (error, expected) in [
        (Error::cancelled(), Outcome::Cancelled(Stop::Abandoned)),
        (broken(), Outcome::Failed(broken())),
    ] {
        let key = host.elicit(call, question(None), 0.0);
        drain(&mut host);
        host.answered(agent, key, Err(error));
        let steps = drain(&mut host);
        assert!(
            matches!(&steps[..], [Action::Elicited { response, .. }] if response.outcome == expected)
        );
    }
}

#[test]
fn a_question_has_its_time_from_when_it_is_asked() {
    let (mut host, agent) = host();
    let call = start(&mut host, agent, "a", "work");
    host.elicit(call, question(Some(50.0)), 1_000.0);
    drain(&mut host);
    assert_eq!(host.next_deadline(), Some(1_050.0));
}

#[test]
fn the_questions_of_a_session_end_with_it_and_those_of_another_do_not() {
    let (mut host, agent) = host();
    let other = join(&mut host, "other");
    let key = host.ask(agent, None, question(None), 0.0);
    host.ask(other, None, question(None), 0.0);
    drain(&mut host);
    host.shutdown(agent, None, None, 1.0);
    let steps = drain(&mut host);
    assert!(steps.iter().any(|step| matches!(
        step,
        Action::Elicited { key: ended, response: Response { outcome: Outcome::Failed(error), .. } }
            if *ended == key && error.code == Code::DISCONNECTED
    )));
    assert_eq!(host.pending_elicitations(), 1);
}
