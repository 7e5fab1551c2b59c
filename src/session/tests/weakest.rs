//! The grade of a whole, and what is waited for.

use super::*;

/// A handler that makes calls, with the keys of those.
fn family(children: &[&str]) -> (Host, ConnectionId, CallKey, Vec<CallKey>) {
    let (mut host, agent) = host();
    let slow = Descriptor {
        name: "slow-script".into(),
        concurrency: None,
        available: true,
        alternatives: Vec::new(),
        ending: Ending::Told { grace: 1_000.0 },
        confirm: false,
        checked: false,
        document: 0,
    };
    host.register(slow, "handler");
    let root = start(&mut host, agent, "root", "script");
    let keys = children.iter().map(|capability| {
        host.call_from(root, request(&format!("a {capability}"), capability), 0.0);
        started(&drain(&mut host)).unwrap()
    });
    let keys = keys.collect();
    (host, agent, root, keys)
}

#[test]
fn what_was_abandoned_before_weakens_a_whole_although_the_rest_was_seen_to_end() {
    let (mut host, agent, root, keys) = family(&["hasty", "script"]);
    let (answer, _) = cancel(&mut host, agent, "a hasty");
    assert_eq!(answer, CancelAnswer::cancelled(Stop::Abandoned));
    host.cancel(agent, None, 0, "a script", None, 1.0);
    host.settle(keys[1], Ok(1), true, 2.0);
    drain(&mut host);
    host.cancel(agent, None, 0, "root", None, 3.0);
    host.settle(root, Ok(1), true, 4.0);
    let abandoned = Outcome::Cancelled(Stop::Abandoned);
    assert_eq!(responses(&drain(&mut host)), [(root, abandoned)]);
}

#[test]
fn who_has_returned_waits_for_what_it_made_no_longer_than_its_own_grace() {
    let (mut host, agent, root, keys) = family(&["slow-script"]);
    host.cancel(agent, None, 0, "root", None, 1.0);
    host.settle(root, Ok(1), true, 2.0);
    assert_eq!(responses(&drain(&mut host)), []);
    host.handle_timeout(51.0);
    let abandoned = Outcome::Cancelled(Stop::Abandoned);
    assert_eq!(responses(&drain(&mut host)), [(root, abandoned)]);
    assert!(host.is_in_flight(keys[0]));
}

#[test]
fn a_cancel_of_what_it_made_does_not_tell_a_handler_of_a_later_cancel() {
    let (mut host, agent, root, _) = family(&["work"]);
    cancel(&mut host, agent, "a work");
    host.cancel(agent, None, 0, "root", None, 2.0);
    host.settle(root, Ok(7), false, 3.0);
    assert_eq!(
        responses(&drain(&mut host)),
        [(root, Outcome::Completed(7))]
    );
}

#[test]
fn a_worker_whose_end_cannot_be_proven_is_answered_although_a_child_has_its_grace() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "worker");
    host.call_from(root, request("child", "script"), 0.0);
    drain(&mut host);
    host.cancel(agent, None, 0, "root", None, 1.0);
    drain(&mut host);
    host.stopped(root, Stop::Abandoned, 2.0);
    let abandoned = Outcome::Cancelled(Stop::Abandoned);
    assert_eq!(responses(&drain(&mut host)), [(root, abandoned)]);
}

#[test]
fn news_of_a_call_that_is_over_or_unknown_count_for_nothing() {
    let (mut host, agent) = host();
    let dropped = start(&mut host, agent, "a", "work");
    cancel(&mut host, agent, "a");
    let abandoned = start(&mut host, agent, "b", "hasty");
    cancel(&mut host, agent, "b");
    for (key, stop) in [
        (dropped, Stop::Terminated),
        (dropped, Stop::Abandoned),
        (abandoned, Stop::Abandoned),
        (999, Stop::Terminated),
    ] {
        host.stopped(key, stop, 2.0);
        assert_eq!(drain(&mut host), []);
        assert_eq!(host.counters().late_results, 0);
    }
    host.stopped(abandoned, Stop::Terminated, 2.0);
    assert_eq!(host.counters().ended_late, 1);
}

#[test]
fn those_in_line_keep_their_turn_when_others_leave_it() {
    let (mut host, agent) = host();
    let first = start(&mut host, agent, "a", "single");
    for id in ["b", "c", "d"] {
        host.call(agent, None, request(id, "single"), 0.0);
    }
    drain(&mut host);
    for id in ["b", "c"] {
        let (answer, _) = cancel(&mut host, agent, id);
        assert_eq!(answer, CancelAnswer::cancelled(Stop::NeverStarted));
    }
    host.settle(first, Ok(1), false, 2.0);
    let steps = drain(&mut host);
    assert!(
        steps
            .iter()
            .any(|step| matches!(step, Action::Start { id, .. } if id.as_str() == "d"))
    );
}

#[test]
fn what_it_made_tells_a_handler_nothing_by_completing() {
    let (mut host, agent, root, keys) = family(&["script"]);
    host.cancel(agent, None, 0, "root", None, 1.0);
    host.settle(keys[0], Ok(6), false, 2.0);
    host.settle(root, Ok(7), false, 3.0);
    let completed = [
        (keys[0], Outcome::Completed(6)),
        (root, Outcome::Completed(7)),
    ];
    assert_eq!(responses(&drain(&mut host)), completed);
}

#[test]
fn a_handler_that_stops_by_itself_and_is_reached_is_timed_from_its_stop() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "worker");
    host.call_from(root, request("child", "script"), 0.0);
    let child = started(&drain(&mut host)).unwrap();
    host.settle(root, Err(Error::cancelled()), false, 100.0);
    host.reached(root, Some(crate::call::Step::Flag));
    host.settle(child, Ok(1), true, 130.0);
    let steps = drain(&mut host);
    let by = steps.iter().find_map(|step| match step {
        Action::Respond { key, response, .. } if *key == root => response.by,
        _ => None,
    });
    assert_eq!(by.map(|it| it.took), Some(30.0));
}
