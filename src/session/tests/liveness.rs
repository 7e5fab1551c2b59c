use super::*;
use crate::dialect::events::LIFE_ASKED;

/// An agent that answers, with a call in flight. It may be silent for a second.
fn calling(host: &mut Host, id: &str) -> ConnectionId {
    let agent = join(host, id);
    host.watch_life(agent, 1_000.0);
    host.call(agent, Some(1), request(id, "work"), 0.0);
    drain(host);
    agent
}

fn asks(to: ConnectionId) -> Step {
    Action::Notify {
        to,
        event: LIFE_ASKED.into(),
        data: None,
    }
}

/// Lets the host act at its next deadline.
fn next(host: &mut Host) -> (Millis, Vec<Step>) {
    let at = host.next_deadline().expect("a deadline");
    host.handle_timeout(at);
    (at, drain(host))
}

#[test]
fn an_agent_that_does_not_answer_is_gone_in_the_liveness_time() {
    let mut host = host().0;
    let agent = calling(&mut host, "a");
    assert_eq!(next(&mut host), (500.0, vec![asks(agent)]));
    assert_eq!(next(&mut host), (1_000.0, vec![Action::Lost { agent }]));
    host.part(agent, "The agent disconnected", 1_000.0);
    drain(&mut host);
    assert_eq!((host.in_flight(), host.next_deadline()), (0, None));
}

#[test]
fn any_message_is_an_answer() {
    type Say = fn(&mut Host, ConnectionId, Millis);
    let says: [Say; 4] = [
        |host, agent, now| host.heard(agent, now),
        |host, agent, now| {
            host.call(agent, Some(2), request("more", "work"), now);
        },
        |host, agent, now| host.cancel(agent, Some(2), 3, "other", None, now),
        |host, agent, now| {
            let again = hello("test", EVERYTHING);
            host.initialize(agent, Some(2), again, "again".into(), now);
        },
    ];
    for say in says {
        let mut host = host().0;
        let agent = calling(&mut host, "a");
        next(&mut host);
        say(&mut host, agent, 900.0);
        drain(&mut host);
        assert_eq!(next(&mut host), (1_000.0, vec![asks(agent)]));
    }
}

#[test]
fn nobody_is_asked_without_a_call_or_without_having_announced_it() {
    let (mut host, plain) = host();
    host.call(plain, Some(1), request("a", "work"), 0.0);
    drain(&mut host);
    assert_eq!(host.next_deadline(), None);
    let idle = join(&mut host, "idle");
    host.watch_life(idle, 1_000.0);
    host.heard(idle, 0.0);
    assert_eq!(next(&mut host), (500.0, vec![]));
    assert_eq!(host.next_deadline(), None);
}

#[test]
fn with_the_last_call_the_host_stops_asking_and_begins_anew_with_the_next() {
    let mut host = host().0;
    let agent = calling(&mut host, "a");
    assert_eq!(next(&mut host).1, [asks(agent)]);
    host.cancel(agent, Some(2), 3, "a", None, 600.0);
    drain(&mut host);
    assert_eq!(host.next_deadline(), None);
    host.call(agent, Some(1), request("b", "work"), 5_000.0);
    drain(&mut host);
    assert_eq!(next(&mut host), (5_500.0, vec![asks(agent)]));
}

#[test]
fn a_question_that_was_looked_after_late_counts_half() {
    let mut host = host().0;
    let agent = calling(&mut host, "a");
    next(&mut host);
    host.handle_timeout(60_000.0);
    assert_eq!(drain(&mut host), [asks(agent)]);
    assert_eq!(next(&mut host), (60_500.0, vec![Action::Lost { agent }]));
}

#[test]
fn an_agent_that_answers_the_second_question_is_alive() {
    let mut host = host().0;
    let agent = calling(&mut host, "a");
    next(&mut host);
    host.handle_timeout(60_000.0);
    drain(&mut host);
    host.heard(agent, 60_100.0);
    assert_eq!(next(&mut host), (60_500.0, vec![asks(agent)]));
    host.handle_timeout(120_000.0);
    assert_eq!(drain(&mut host), [asks(agent)]);
}

#[test]
fn each_agent_is_looked_after_by_itself() {
    let mut host = host().0;
    let agents = ["a", "b", "c"].map(|id| calling(&mut host, id));
    assert_eq!(next(&mut host).1, agents.map(asks));
    host.heard(agents[1], 700.0);
    let expected = [
        Action::Lost { agent: agents[0] },
        Action::Lost { agent: agents[2] },
        asks(agents[1]),
    ];
    assert_eq!(next(&mut host).1, expected);
}

#[test]
fn an_agent_whose_lock_tells_its_end_is_not_asked() {
    let mut host = host().0;
    let agent = calling(&mut host, "a");
    host.unwatch_life(agent);
    assert_eq!(next(&mut host), (500.0, vec![]));
    assert_eq!(host.next_deadline(), None);
}

#[test]
fn with_an_infinite_liveness_nobody_is_asked() {
    let mut host = host().0;
    let agent = join(&mut host, "a");
    host.watch_life(agent, f64::INFINITY);
    host.call(agent, Some(1), request("a", "work"), 0.0);
    drain(&mut host);
    assert_eq!(host.next_deadline(), None);
}

#[test]
fn an_agent_that_opens_another_session_is_asked_only_if_it_announces_it_again() {
    let mut host = host().0;
    let agent = calling(&mut host, "a");
    host.shutdown(agent, Some(2), None, 100.0);
    drain(&mut host);
    open(&mut host, agent, "again");
    host.call(agent, Some(1), request("b", "work"), 200.0);
    drain(&mut host);
    assert_eq!(next(&mut host), (500.0, vec![]));
    assert_eq!(host.next_deadline(), None);
}

#[test]
fn an_agent_that_keeps_talking_does_not_put_off_the_look_after_another() {
    let mut host = host().0;
    let silent = calling(&mut host, "silent");
    let talking = calling(&mut host, "talking");
    next(&mut host);
    // The timer is late, and messages are read before it.
    host.heard(talking, 1_200.0);
    host.handle_timeout(1_201.0);
    let lost = Action::Lost { agent: silent };
    assert_eq!(drain(&mut host), [lost, asks(talking)]);
}

#[test]
fn a_silent_agent_is_lost_at_a_look_in_time_and_at_the_second_that_is_late() {
    for (looks, lost) in [
        (vec![50.0, 125.0], true),
        (vec![50.0, 126.0], false),
        (vec![50.0, 150.0, 300.0], true),
    ] {
        let (mut host, agent) = host();
        host.watch_life(agent, 100.0);
        start(&mut host, agent, "a", "work");
        let mut gone = false;
        for look in &looks {
            assert!(!gone, "{looks:?}");
            host.handle_timeout(*look);
            gone = drain(&mut host).contains(&Action::Lost { agent });
        }
        assert_eq!(gone, lost, "{looks:?}");
    }
}
