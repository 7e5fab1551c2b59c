//! How far a stop was seen, of handlers that can only be told.

use std::rc::Rc;

use super::*;

pub(super) fn answers(steps: &[Step]) -> Vec<CancelAnswer> {
    let answer = |step: &Step| match step {
        Action::Answer {
            answer: Answer::Cancelled(_, result),
            ..
        } => Some(result.clone().unwrap()),
        _ => None,
    };
    steps.iter().filter_map(answer).collect()
}

pub(super) fn ask(host: &mut Host, agent: ConnectionId, id: &str, now: f64) -> Vec<Step> {
    host.cancel(agent, Some(8), 0, id, None, now);
    drain(host)
}

pub(super) fn ended(steps: &[Step]) -> Vec<(&str, LateEnd)> {
    let end = |step: &'_ Step| match step {
        Action::CallEnded { id, end, .. } => Some((id.as_str().to_string(), *end)),
        _ => None,
    };
    let ends: Vec<_> = steps.iter().filter_map(end).collect();
    let leak = |(id, end): (String, LateEnd)| (&*id.leak(), end);
    ends.into_iter().map(leak).collect()
}

const ABANDONED: CancelAnswer = CancelAnswer::Cancelled {
    stop: Stop::Abandoned,
    ended: None,
    by: None,
};

fn returned() -> CancelAnswer {
    CancelAnswer::cancelled(Stop::Returned)
}

#[test]
fn the_confirmation_waits_for_a_handler_that_was_told_to_end() {
    for result in [Ok(1), Err(Error::invalid_params("stopped"))] {
        let (mut host, agent) = host();
        let key = start(&mut host, agent, "a", "script");
        let steps = ask(&mut host, agent, "a", 1.0);
        assert!(matches!(steps[..], [Action::Stop { .. }]));
        assert_eq!(host.next_deadline(), Some(51.0));
        host.settle(key, result, true, 5.0);
        let steps = drain(&mut host);
        assert_eq!(answers(&steps), [returned()]);
        assert_eq!(
            responses(&steps),
            [(key, Outcome::Cancelled(Stop::Returned))]
        );
        assert!(matches!(
            steps[..],
            [Action::Answer { .. }, Action::Respond { .. }]
        ));
        assert_eq!((host.in_flight(), host.next_deadline()), (0, None));
        assert_eq!(host.counters().late_results, 0);
    }
}

#[test]
fn a_handler_that_rejects_has_returned_although_it_was_not_told() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    host.settle(key, Err(Error::invalid_params("by chance")), false, 5.0);
    assert_eq!(answers(&drain(&mut host)), [returned()]);
}

#[test]
fn a_handler_that_was_never_told_and_fulfils_within_the_grace_has_completed() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    host.settle(key, Ok(7), false, 21.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [CancelAnswer::AlreadyCompleted]);
    assert_eq!(responses(&steps), [(key, Outcome::Completed(7))]);
    let again = answers(&ask(&mut host, agent, "a", 22.0));
    assert_eq!(again, [CancelAnswer::AlreadyCompleted]);
    assert_eq!(host.counters().cancelled, 0);
}

#[test]
fn a_handler_that_does_not_end_within_the_grace_is_abandoned_and_its_end_reported() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    host.handle_timeout(50.9);
    assert!(drain(&mut host).is_empty());
    host.handle_timeout(51.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [ABANDONED]);
    assert_eq!(
        responses(&steps),
        [(key, Outcome::Cancelled(Stop::Abandoned))]
    );
    assert_eq!(answers(&ask(&mut host, agent, "a", 100.0)), [ABANDONED]);
    host.settle(key, Ok(7), true, 201.0);
    let steps = drain(&mut host);
    let end = LateEnd {
        success: true,
        after: 150.0,
    };
    assert_eq!(ended(&steps), [("a", end)]);
    assert_eq!(steps.len(), 1);
    let counters = host.counters();
    assert_eq!((counters.late_results, counters.ended_late), (1, 1));
    let again = CancelAnswer::Cancelled {
        stop: Stop::Abandoned,
        ended: Some(end),
        by: None,
    };
    assert_eq!(answers(&ask(&mut host, agent, "a", 300.0)), [again]);
}

#[test]
fn without_grace_it_is_abandoned_at_once() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "hasty");
    let steps = ask(&mut host, agent, "a", 1.0);
    assert_eq!(answers(&steps), [ABANDONED]);
    host.settle(key, Err(Error::cancelled()), true, 2.0);
    let end = LateEnd {
        success: false,
        after: 1.0,
    };
    assert_eq!(ended(&drain(&mut host)), [("a", end)]);
}

#[test]
fn a_second_cancel_and_a_timeout_join_the_first() {
    let (mut host, agent) = host();
    let mut call = request("a", "script");
    call.timeout = Some(10.0);
    host.call(agent, None, call, 0.0);
    let key = started(&drain(&mut host)).unwrap();
    ask(&mut host, agent, "a", 1.0);
    assert!(ask(&mut host, agent, "a", 5.0).is_empty());
    host.handle_timeout(10.0);
    assert!(drain(&mut host).is_empty());
    host.cancel_here(agent, "a", None, 20.0);
    assert!(drain(&mut host).is_empty());
    host.settle(key, Ok(1), true, 30.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [returned(), returned()]);
    let confirmed =
        |step: &Step| matches!(step, Action::Confirm { answer: Ok(it), .. } if *it == returned());
    assert_eq!(steps.iter().filter(|step| confirmed(step)).count(), 1);
    assert!(matches!(steps.last(), Some(Action::Respond { .. })));
}

#[test]
fn a_timeout_gives_the_same_grace() {
    let (mut host, agent) = host();
    let mut call = request("a", "script");
    call.timeout = Some(10.0);
    host.call(agent, None, call, 0.0);
    let key = started(&drain(&mut host)).unwrap();
    host.handle_timeout(10.0);
    assert!(matches!(drain(&mut host)[..], [Action::Stop { .. }]));
    host.handle_timeout(60.0);
    let steps = drain(&mut host);
    assert_eq!(
        responses(&steps),
        [(key, Outcome::Cancelled(Stop::Abandoned))]
    );
}

#[test]
fn a_lost_transport_joins_the_cancel_and_answers_nobody() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    host.disconnect(agent, 2.0);
    assert!(drain(&mut host).is_empty());
    assert_eq!((host.in_flight(), host.sessions()), (1, 0));
    host.settle(key, Ok(1), true, 3.0);
    let steps = drain(&mut host);
    assert!(matches!(
        steps[..],
        [Action::Respond {
            to: ReplyTo::Nobody,
            ..
        }]
    ));
    assert_eq!(host.in_flight(), 0);
}

#[test]
fn a_shutdown_is_answered_when_all_its_calls_are() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    host.shutdown(agent, Some(3), None, 1.0);
    assert!(matches!(drain(&mut host)[..], [Action::Stop { .. }]));
    assert_eq!(host.sessions(), 0);
    // A cancel that comes meanwhile gets the answer of the call.
    assert!(ask(&mut host, agent, "a", 2.0).is_empty());
    host.settle(key, Err(Error::cancelled()), true, 3.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [returned()]);
    assert!(matches!(
        steps[..],
        [
            Action::Answer { .. },
            Action::Respond { .. },
            Action::Answer {
                answer: Answer::ShutDown(Ok(())),
                ..
            }
        ]
    ));
}

#[test]
fn a_session_that_follows_is_told_nothing_of_the_one_before() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "hasty");
    host.shutdown(agent, None, None, 1.0);
    drain(&mut host);
    join_again(&mut host, agent);
    host.settle(key, Ok(1), true, 9.0);
    assert!(drain(&mut host).is_empty());
    assert_eq!(host.counters().ended_late, 1);
}

#[test]
fn the_end_of_a_call_whose_agent_has_left_is_told_to_the_carrier_of_its_messages() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "hasty");
    ask(&mut host, agent, "a", 1.0);
    host.disconnect(agent, 2.0);
    drain(&mut host);
    host.settle(key, Ok(1), true, 9.0);
    let end = LateEnd {
        success: true,
        after: 8.0,
    };
    assert_eq!(ended(&drain(&mut host)), [("a", end)]);
}

#[test]
fn where_nothing_can_be_waited_for_it_is_abandoned_at_once() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "script");
    host.call_from(root, request("leaf", "script"), 0.0);
    drain(&mut host);
    ask(&mut host, agent, "root", 1.0);
    host.give_up(None, 2.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [ABANDONED]);
    let stops = responses(&steps).into_iter().map(|(_, outcome)| outcome);
    assert!(stops.eq([Stop::Abandoned; 2].map(Outcome::Cancelled)));
}

#[test]
fn a_queued_call_is_confirmed_at_once() {
    let (mut host, agent) = host();
    start(&mut host, agent, "a", "one-script");
    host.call(agent, None, request("b", "one-script"), 0.0);
    drain(&mut host);
    let answer = CancelAnswer::cancelled(Stop::NeverStarted);
    assert_eq!(answers(&ask(&mut host, agent, "b", 1.0)), [answer]);
}

#[test]
fn a_slot_is_free_when_the_cancel_is_confirmed() {
    let (mut host, agent) = host();
    let first = start(&mut host, agent, "a", "one-script");
    host.call(agent, None, request("b", "one-script"), 0.0);
    drain(&mut host);
    assert_eq!(started(&ask(&mut host, agent, "a", 1.0)), None);
    host.settle(first, Ok(1), true, 2.0);
    assert!(started(&drain(&mut host)).is_some());
}

#[test]
fn a_parent_is_told_by_the_end_of_its_child_and_is_worth_its_weakest_part() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "script");
    let leaf = host.call_from(root, request("leaf", "script"), 0.0);
    drain(&mut host);
    assert_eq!(ask(&mut host, agent, "root", 1.0).len(), 2);
    host.settle(leaf, Ok(1), true, 2.0);
    let steps = drain(&mut host);
    assert_eq!(
        responses(&steps),
        [(leaf, Outcome::Cancelled(Stop::Returned))]
    );
    // It has not taken its signal, and yet it knows.
    host.settle(root, Ok(1), false, 3.0);
    assert_eq!(answers(&drain(&mut host)), [returned()]);
}

#[test]
fn a_parent_that_was_not_told_completes_although_its_child_is_being_stopped() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "script");
    let leaf = host.call_from(root, request("leaf", "script"), 0.0);
    drain(&mut host);
    ask(&mut host, agent, "root", 1.0);
    host.settle(root, Ok(7), false, 2.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [CancelAnswer::AlreadyCompleted]);
    host.settle(leaf, Ok(1), false, 3.0);
    let steps = drain(&mut host);
    assert_eq!(responses(&steps), [(leaf, Outcome::Completed(1))]);
}

#[test]
fn a_dropped_parent_waits_for_its_child_and_ends_when_that_has() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "work");
    let leaf = host.call_from(root, request("leaf", "script"), 0.0);
    drain(&mut host);
    assert!(answers(&ask(&mut host, agent, "root", 1.0)).is_empty());
    host.handle_timeout(51.0);
    let steps = drain(&mut host);
    assert_eq!(answers(&steps), [ABANDONED]);
    let expected = [leaf, root].map(|key| (key, Outcome::Cancelled(Stop::Abandoned)));
    assert_eq!(responses(&steps), expected);
    host.settle(leaf, Ok(1), false, 61.0);
    let steps = drain(&mut host);
    let end = |success| LateEnd {
        success,
        after: 10.0,
    };
    assert_eq!(ended(&steps), [("leaf", end(true)), ("root", end(false))]);
}

#[test]
fn a_child_abandoned_before_weakens_its_parent_for_as_long_as_it_runs() {
    for child_ends in [false, true] {
        let (mut host, agent) = host();
        let root = start(&mut host, agent, "root", "script");
        let leaf = host.call_from(root, request("leaf", "hasty"), 0.0);
        drain(&mut host);
        assert_eq!(answers(&ask(&mut host, agent, "leaf", 1.0)), [ABANDONED]);
        if child_ends {
            host.settle(leaf, Ok(1), false, 2.0);
            drain(&mut host);
        }
        ask(&mut host, agent, "root", 3.0);
        host.settle(root, Ok(1), true, 4.0);
        let expected = if child_ends { returned() } else { ABANDONED };
        assert_eq!(answers(&drain(&mut host)), [expected]);
    }
}

#[test]
fn a_withdrawn_question_tells_the_handler() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    host.elicit(key, question(None), 0.0);
    drain(&mut host);
    let steps = ask(&mut host, agent, "a", 1.0);
    assert!(steps.iter().any(|it| matches!(it, Action::Withdraw { .. })));
    host.settle(key, Ok(1), false, 2.0);
    assert_eq!(answers(&drain(&mut host)), [returned()]);
}

#[test]
fn a_call_or_a_question_that_is_refused_tells_the_handler() {
    for asks in [false, true] {
        let (mut host, agent) = host();
        let key = start(&mut host, agent, "a", "script");
        ask(&mut host, agent, "a", 1.0);
        if asks {
            host.elicit(key, question(None), 2.0);
        } else {
            host.call_from(key, request("late", "work"), 2.0);
        }
        let steps = drain(&mut host);
        assert_eq!((started(&steps), steps.len()), (None, 1));
        host.settle(key, Ok(1), false, 3.0);
        assert_eq!(answers(&drain(&mut host)), [returned()]);
    }
}

#[test]
fn a_call_that_is_refused_is_remembered_as_cancelled_before_its_start() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    let late = host.call_from(key, request("late", "work"), 2.0);
    let never = Outcome::Cancelled(Stop::NeverStarted);
    assert_eq!(responses(&drain(&mut host)), [(late, never)]);
    let (answer, _) = cancel(&mut host, agent, "late");
    assert_eq!(answer, CancelAnswer::cancelled(Stop::NeverStarted));
    for id in ["late", "a"] {
        host.call_from(key, request(id, "work"), 2.0);
        assert_eq!(code(&drain(&mut host)), Some(Code::INVALID_PARAMS));
    }
    assert_eq!(host.in_flight(), 1);
    host.settle(key, Ok(1), false, 3.0);
    assert_eq!(answers(&drain(&mut host)), [returned()]);
}

#[test]
fn nothing_calls_for_a_call_that_has_ended_or_has_lost_its_session() {
    let (mut host, agent) = host();
    let over = start(&mut host, agent, "over", "work");
    host.settle(over, Ok(1), false, 1.0);
    let left = start(&mut host, agent, "left", "script");
    host.shutdown(agent, None, None, 1.0);
    drain(&mut host);
    open(&mut host, agent, "again");
    for parent in [over, left] {
        host.call_from(parent, request("late", "work"), 2.0);
        assert_eq!(code(&drain(&mut host)), Some(Code::PRECONDITION_FAILED));
        let (answer, _) = cancel(&mut host, agent, "late");
        assert_eq!(answer, CancelAnswer::NotFound);
    }
}

#[test]
fn a_handler_that_stops_by_itself_stops_what_it_started() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "script");
    let leaf = host.call_from(root, request("leaf", "script"), 0.0);
    drain(&mut host);
    host.settle(root, Err(Error::cancelled()), false, 1.0);
    let steps = drain(&mut host);
    assert!(matches!(steps[..], [Action::Stop { key, .. }] if key == leaf));
    host.settle(leaf, Ok(1), true, 2.0);
    let steps = drain(&mut host);
    let expected = [leaf, root].map(|key| (key, Outcome::Cancelled(Stop::Returned)));
    assert_eq!(responses(&steps), expected);
}

#[test]
fn what_a_handler_returns_after_its_end_was_seen_is_only_counted() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    host.settle(key, Ok(1), true, 2.0);
    drain(&mut host);
    host.settle(key, Ok(2), true, 3.0);
    assert!(drain(&mut host).is_empty());
    assert_eq!(host.counters().late_results, 1);
}

#[test]
fn of_two_agents_only_the_one_that_goes_gives_up() {
    let (mut host, agent) = host();
    let other = join(&mut host, "other");
    let here = start(&mut host, agent, "a", "script");
    start(&mut host, other, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    ask(&mut host, other, "a", 1.0);
    host.give_up(Some(other), 2.0);
    assert_eq!(answers(&drain(&mut host)), [ABANDONED]);
    host.settle(here, Ok(1), true, 3.0);
    assert_eq!(answers(&drain(&mut host)), [returned()]);
}

#[test]
fn without_grace_it_is_confirmed_at_once_although_its_child_has_some() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "hasty");
    let leaf = host.call_from(root, request("leaf", "script"), 0.0);
    drain(&mut host);
    assert_eq!(answers(&ask(&mut host, agent, "root", 1.0)), [ABANDONED]);
    host.settle(root, Ok(1), false, 2.0);
    assert!(ended(&drain(&mut host)).is_empty());
    host.settle(leaf, Ok(1), true, 4.0);
    let end = LateEnd {
        success: true,
        after: 3.0,
    };
    assert_eq!(ended(&drain(&mut host)), [("root", end)]);
}

#[test]
fn a_long_chain_of_calls_is_ended_without_a_long_stack() {
    for capability in ["work", "hasty"] {
        let (mut host, agent) = host();
        let mut keys = vec![start(&mut host, agent, "root", capability)];
        for depth in 0..9_000 {
            let parent = *keys.last().unwrap();
            keys.push(host.call_from(parent, request(&depth.to_string(), capability), 0.0));
            drain(&mut host);
        }
        assert_eq!(ask(&mut host, agent, "root", 1.0).len(), 18_003);
        for key in keys.into_iter().rev() {
            host.settle(key, Ok(1), true, 2.0);
        }
        let ends = if capability == "hasty" { 9_001 } else { 0 };
        assert_eq!(host.counters().ended_late, ends);
    }
}

#[test]
fn a_handler_whose_job_was_ended_is_terminated_whether_it_was_told_or_not() {
    let reason = Rc::from("ended");
    // A script that can only be told, and a future that ends at once.
    for capability in ["script", "work"] {
        let (mut host, agent) = host();
        let key = start(&mut host, agent, "a", capability);
        host.terminated(key, "a", &reason, 5.0);
        let steps = drain(&mut host);
        assert!(matches!(
            steps[..],
            [Action::Stop { .. }, Action::Respond { .. }]
        ));
        let outcome = Outcome::Cancelled(Stop::Terminated);
        assert_eq!(responses(&steps), [(key, outcome)]);
        let later = ask(&mut host, agent, "a", 6.0);
        let confirmed = CancelAnswer::cancelled(Stop::Terminated);
        assert_eq!(answers(&later), [confirmed]);
        assert_eq!((host.in_flight(), host.next_deadline()), (0, None));
        // Once, and what is said of it later changes nothing.
        host.terminated(key, "a", &reason, 7.0);
        assert!(drain(&mut host).is_empty());
    }
}

#[test]
fn a_cancel_that_waits_for_a_handler_is_answered_when_its_job_is_ended() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    ask(&mut host, agent, "a", 1.0);
    host.terminated(key, "a", &Rc::from("ended"), 5.0);
    let steps = drain(&mut host);
    let confirmed = CancelAnswer::cancelled(Stop::Terminated);
    assert_eq!(answers(&steps), [confirmed]);
    assert_eq!((host.in_flight(), host.next_deadline()), (0, None));
}

#[test]
fn a_call_whose_job_was_ended_is_worth_what_its_weakest_child_is() {
    let (mut host, agent) = host();
    let parent = start(&mut host, agent, "parent", "script");
    let child = host.call_from(parent, request("child", "script"), 0.0);
    host.run_ready();
    drain(&mut host);
    host.terminated(parent, "parent", &Rc::from("ended"), 5.0);
    assert!(responses(&drain(&mut host)).is_empty());
    host.handle_timeout(55.0);
    let steps = drain(&mut host);
    let abandoned = Outcome::Cancelled(Stop::Abandoned);
    assert_eq!(
        responses(&steps),
        [(child, abandoned.clone()), (parent, abandoned)]
    );
}

#[test]
fn a_job_that_was_ended_for_a_call_above_its_own_cancels_that_call() {
    let stopped = || Outcome::Cancelled(Stop::Terminated);
    let done = || Outcome::Completed(1);
    for (cancelled, outcomes) in [
        ("root", [stopped(), stopped()]),
        ("parent", [stopped(), done()]),
        ("child", [done(), done()]),
    ] {
        let (mut host, agent) = host();
        let run = |host: &mut Host, from, id| {
            host.call_from(from, request(id, "script"), 0.0);
            started(&drain(host)).expect("the call starts")
        };
        let root = start(&mut host, agent, "root", "script");
        let parent = run(&mut host, root, "parent");
        let child = run(&mut host, parent, "child");
        host.terminated(child, cancelled, &Rc::from("ended"), 5.0);
        assert_eq!(responses(&drain(&mut host)), [(child, stopped())]);
        for (key, outcome) in [parent, root].into_iter().zip(outcomes) {
            host.settle(key, Ok(1), false, 6.0);
            assert_eq!(responses(&drain(&mut host)), [(key, outcome)]);
        }
        // The cancel for which it was ended is heard last.
        let confirmed = CancelAnswer::cancelled(Stop::Terminated);
        assert_eq!(answers(&ask(&mut host, agent, cancelled, 7.0)), [confirmed]);
        assert_eq!((host.in_flight(), host.next_deadline()), (0, None));
    }
}

fn cancelling(steps: &[Step]) -> Vec<String> {
    let id = |step: &Step| match step {
        Action::Cancelling { id, .. } => Some(id.as_str().to_string()),
        _ => None,
    };
    steps.iter().filter_map(id).collect()
}

#[test]
fn observers_hear_once_that_a_call_is_asked_to_stop_and_is_not_known_to_have_stopped() {
    let (mut host, agent) = host();
    host.watch(true);
    let parent = start(&mut host, agent, "parent", "work");
    host.call_from(parent, request("child", "script"), 0.0);
    let child = started(&drain(&mut host)).expect("the call starts");
    let steps = ask(&mut host, agent, "parent", 1.0);
    assert_eq!(cancelling(&steps), ["child", "parent"]);
    assert!(cancelling(&ask(&mut host, agent, "parent", 2.0)).is_empty());
    host.settle(child, Ok(1), true, 3.0);
    let steps = drain(&mut host);
    assert!(cancelling(&steps).is_empty());
    assert_eq!(responses(&steps).len(), 2);
}

#[test]
fn a_call_that_ends_at_once_is_never_on_its_way_to_a_stop() {
    for capability in ["work", "hasty"] {
        let (mut host, agent) = host();
        host.watch(true);
        start(&mut host, agent, "a", capability);
        assert!(cancelling(&ask(&mut host, agent, "a", 1.0)).is_empty());
        assert_eq!(host.in_flight(), 0);
    }
}

#[test]
fn a_timeout_asks_a_call_to_stop_as_a_cancel_does() {
    let (mut host, agent) = host();
    host.watch(true);
    let timed = CallRequest {
        timeout: Some(10.0),
        ..request("a", "script")
    };
    host.call(agent, Some(9), timed, 0.0);
    drain(&mut host);
    host.handle_timeout(10.0);
    assert_eq!(cancelling(&drain(&mut host)), ["a"]);
}

#[test]
fn a_peer_says_how_far_its_handler_has_stopped() {
    for (word, stop) in [
        (Some("terminated"), Stop::Terminated),
        (None, Stop::Abandoned),
    ] {
        let (mut host, agent) = host();
        let key = start(&mut host, agent, "a", "script");
        let steps = ask(&mut host, agent, "a", 1.0);
        assert!(matches!(steps[..], [Action::Stop { .. }]));
        host.stopped_at_peer(key, Stop::of_peer(word), 2.0);
        let steps = drain(&mut host);
        assert_eq!(answers(&steps), [CancelAnswer::cancelled(stop)]);
        assert_eq!(responses(&steps), [(key, Outcome::Cancelled(stop))]);
    }
}

#[test]
fn a_handler_that_somebody_else_has_stopped_at_a_peer_is_cancelled() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "script");
    host.stopped_at_peer(key, Stop::Abandoned, 1.0);
    let steps = drain(&mut host);
    assert_eq!(
        responses(&steps),
        [(key, Outcome::Cancelled(Stop::Abandoned))]
    );
    assert_eq!(answers(&ask(&mut host, agent, "a", 2.0)), [ABANDONED]);
}

/// The answer of the app's cancel of that callId, wherever the call is.
fn cancel_anywhere(host: &mut Host, id: &str) -> Vec<Step> {
    let key = host.cancel_anywhere(id, None, 50.0);
    let mut steps = drain(host);
    steps.retain(|step| matches!(step, Action::Confirm { key: it, .. } if *it == key));
    steps
}

fn confirms(steps: &[Step], expected: CancelAnswer) -> bool {
    matches!(steps, [Action::Confirm { answer: Ok(it), .. }] if *it == expected)
}

#[test]
fn the_app_cancels_a_call_without_knowing_its_session() {
    let (mut host, first) = host();
    let second = join(&mut host, "second");
    // In the first session a call of that id has completed, in the second one runs.
    host.call(first, None, request("a", "work"), 0.0);
    let completed = started(&drain(&mut host)).unwrap();
    host.settle(completed, Ok(1), false, 10.0);
    host.call(second, None, request("a", "work"), 20.0);
    host.call(second, None, request("b", "work"), 20.0);
    drain(&mut host);
    let dropped = CancelAnswer::cancelled(Stop::Dropped);
    for id in ["a", "b"] {
        assert!(confirms(&cancel_anywhere(&mut host, id), dropped), "{id}");
    }
    assert_eq!(host.in_flight(), 0);
    // Now both are remembered, and the first session counts.
    let steps = cancel_anywhere(&mut host, "a");
    assert!(confirms(&steps, CancelAnswer::AlreadyCompleted));
    assert!(confirms(&cancel_anywhere(&mut host, "b"), dropped));
    let steps = cancel_anywhere(&mut host, "nobody's");
    assert!(confirms(&steps, CancelAnswer::NotFound));
}

#[test]
fn the_app_cancels_a_call_whose_session_is_over() {
    let (mut host, agent) = host();
    host.call(agent, None, request("a", "script"), 0.0);
    let key = started(&drain(&mut host)).unwrap();
    host.shutdown(agent, Some(7), None, 10.0);
    drain(&mut host);
    // The answer waits for the end of the handler, as that of the shutdown does.
    assert_eq!(cancel_anywhere(&mut host, "a"), []);
    host.settle(key, Ok(1), true, 60.0);
    let steps = drain(&mut host);
    assert!(
        steps.iter().any(
            |step| matches!(step, Action::Confirm { answer: Ok(it), .. } if *it == returned())
        )
    );
}
