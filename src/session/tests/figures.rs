//! What a host counts, keeps and tells its observers.

use super::*;

#[test]
fn calls_and_cancels_are_counted_and_timed() {
    let limits = Limits {
        sessions: 7,
        ..Limits::default()
    };
    let empty = Host::new(limits);
    assert_eq!(*empty.limits(), limits);
    let (mut host, agent) = host();
    host.call(agent, None, request("a", "work"), 100.0);
    let key = started(&drain(&mut host)).unwrap();
    host.settle(key, Ok(1), false, 150.0);
    let steps = drain(&mut host);
    assert!(
        matches!(&steps[..], [Action::Respond { response, .. }] if response.duration == Some(50.0))
    );
    for id in ["b", "c"] {
        start(&mut host, agent, id, "work");
        cancel(&mut host, agent, id);
    }
    let counters = host.counters();
    assert_eq!((counters.calls, counters.cancelled), (3, 2));
    host.progress_of(1, |_, _| false, 1.0);
    host.progress_of(1, |_, _| false, 1.0);
    assert_eq!(host.counters().late_progress, 2);
}

#[test]
fn sessions_are_counted_and_found_by_their_ids() {
    let (mut host, agent) = host();
    let other = join(&mut host, "other");
    assert_eq!(host.sessions(), 2);
    assert_eq!(host.connection_of("session"), Some(agent));
    assert_eq!(host.connection_of("other"), Some(other));
    assert_eq!(host.connection_of("none"), None);
}

#[test]
fn of_two_agents_that_shut_down_only_the_one_that_has_left_gets_no_answer() {
    let (mut host, agent) = host();
    let other = join(&mut host, "other");
    let mut keys = Vec::new();
    for it in [agent, other] {
        keys.push(start(&mut host, it, "a", "script"));
        host.shutdown(it, Some(4), None, 1.0);
    }
    host.disconnect(agent, 2.0);
    drain(&mut host);
    for key in keys {
        host.settle(key, Ok(1), true, 3.0);
    }
    let steps = drain(&mut host);
    let answered = steps.iter().filter_map(|step| match step {
        Action::Answer {
            to,
            answer: Answer::ShutDown(Ok(())),
            ..
        } => Some(*to),
        _ => None,
    });
    assert_eq!(answered.collect::<Vec<_>>(), [other]);
}

#[test]
fn deadlines_of_calls_that_have_ended_do_not_pile_up() {
    for (capability, forced) in [("work", false), ("script", false), ("worker", true)] {
        let (mut host, agent) = host();
        for number in 0..1_000 {
            let mut call = request(&number.to_string(), capability);
            call.timeout = Some(1e9);
            host.call(agent, None, call, 0.0);
            let key = started(&drain(&mut host)).unwrap();
            host.cancel(agent, None, 0, &number.to_string(), None, 1.0);
            if forced {
                host.handle_timeout(51.0);
                host.stopped(key, Stop::Terminated, 52.0);
            } else {
                host.settle(key, Ok(1), true, 2.0);
            }
            drain(&mut host);
        }
        assert!(
            host.deadlines.len() < 200,
            "{capability}: {}",
            host.deadlines.len()
        );
    }
}

#[test]
fn the_oldest_late_ends_are_waited_for_no_longer_once_there_are_too_many() {
    let (mut host, agent) = host();
    let abandon = |host: &mut Host, number: u32| {
        let id = number.to_string();
        start(host, agent, &id, "hasty");
        cancel(host, agent, &id);
        host.abandoned.len()
    };
    let most = (0..10_000).map(|it| abandon(&mut host, it)).last();
    assert_eq!(most, Some(10_000));
    assert_eq!(abandon(&mut host, 10_000), 9_001);
}

#[test]
fn an_observer_sees_each_step_of_a_call_and_why_it_was_stopped() {
    let (mut host, agent) = host();
    host.watch(true);
    host.call(agent, None, request("a", "work"), 0.0);
    drain_states(&mut host, &["queued", "running"]);
    host.cancel(agent, None, 0, "a", Some("enough".into()), 1.0);
    drain_states(&mut host, &["ended: enough"]);
}

fn drain_states(host: &mut Host, expected: &[&str]) {
    let steps = drain(host);
    let states = steps.iter().filter_map(|step| match step {
        Action::Call(event) => Some(match &event.state {
            CallState::Queued(_) => "queued".to_owned(),
            CallState::Consent(_, asked, _) => format!("{asked:?}"),
            CallState::Running => "running".to_owned(),
            CallState::Ended(_, reason) => {
                format!("ended: {}", reason.as_deref().unwrap_or("no reason"))
            }
        }),
        _ => None,
    });
    assert_eq!(states.collect::<Vec<_>>(), expected);
}

#[test]
fn an_observer_hears_of_cancels_of_known_calls_only() {
    let (mut host, agent) = host();
    host.watch(true);
    let key = start(&mut host, agent, "a", "work");
    host.settle(key, Ok(1), false, 1.0);
    drain(&mut host);
    let heard = |steps: &[Step]| {
        steps
            .iter()
            .any(|it| matches!(it, Action::CancelAnswered { .. }))
    };
    let (_, steps) = cancel(&mut host, agent, "a");
    assert!(heard(&steps));
    let (_, steps) = cancel(&mut host, agent, "unknown");
    assert!(!heard(&steps));
}
