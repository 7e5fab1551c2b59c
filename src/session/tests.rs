use super::*;
use crate::call::{
    CallId, CallKey, CancelAnswer, Code, Error, LateEnd, Millis, Outcome, Response, Stop,
};
use crate::offers::{Descriptor, Ending};

mod changes;
mod consent;
mod crowds;
mod figures;
mod forced;
mod handlers;
mod liveness;
mod progress;
mod scope;
mod shares;
mod slots;
mod stopping;
mod weakest;

type Host = HostState<u32, &'static str>;
type Step = Action<u32, &'static str>;

fn host() -> (Host, ConnectionId) {
    let mut host = Host::new(Limits::default());
    let told = |grace| Ending::Told { grace };
    let forced = |grace| Ending::Forced {
        grace,
        proof: 2_500.0,
    };
    for (name, concurrency, ending) in [
        ("work", None, Ending::AtOnce),
        ("single", Some(1), Ending::AtOnce),
        ("checked", None, Ending::AtOnce),
        ("script", None, told(50.0)),
        ("one-script", Some(1), told(50.0)),
        ("other-script", Some(1), told(50.0)),
        ("hasty", None, told(0.0)),
        ("worker", None, forced(50.0)),
        ("one-worker", Some(1), forced(50.0)),
        ("hasty-worker", None, forced(0.0)),
    ] {
        let descriptor = Descriptor {
            name: name.into(),
            concurrency,
            available: true,
            alternatives: Vec::new(),
            ending,
            confirm: false,
            checked: name == "checked",
            document: 0,
        };
        assert!(host.register(descriptor, "handler"));
    }
    let agent = join(&mut host, "session");
    (host, agent)
}

fn question(timeout: Option<Millis>) -> Question<u32> {
    Question {
        method: "elicitation/input".into(),
        request: 4,
        timeout,
    }
}

const EVERYTHING: Features = Features {
    notifications: true,
    progress: true,
    elicitation: true,
};

const NOTHING: Features = Features {
    notifications: false,
    progress: false,
    elicitation: false,
};

/// The `initialize` of an agent with that name, which wants every capability.
fn hello(name: &str, features: Features) -> Initialize {
    Initialize {
        agent: Agent {
            name: name.into(),
            version: "1".into(),
        },
        features,
        scope: Scope::default(),
    }
}

fn join(host: &mut Host, session: &str) -> ConnectionId {
    let agent = host.connect();
    open(host, agent, session);
    agent
}

fn open(host: &mut Host, agent: ConnectionId, session: &str) {
    let params = hello("test", EVERYTHING);
    host.initialize(agent, Some(1), params, session.into(), 0.0);
    assert!(matches!(
        drain(host)[..],
        [Action::Answer {
            answer: Answer::Initialized(Ok(_)),
            ..
        }]
    ));
}

fn request(id: &str, capability: &str) -> CallRequest<u32> {
    CallRequest {
        id: CallId::parse(id).unwrap(),
        capability: capability.into(),
        params: 5,
        timeout: None,
        token: None,
        bytes: 0,
    }
}

/// Takes every action out, starting what becomes ready, as a shell does.
fn drain(host: &mut Host) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(action) = host.poll_action() {
        if action == Action::Wake {
            host.run_ready();
        } else {
            steps.push(action);
        }
    }
    steps
}

fn start(host: &mut Host, agent: ConnectionId, id: &str, capability: &str) -> CallKey {
    host.call(agent, Some(9), request(id, capability), 0.0);
    started(&drain(host)).expect("the call starts")
}

fn started(steps: &[Step]) -> Option<CallKey> {
    steps.iter().find_map(|step| match step {
        Action::Start { key, .. } => Some(*key),
        _ => None,
    })
}

fn cancel(host: &mut Host, agent: ConnectionId, id: &str) -> (CancelAnswer, Vec<Step>) {
    host.cancel(agent, Some(8), 0, id, None, 1.0);
    let steps = drain(host);
    let answer = steps.iter().find_map(|step| match step {
        Action::Answer {
            answer: Answer::Cancelled(_, result),
            ..
        } => Some(result.clone().unwrap()),
        _ => None,
    });
    (answer.expect("a cancel is answered"), steps)
}

fn responses(steps: &[Step]) -> Vec<(CallKey, Outcome<u32>)> {
    let response = |step: &Step| match step {
        Action::Respond { key, response, .. } => Some((*key, response.outcome.clone())),
        _ => None,
    };
    steps.iter().filter_map(response).collect()
}

fn code(steps: &[Step]) -> Option<Code> {
    responses(steps)
        .into_iter()
        .find_map(|(_, outcome)| match outcome {
            Outcome::Failed(error) => Some(error.code.clone()),
            _ => None,
        })
}

#[test]
fn a_running_call_is_stopped_then_the_cancel_answered_then_the_call() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    let (answer, steps) = cancel(&mut host, agent, "a");
    assert_eq!(answer, CancelAnswer::cancelled(Stop::Dropped));
    assert!(matches!(
        steps[..],
        [
            Action::Stop { key: stopped, .. },
            Action::Answer { .. },
            Action::Respond { response: Response { outcome: Outcome::Cancelled(Stop::Dropped), .. }, .. }
        ] if stopped == key
    ));
    assert_eq!(host.in_flight(), 0);
}

#[test]
fn what_the_handler_returns_later_is_dropped_and_counted() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    cancel(&mut host, agent, "a");
    host.settle(key, Ok(7), false, 2.0);
    assert!(drain(&mut host).is_empty());
    assert_eq!(host.counters().late_results, 1);
}

#[test]
fn an_abort_in_the_same_tick_never_starts_the_call() {
    let (mut host, agent) = host();
    host.call(agent, Some(9), request("a", "work"), 0.0);
    host.cancel(agent, Some(8), 0, "a", None, 0.0);
    let steps = drain(&mut host);
    assert_eq!(started(&steps), None);
    assert_eq!(responses(&steps).len(), 1);
}

#[test]
fn a_queued_call_that_is_cancelled_is_skipped_and_the_next_one_runs() {
    let (mut host, agent) = host();
    let first = start(&mut host, agent, "a", "single");
    host.call(agent, None, request("b", "single"), 0.0);
    host.call(agent, None, request("c", "single"), 0.0);
    assert_eq!(started(&drain(&mut host)), None);
    let (answer, steps) = cancel(&mut host, agent, "b");
    assert_eq!(answer, CancelAnswer::cancelled(Stop::NeverStarted));
    assert_eq!(started(&steps), None);
    host.settle(first, Ok(1), false, 2.0);
    let third = started(&drain(&mut host)).expect("c has its turn");
    host.settle(third, Ok(1), false, 3.0);
    let (answer, _) = cancel(&mut host, agent, "c");
    assert_eq!(answer, CancelAnswer::AlreadyCompleted);
}

#[test]
fn a_slot_won_by_a_cancelled_call_goes_on_to_the_next() {
    let (mut host, agent) = host();
    start(&mut host, agent, "a", "single");
    for id in ["b", "c"] {
        host.call(agent, None, request(id, "single"), 0.0);
    }
    drain(&mut host);
    // Both in one tick: b gets the slot of a and is cancelled before it could start.
    host.cancel(agent, None, 0, "a", None, 0.0);
    host.cancel(agent, None, 0, "b", None, 0.0);
    let steps = drain(&mut host);
    let starts: Vec<_> = steps
        .iter()
        .filter(|it| matches!(it, Action::Start { .. }))
        .collect();
    assert!(matches!(starts[..], [Action::Start { id, .. }] if id.as_str() == "c"));
}

#[test]
fn a_timeout_stops_the_work_and_is_a_cancel() {
    let (mut host, agent) = host();
    let mut call = request("a", "work");
    call.timeout = Some(100.0);
    host.call(agent, None, call, 0.0);
    drain(&mut host);
    assert_eq!(host.next_deadline(), Some(100.0));
    host.handle_timeout(99.0);
    assert!(drain(&mut host).is_empty());
    host.handle_timeout(100.0);
    let steps = drain(&mut host);
    assert!(matches!(steps[0], Action::Stop { .. }));
    assert_eq!(responses(&steps)[0].1, Outcome::Cancelled(Stop::Dropped));
    assert_eq!(
        cancel(&mut host, agent, "a").0,
        CancelAnswer::cancelled(Stop::Dropped)
    );
    assert_eq!(host.next_deadline(), None);
}

#[test]
fn a_handler_that_stops_by_itself_counts_as_cancelled() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    host.settle(key, Err(Error::cancelled()), false, 1.0);
    assert_eq!(
        responses(&drain(&mut host))[0].1,
        Outcome::Cancelled(Stop::Dropped)
    );
    assert_eq!(
        cancel(&mut host, agent, "a").0,
        CancelAnswer::cancelled(Stop::Dropped)
    );
}

#[test]
fn a_reused_call_id_is_refused_and_the_first_call_undisturbed() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    host.call(agent, None, request("a", "work"), 0.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::INVALID_PARAMS));
    host.settle(key, Ok(7), false, 1.0);
    assert_eq!(responses(&drain(&mut host))[0].1, Outcome::Completed(7));
    host.call(agent, None, request("a", "work"), 0.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::INVALID_PARAMS));
}

#[test]
fn another_sessions_call_is_not_found() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    let other = join(&mut host, "other");
    assert_eq!(cancel(&mut host, other, "a").0, CancelAnswer::NotFound);
    assert!(host.is_in_flight(key));
    start(&mut host, other, "a", "work");
}

#[test]
fn a_tree_is_cancelled_leaves_first_and_a_child_alone_leaves_its_parent() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "work");
    let mut keys = vec![root];
    for id in ["child", "leaf"] {
        let parent = *keys.last().unwrap();
        host.call_from(parent, request(id, "work"), 0.0);
        keys.push(started(&drain(&mut host)).unwrap());
    }
    let (_, steps) = cancel(&mut host, agent, "leaf");
    assert_eq!(
        responses(&steps),
        [(keys[2], Outcome::Cancelled(Stop::Dropped))]
    );
    assert!(host.is_in_flight(keys[1]));
    let (_, steps) = cancel(&mut host, agent, "root");
    let order: Vec<_> = responses(&steps).into_iter().map(|(key, _)| key).collect();
    assert_eq!(order, [keys[1], root]);
    assert_eq!(host.in_flight(), 0);
}

#[test]
fn a_parent_that_ends_takes_its_children_with_it() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "work");
    host.call_from(root, request("child", "work"), 0.0);
    let child = started(&drain(&mut host)).unwrap();
    host.settle(root, Ok(1), false, 1.0);
    let steps = drain(&mut host);
    assert!(matches!(steps[0], Action::Stop { key, .. } if key == child));
    assert_eq!(host.in_flight(), 0);
}

#[test]
fn a_capability_that_calls_itself_runs_within_its_own_slot() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "single");
    host.call_from(root, request("child", "single"), 0.0);
    let child = started(&drain(&mut host)).expect("the child does not wait for its parent");
    host.settle(child, Ok(1), false, 1.0);
    host.settle(root, Ok(1), false, 1.0);
    drain(&mut host);
    start(&mut host, agent, "next", "single");
}

#[test]
fn shutdown_cancels_and_answers_what_is_in_flight_before_the_session_ends() {
    let (mut host, agent) = host();
    start(&mut host, agent, "a", "work");
    host.shutdown(agent, Some(3), None, 1.0);
    let steps = drain(&mut host);
    assert!(matches!(
        steps[..],
        [
            Action::Stop { .. },
            Action::Respond { .. },
            Action::Answer {
                answer: Answer::ShutDown(Ok(())),
                ..
            }
        ]
    ));
    host.cancel(agent, None, 0, "a", None, 2.0);
    assert!(matches!(
        &drain(&mut host)[..],
        [Action::Answer { answer: Answer::Cancelled(_, Err(error)), .. }] if error.code == Code::NOT_INITIALIZED
    ));
    host.call(agent, None, request("b", "work"), 2.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::NOT_INITIALIZED));
    join_again(&mut host, agent);
}

fn join_again(host: &mut Host, agent: ConnectionId) {
    let params = hello("test", EVERYTHING);
    host.initialize(agent, None, params.clone(), "again".into(), 3.0);
    host.initialize(agent, None, params, "twice".into(), 3.0);
    let steps = drain(host);
    assert!(matches!(
        &steps[0],
        Action::Answer {
            answer: Answer::Initialized(Ok(_)),
            ..
        }
    ));
    assert!(matches!(
        &steps[1],
        Action::Answer { answer: Answer::Initialized(Err(error)), .. } if error.code == Code::ALREADY_INITIALIZED
    ));
}

#[test]
fn a_lost_transport_cancels_what_is_in_flight_and_answers_nobody() {
    let (mut host, agent) = host();
    start(&mut host, agent, "a", "work");
    host.disconnect(agent, 1.0);
    let steps = drain(&mut host);
    let to = ReplyTo::Nobody;
    assert!(
        matches!(&steps[..], [Action::Stop { .. }, Action::Respond { to: nobody, .. }] if *nobody == to)
    );
    assert_eq!((host.in_flight(), host.sessions()), (0, 0));
}

#[test]
fn progress_after_the_end_is_dropped() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    host.progress(key, 1, 0.0);
    assert!(matches!(
        drain(&mut host)[..],
        [Action::Progress { info: 1, .. }]
    ));
    cancel(&mut host, agent, "a");
    host.progress(key, 2, 0.0);
    assert!(drain(&mut host).is_empty());
    assert_eq!(host.counters().late_progress, 1);
}

#[test]
fn a_question_is_withdrawn_when_its_call_is_cancelled() {
    let (mut host, agent) = host();
    let call = start(&mut host, agent, "a", "work");
    let question = host.elicit(call, question(None), 0.0);
    assert!(matches!(
        drain(&mut host)[..],
        [Action::Elicit { request: 4, .. }]
    ));
    let (_, steps) = cancel(&mut host, agent, "a");
    assert!(steps.contains(&Action::Withdraw {
        to: agent,
        key: question
    }));
    let cancelled = Response {
        outcome: Outcome::Cancelled(Stop::Abandoned),
        duration: None,
        by: None,
    };
    assert!(steps.contains(&Action::Elicited {
        key: question,
        response: cancelled
    }));
    host.answered(agent, question, Ok(1));
    assert!(drain(&mut host).is_empty());
}

#[test]
fn a_question_is_answered_once_by_its_own_agent_or_times_out() {
    let (mut host, agent) = host();
    let other = join(&mut host, "other");
    let call = start(&mut host, agent, "a", "work");
    let question = host.elicit(call, question(Some(50.0)), 0.0);
    drain(&mut host);
    host.answered(other, question, Ok(1));
    assert!(drain(&mut host).is_empty());
    host.handle_timeout(50.0);
    let steps = drain(&mut host);
    assert!(matches!(
        &steps[..],
        [Action::Withdraw { .. }, Action::Elicited { response: Response { outcome: Outcome::Failed(error), .. }, .. }]
            if error.code == Code::TIMEOUT
    ));
    assert_eq!(host.pending_elicitations(), 0);
}

#[test]
fn parameters_are_checked_before_the_call_is_queued() {
    let (mut host, agent) = host();
    host.call(agent, None, request("a", "checked"), 0.0);
    host.call(agent, None, request("b", "checked"), 0.0);
    let steps = drain(&mut host);
    let [Action::Check { key: a, .. }, Action::Check { key: b, .. }] = steps[..] else {
        panic!("{steps:?}");
    };
    host.checked(a, Err(Error::invalid_params("no")), 1.0);
    host.checked(b, Ok(()), 1.0);
    let steps = drain(&mut host);
    assert_eq!(code(&steps), Some(Code::INVALID_PARAMS));
    assert_eq!(started(&steps), Some(b));
    assert_eq!(
        cancel(&mut host, agent, "a").0,
        CancelAnswer::AlreadyCompleted
    );
}

#[test]
fn evicted_calls_are_not_found() {
    let mut host = Host::new(Limits {
        remembered: 1,
        ..Limits::default()
    });
    let descriptor = Descriptor {
        name: "work".into(),
        concurrency: None,
        available: true,
        alternatives: Vec::new(),
        ending: Ending::AtOnce,
        confirm: false,
        checked: false,
        document: 0,
    };
    host.register(descriptor, "handler");
    let agent = join(&mut host, "session");
    for id in ["a", "b"] {
        let key = start(&mut host, agent, id, "work");
        host.settle(key, Ok(1), false, 1.0);
        drain(&mut host);
    }
    assert_eq!(cancel(&mut host, agent, "a").0, CancelAnswer::NotFound);
    assert_eq!(
        cancel(&mut host, agent, "b").0,
        CancelAnswer::AlreadyCompleted
    );
}

#[test]
fn calls_in_flight_are_bounded_in_bytes_until_they_end() {
    let mut host = Host::new(Limits {
        in_flight_bytes: 10,
        ..Limits::default()
    });
    let descriptor = Descriptor {
        name: "work".into(),
        concurrency: Some(1),
        available: true,
        alternatives: Vec::new(),
        ending: Ending::AtOnce,
        confirm: false,
        checked: false,
        document: 0,
    };
    host.register(descriptor, "handler");
    let agent = join(&mut host, "session");
    let call = |host: &mut Host, id: &str, bytes| {
        let sized = CallRequest {
            bytes,
            ..request(id, "work")
        };
        host.call(agent, None, sized, 0.0);
        code(&drain(host))
    };
    assert_eq!(call(&mut host, "runs", 9), None);
    assert_eq!(call(&mut host, "waits", 100), None);
    assert_eq!(call(&mut host, "refused", 0), Some(Code::RATE_LIMITED));
    cancel(&mut host, agent, "waits");
    assert_eq!(call(&mut host, "refused", 1), None);
    assert_eq!(call(&mut host, "another", 0), Some(Code::RATE_LIMITED));
    cancel(&mut host, agent, "runs");
    assert_eq!(call(&mut host, "another", 0), None);
}

#[test]
fn every_limit_refuses_with_rate_limited() {
    let mut host = Host::new(Limits {
        in_flight: 1,
        sessions: 1,
        requests_per_second: 3.0,
        ..Limits::default()
    });
    let descriptor = Descriptor {
        name: "work".into(),
        concurrency: None,
        available: true,
        alternatives: Vec::new(),
        ending: Ending::AtOnce,
        confirm: false,
        checked: false,
        document: 0,
    };
    host.register(descriptor, "handler");
    let agent = join(&mut host, "session");
    start(&mut host, agent, "a", "work");
    host.call(agent, None, request("b", "work"), 0.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::RATE_LIMITED));
    cancel(&mut host, agent, "a");
    start(&mut host, agent, "b", "work");
    cancel(&mut host, agent, "b");
    host.call(agent, None, request("c", "work"), 0.0);
    let steps = drain(&mut host);
    let Outcome::Failed(error) = &responses(&steps)[0].1 else {
        panic!("{steps:?}")
    };
    assert!(error.retry_after.is_some());
    let second = host.connect();
    let params = hello("late", EVERYTHING);
    host.initialize(second, None, params, "second".into(), 0.0);
    assert!(matches!(
        &drain(&mut host)[..],
        [Action::Answer { answer: Answer::Initialized(Err(error)), .. }] if error.code == Code::RATE_LIMITED
    ));
}

#[test]
fn agents_are_told_of_changed_capabilities_and_accepted_calls_still_run() {
    let (mut host, agent) = host();
    host.call(agent, None, request("a", "work"), 0.0);
    assert!(host.unregister("work"));
    let steps = drain(&mut host);
    let changes = Changes {
        removed: vec!["work".into()],
        ..Changes::default()
    };
    assert!(steps.contains(&Action::CapabilitiesChanged {
        to: agent,
        changes: changes.into()
    }));
    assert!(started(&steps).is_some());
    host.call(agent, None, request("b", "work"), 0.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::UNKNOWN_CAPABILITY));
}
