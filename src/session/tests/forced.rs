//! Handlers that can be ended from outside, as in a worker: the steps of their stop, and its proof.

use super::stopping::{answers, ask, ended};
use super::*;
use crate::call::{Step as StopStep, StoppedBy};

fn seen(stop: Stop, step: StopStep, took: f64) -> CancelAnswer {
    CancelAnswer::Cancelled {
        stop,
        ended: None,
        by: Some(StoppedBy { step, took }),
    }
}

fn terminates(steps: &[Step]) -> Vec<CallKey> {
    let key = |step: &Step| match step {
        Action::Terminate { key } => Some(*key),
        _ => None,
    };
    steps.iter().filter_map(key).collect()
}

/// Lets time pass, and says what is done then.
fn wait(host: &mut Host, until: f64) -> Vec<Step> {
    host.handle_timeout(until);
    drain(host)
}

/// Nothing is left, and nothing will happen any more.
fn assert_over(host: &mut Host) {
    assert_eq!((host.in_flight(), host.next_deadline()), (0, None));
}

#[test]
fn what_does_not_end_in_its_grace_is_ended_and_confirmed_when_that_is_proven() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "worker");
    let steps = ask(&mut host, agent, "a", 1.0);
    assert!(matches!(steps[..], [Action::Stop { .. }]));
    assert_eq!(host.next_deadline(), Some(51.0));
    assert_eq!(terminates(&wait(&mut host, 51.0)), [key]);
    assert!(wait(&mut host, 2_000.0).is_empty());
    host.stopped(key, Stop::Terminated, 2_051.0);
    let steps = drain(&mut host);
    let answer = seen(Stop::Terminated, StopStep::Terminate, 2_050.0);
    assert_eq!(answers(&steps), [answer]);
    assert!(matches!(
        &steps[..],
        [
            Action::Answer { .. },
            Action::Respond { response: Response { outcome: Outcome::Cancelled(Stop::Terminated), by: Some(by), .. }, .. }
        ] if by.took == 2_050.0
    ));
    assert_over(&mut host);
    assert_eq!(answers(&ask(&mut host, agent, "a", 9_000.0)), [answer]);
}

#[test]
fn without_a_proof_in_time_it_is_abandoned_and_a_late_proof_is_told() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "worker");
    ask(&mut host, agent, "a", 1.0);
    wait(&mut host, 51.0);
    assert!(wait(&mut host, 2_550.9).is_empty());
    let steps = wait(&mut host, 2_551.0);
    let answer = seen(Stop::Abandoned, StopStep::Terminate, 2_550.0);
    assert_eq!(answers(&steps), [answer]);
    assert_over(&mut host);
    host.stopped(key, Stop::Terminated, 3_551.0);
    let end = LateEnd {
        success: false,
        after: 1_000.0,
    };
    assert_eq!(ended(&drain(&mut host)), [("a", end)]);
    host.stopped(key, Stop::Terminated, 3_552.0);
    assert!(drain(&mut host).is_empty());
}

#[test]
fn where_nothing_can_be_proven_it_is_abandoned_as_soon_as_that_is_known() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "worker");
    ask(&mut host, agent, "a", 1.0);
    wait(&mut host, 51.0);
    host.stopped(key, Stop::Abandoned, 52.0);
    let answer = seen(Stop::Abandoned, StopStep::Terminate, 51.0);
    assert_eq!(answers(&drain(&mut host)), [answer]);
    assert_over(&mut host);
}

#[test]
fn no_step_is_said_of_what_goes_on_after_its_worker_has_ended() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "worker");
    ask(&mut host, agent, "a", 1.0);
    wait(&mut host, 51.0);
    host.reached(key, None);
    host.stopped(key, Stop::Abandoned, 51.0);
    let answer = CancelAnswer::cancelled(Stop::Abandoned);
    assert_eq!(answers(&drain(&mut host)), [answer]);
    assert_over(&mut host);
}

#[test]
fn what_ends_by_itself_in_its_grace_is_not_ended() {
    for (step, stop) in [
        (StopStep::Signal, Stop::Returned),
        (StopStep::Flag, Stop::Returned),
        (StopStep::Flag, Stop::Dropped),
    ] {
        let (mut host, agent) = host();
        let key = start(&mut host, agent, "a", "worker");
        ask(&mut host, agent, "a", 1.0);
        host.reached(key, Some(step));
        if stop == Stop::Dropped {
            host.stopped(key, stop, 5.0);
        } else {
            host.settle(key, Ok(1), false, 5.0);
        }
        assert_eq!(answers(&drain(&mut host)), [seen(stop, step, 4.0)]);
        assert_over(&mut host);
        assert!(wait(&mut host, 100.0).is_empty());
    }
}

#[test]
fn a_worker_that_was_never_told_and_fulfils_within_the_grace_has_completed() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "worker");
    ask(&mut host, agent, "a", 1.0);
    host.settle(key, Ok(7), false, 21.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [CancelAnswer::AlreadyCompleted]);
    assert_eq!(responses(&steps), [(key, Outcome::Completed(7))]);
    assert_over(&mut host);
}

#[test]
fn one_that_has_not_begun_in_its_worker_never_will() {
    let (mut host, agent) = host();
    let answer = CancelAnswer::cancelled(Stop::NeverStarted);
    for slow in [false, true] {
        let id = if slow { "a" } else { "b" };
        let key = start(&mut host, agent, id, "worker");
        ask(&mut host, agent, id, 1.0);
        if slow {
            wait(&mut host, 51.0);
        }
        host.stopped(key, Stop::NeverStarted, 52.0);
        assert_eq!(answers(&drain(&mut host)), [answer]);
        assert_over(&mut host);
    }
}

#[test]
fn every_cancel_and_a_timeout_wait_for_the_one_proof() {
    let (mut host, agent) = host();
    let mut call = request("a", "worker");
    call.timeout = Some(10.0);
    host.call(agent, None, call, 0.0);
    let key = started(&drain(&mut host)).unwrap();
    assert!(matches!(wait(&mut host, 10.0)[..], [Action::Stop { .. }]));
    assert!(ask(&mut host, agent, "a", 20.0).is_empty());
    assert_eq!(terminates(&wait(&mut host, 60.0)), [key]);
    assert!(ask(&mut host, agent, "a", 70.0).is_empty());
    host.stopped(key, Stop::Terminated, 110.0);
    let answer = seen(Stop::Terminated, StopStep::Terminate, 100.0);
    assert_eq!(answers(&drain(&mut host)), [answer, answer]);
    assert_over(&mut host);
}

#[test]
fn without_grace_it_is_ended_with_the_next_timer() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "hasty-worker");
    let steps = ask(&mut host, agent, "a", 1.0);
    assert!(answers(&steps).is_empty());
    assert_eq!(host.next_deadline(), Some(1.0));
    assert_eq!(terminates(&wait(&mut host, 1.0)), [key]);
    host.stopped(key, Stop::Terminated, 9.0);
    let answer = seen(Stop::Terminated, StopStep::Terminate, 8.0);
    assert_eq!(answers(&drain(&mut host)), [answer]);
}

#[test]
fn what_a_worker_returns_while_it_is_being_ended_still_shows_that_it_has_returned() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "worker");
    ask(&mut host, agent, "a", 1.0);
    wait(&mut host, 51.0);
    host.settle(key, Ok(1), false, 52.0);
    let answer = seen(Stop::Returned, StopStep::Terminate, 51.0);
    assert_eq!(answers(&drain(&mut host)), [answer]);
    host.stopped(key, Stop::Terminated, 60.0);
    assert!(drain(&mut host).is_empty());
    assert_over(&mut host);
}

#[test]
fn a_parent_that_has_ended_waits_for_the_proof_of_what_it_started() {
    for parent in ["script", "work", "worker"] {
        let (mut host, agent) = host();
        let root = start(&mut host, agent, "root", parent);
        let leaf = host.call_from(root, request("leaf", "worker"), 0.0);
        drain(&mut host);
        ask(&mut host, agent, "root", 1.0);
        host.settle(root, Ok(1), true, 2.0);
        assert_eq!(terminates(&wait(&mut host, 51.0)), [leaf], "{parent}");
        assert!(wait(&mut host, 2_000.0).is_empty(), "{parent}");
        host.stopped(leaf, Stop::Terminated, 2_100.0);
        let stops = responses(&drain(&mut host));
        let expected = [leaf, root].map(|key| (key, Outcome::Cancelled(Stop::Terminated)));
        assert_eq!(stops, expected, "{parent}");
        assert_over(&mut host);
    }
}

#[test]
fn a_parent_that_works_on_is_abandoned_without_waiting_for_what_it_started() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "script");
    let leaf = host.call_from(root, request("leaf", "worker"), 0.0);
    drain(&mut host);
    ask(&mut host, agent, "root", 1.0);
    let steps = wait(&mut host, 51.0);
    assert_eq!(terminates(&steps), [leaf]);
    assert_eq!(
        responses(&steps),
        [(root, Outcome::Cancelled(Stop::Abandoned))]
    );
    host.stopped(leaf, Stop::Terminated, 61.0);
    let steps = drain(&mut host);
    assert_eq!(
        responses(&steps),
        [(leaf, Outcome::Cancelled(Stop::Terminated))]
    );
    host.settle(root, Ok(1), true, 71.0);
    let end = LateEnd {
        success: true,
        after: 20.0,
    };
    assert_eq!(ended(&drain(&mut host)), [("root", end)]);
}

#[test]
fn a_worker_that_was_ended_is_abandoned_with_a_child_that_was_not_seen_to_end() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "worker");
    let leaf = host.call_from(root, request("leaf", "script"), 0.0);
    drain(&mut host);
    ask(&mut host, agent, "root", 1.0);
    let steps = wait(&mut host, 51.0);
    assert_eq!(terminates(&steps), [root]);
    let abandoned = Outcome::Cancelled(Stop::Abandoned);
    assert_eq!(responses(&steps), [(leaf, abandoned.clone())]);
    host.stopped(root, Stop::Terminated, 61.0);
    assert_eq!(responses(&drain(&mut host)), [(root, abandoned)]);
    assert_over(&mut host);
}

#[test]
fn where_nothing_can_be_waited_for_it_is_ended_all_the_same() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "worker");
    ask(&mut host, agent, "a", 1.0);
    host.give_up(None, 2.0);
    let steps = drain(&mut host);
    assert_eq!(terminates(&steps), [key]);
    let answer = seen(Stop::Abandoned, StopStep::Terminate, 1.0);
    assert_eq!(answers(&steps), [answer]);
    assert_over(&mut host);
}

#[test]
fn a_shutdown_waits_for_the_proof_and_a_lost_transport_leaves_nothing_behind() {
    for lost in [false, true] {
        let (mut host, agent) = host();
        let key = start(&mut host, agent, "a", "worker");
        if lost {
            host.disconnect(agent, 1.0);
        } else {
            host.shutdown(agent, Some(3), None, 1.0);
        }
        assert!(matches!(drain(&mut host)[..], [Action::Stop { .. }]));
        assert_eq!(terminates(&wait(&mut host, 51.0)), [key]);
        host.stopped(key, Stop::Terminated, 60.0);
        let steps = drain(&mut host);
        let over = |step: &Step| {
            matches!(
                step,
                Action::Answer {
                    answer: Answer::ShutDown(Ok(())),
                    ..
                }
            )
        };
        assert_eq!(steps.iter().any(over), !lost);
        assert_eq!(responses(&steps).len(), 1);
        assert_over(&mut host);
    }
}

#[test]
fn the_slot_of_a_worker_is_free_when_its_end_is_proven() {
    let (mut host, agent) = host();
    let first = start(&mut host, agent, "a", "one-worker");
    host.call(agent, None, request("b", "one-worker"), 0.0);
    drain(&mut host);
    ask(&mut host, agent, "a", 1.0);
    assert_eq!(started(&wait(&mut host, 51.0)), None);
    host.stopped(first, Stop::Terminated, 60.0);
    assert!(started(&drain(&mut host)).is_some());
}
