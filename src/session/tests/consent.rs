//! Calls that wait until a person allows them.

use super::*;

/// A host with a capability that needs consent, in addition to the others.
fn asking_host(features: Features) -> (Host, ConnectionId) {
    let (mut host, _) = host();
    for (name, concurrency, ending, checked) in [
        ("delete", None, Ending::AtOnce, false),
        ("delete-checked", None, Ending::AtOnce, true),
        ("delete-one", Some(1), Ending::Told { grace: 50.0 }, false),
    ] {
        let descriptor = Descriptor {
            name: name.into(),
            concurrency,
            available: true,
            alternatives: Vec::new(),
            ending,
            confirm: true,
            checked,
            document: 0,
        };
        assert!(host.register(descriptor, "handler"));
    }
    let agent = host.connect();
    let params = hello("asking", features);
    host.initialize(agent, None, params, "asking".into(), 0.0);
    drain(&mut host);
    (host, agent)
}

/// Who asks about the call of that id, by the last that was told; `None` if it is allowed.
fn asked(steps: &[Step]) -> Vec<(String, CallKey, Option<Asked>)> {
    let consent = |step: &Step| match step {
        Action::Call(CallEvent {
            id,
            state: CallState::Consent(key, asked, 5),
            ..
        }) => Some((id.as_str().to_owned(), *key, *asked)),
        _ => None,
    };
    steps.iter().filter_map(consent).collect()
}

fn ask(host: &mut Host, agent: ConnectionId, id: &str, capability: &str) -> (CallKey, Asked) {
    host.call(agent, Some(9), request(id, capability), 0.0);
    let steps = drain(host);
    assert_eq!((started(&steps), responses(&steps).len()), (None, 0));
    let [(_, key, Some(asked))] = asked(&steps)[..] else {
        panic!("one question: {steps:?}");
    };
    (key, asked)
}

fn asked_of(host: &Host, agent: ConnectionId) -> Option<usize> {
    Some(host.session(agent)?.asked)
}

#[test]
fn an_allowed_call_starts_and_a_denied_one_never_does() {
    let (mut host, agent) = asking_host(NOTHING);
    host.show_consents(true, 0.0);
    let (key, who) = ask(&mut host, agent, "a", "delete");
    assert_eq!(who, Asked::App);
    assert!(host.consent(key, Some(true), 1.0));
    let steps = drain(&mut host);
    assert_eq!(asked(&steps), [("a".into(), key, None)]);
    assert_eq!(started(&steps), Some(key));
    host.settle(key, Ok(7), false, 2.0);
    assert_eq!(responses(&drain(&mut host)), [(key, Outcome::Completed(7))]);

    let (key, _) = ask(&mut host, agent, "b", "delete");
    assert!(host.consent(key, Some(false), 1.0));
    let steps = drain(&mut host);
    assert_eq!(
        (started(&steps), code(&steps)),
        (None, Some(Code::PERMISSION_DENIED))
    );
    let (_, Outcome::Failed(error)) = &responses(&steps)[0] else {
        panic!("{steps:?}");
    };
    assert!(!error.retryable);
    assert_eq!(
        cancel(&mut host, agent, "b").0,
        CancelAnswer::AlreadyCompleted
    );
    assert_eq!((host.in_flight(), asked_of(&host, agent)), (0, Some(0)));
}

#[test]
fn only_the_first_answer_counts() {
    let (mut host, agent) = asking_host(NOTHING);
    host.show_consents(true, 0.0);
    let (key, _) = ask(&mut host, agent, "a", "delete");
    assert!(host.consent(key, Some(true), 1.0));
    assert!(!host.consent(key, Some(false), 1.0));
    assert!(!host.consent(key, Some(true), 1.0));
    assert_eq!(started(&drain(&mut host)), Some(key));
    assert!(!host.consent(key, Some(false), 1.0));
    assert!(drain(&mut host).is_empty());
    assert!(host.is_in_flight(key));
    // No answer starts a call that does not wait for one.
    assert!(!host.consent(key + 100, Some(true), 1.0));
    host.call(agent, None, request("b", "checked"), 0.0);
    let steps = drain(&mut host);
    let [Action::Check { key, .. }] = steps[..] else {
        panic!("{steps:?}");
    };
    assert!(!host.consent(key, Some(true), 1.0));
    assert!(drain(&mut host).is_empty());
}

#[test]
fn a_cancel_before_during_and_after_the_question_is_as_strong_as_can_be() {
    let (mut host, agent) = asking_host(EVERYTHING);
    let never = CancelAnswer::cancelled(Stop::NeverStarted);
    // Before: the parameters are being checked, and nobody is ever asked.
    host.call(agent, None, request("a", "delete-checked"), 0.0);
    let steps = drain(&mut host);
    let [Action::Check { key, .. }] = steps[..] else {
        panic!("{steps:?}");
    };
    assert_eq!(cancel(&mut host, agent, "a").0, never);
    host.checked(key, Ok(()), 1.0);
    assert!(drain(&mut host).is_empty());
    // In the turn of the call.
    host.call(agent, None, request("b", "delete"), 0.0);
    assert_eq!(cancel(&mut host, agent, "b").0, never);
    // During: the agent's question is withdrawn before the cancel is answered.
    let (key, who) = ask(&mut host, agent, "c", "delete");
    assert_eq!(who, Asked::Agent);
    let asked = host.elicit(key, question(None), 0.0);
    assert!(matches!(drain(&mut host)[..], [Action::Elicit { .. }]));
    let (answer, steps) = cancel(&mut host, agent, "c");
    assert_eq!(answer, never);
    assert!(matches!(steps[0], Action::Withdraw { key, .. } if key == asked));
    assert!(
        !steps
            .iter()
            .any(|it| matches!(it, Action::Stop { .. } | Action::Start { .. }))
    );
    assert_eq!(
        responses(&steps),
        [(key, Outcome::Cancelled(Stop::NeverStarted))]
    );
    // The answer that comes after that starts nothing.
    host.answered(agent, asked, Ok(1));
    assert!(!host.consent(key, Some(true), 2.0));
    assert!(drain(&mut host).is_empty());
    // After: allowed and cancelled in one turn, and allowed and running.
    let (key, _) = ask(&mut host, agent, "d", "delete");
    host.consent(key, Some(true), 1.0);
    assert_eq!(cancel(&mut host, agent, "d").0, never);
    let (key, _) = ask(&mut host, agent, "e", "delete");
    host.consent(key, Some(true), 1.0);
    assert_eq!(started(&drain(&mut host)), Some(key));
    assert_eq!(
        cancel(&mut host, agent, "e").0,
        CancelAnswer::cancelled(Stop::Dropped)
    );
    assert_eq!((host.in_flight(), host.pending_elicitations()), (0, 0));
    assert_eq!(asked_of(&host, agent), Some(0));
    assert_eq!(host.next_deadline(), None);
}

#[test]
fn the_time_of_a_person_counts_towards_the_timeout() {
    let (mut host, agent) = asking_host(NOTHING);
    host.show_consents(true, 0.0);
    let mut call = request("a", "delete");
    call.timeout = Some(100.0);
    host.call(agent, None, call, 0.0);
    let key = asked(&drain(&mut host))[0].1;
    host.handle_timeout(100.0);
    let steps = drain(&mut host);
    assert_eq!(
        responses(&steps),
        [(key, Outcome::Cancelled(Stop::NeverStarted))]
    );
    assert!(!host.consent(key, Some(true), 101.0));
    assert_eq!(asked_of(&host, agent), Some(0));
    // Without a timeout nothing ends the wait.
    ask(&mut host, agent, "b", "delete");
    assert_eq!(host.next_deadline(), None);
}

#[test]
fn a_shutdown_or_a_lost_agent_ends_the_wait() {
    for lost in [false, true] {
        let (mut host, agent) = asking_host(EVERYTHING);
        let (key, _) = ask(&mut host, agent, "a", "delete");
        let question = host.elicit(key, question(None), 0.0);
        drain(&mut host);
        match lost {
            true => host.disconnect(agent, 1.0),
            false => host.shutdown(agent, Some(3), None, 1.0),
        }
        let steps = drain(&mut host);
        assert_eq!(
            responses(&steps),
            [(key, Outcome::Cancelled(Stop::NeverStarted))]
        );
        assert!(
            steps
                .iter()
                .any(|it| matches!(it, Action::Withdraw { key, .. } if *key == question))
        );
        let shut = |it: &Step| {
            matches!(
                it,
                Action::Answer {
                    answer: Answer::ShutDown(Ok(())),
                    ..
                }
            )
        };
        assert_eq!(steps.iter().any(shut), !lost);
        assert!(!host.consent(key, Some(true), 2.0));
        assert!(drain(&mut host).is_empty());
        assert_eq!((host.in_flight(), host.pending_elicitations()), (0, 0));
    }
}

#[test]
fn without_anybody_to_ask_the_call_is_refused() {
    let (mut host, agent) = asking_host(NOTHING);
    let key = host.call(agent, None, request("a", "delete"), 0.0);
    let steps = drain(&mut host);
    assert_eq!((started(&steps), asked(&steps).len()), (None, 0));
    assert_eq!(code(&steps), Some(Code::PERMISSION_REQUIRED));
    assert_eq!(responses(&steps)[0].0, key);
    // The agent takes questions, and its answer says that nobody can be asked.
    let (mut host, agent) = asking_host(EVERYTHING);
    let (key, _) = ask(&mut host, agent, "a", "delete");
    assert!(host.consent(key, None, 1.0));
    let steps = drain(&mut host);
    assert_eq!(
        (started(&steps), code(&steps)),
        (None, Some(Code::PERMISSION_REQUIRED))
    );
}

#[test]
fn the_app_asks_while_it_shows_an_interface_and_else_the_agent() {
    let (mut host, agent) = asking_host(EVERYTHING);
    assert_eq!(ask(&mut host, agent, "a", "delete").1, Asked::Agent);
    host.show_consents(true, 0.0);
    host.show_consents(true, 0.0);
    // What the agent asks already stays with the agent.
    assert!(drain(&mut host).is_empty());
    let (key, who) = ask(&mut host, agent, "b", "delete");
    assert_eq!(who, Asked::App);
    host.show_consents(false, 0.0);
    assert!(drain(&mut host).is_empty());
    host.show_consents(false, 0.0);
    assert_eq!(
        asked(&drain(&mut host)),
        [("b".into(), key, Some(Asked::Agent))]
    );
    assert_eq!(asked_of(&host, agent), Some(2));
    // One end too many changes nothing.
    host.show_consents(false, 0.0);
    assert!(drain(&mut host).is_empty());
    host.show_consents(true, 0.0);
    assert_eq!(ask(&mut host, agent, "c", "delete").1, Asked::App);
}

#[test]
fn calls_are_refused_when_the_last_interface_ends_and_the_agent_takes_no_questions() {
    let (mut host, agent) = asking_host(NOTHING);
    host.show_consents(true, 0.0);
    let keys = ["a", "b"].map(|id| ask(&mut host, agent, id, "delete").0);
    host.show_consents(false, 1.0);
    let steps = drain(&mut host);
    let ended: Vec<_> = responses(&steps).into_iter().map(|(key, _)| key).collect();
    assert_eq!(ended, keys);
    assert_eq!(code(&steps), Some(Code::PERMISSION_REQUIRED));
    assert_eq!((host.in_flight(), asked_of(&host, agent)), (0, Some(0)));
}

#[test]
fn an_agent_has_sixteen_questions_at_most() {
    let (mut host, agent) = asking_host(NOTHING);
    host.show_consents(true, 0.0);
    let ids: Vec<String> = (0..16).map(|number| number.to_string()).collect();
    let keys: Vec<_> = ids
        .iter()
        .map(|id| ask(&mut host, agent, id, "delete").0)
        .collect();
    host.call(agent, None, request("over", "delete"), 0.0);
    let steps = drain(&mut host);
    assert_eq!(
        (asked(&steps).len(), code(&steps)),
        (0, Some(Code::RATE_LIMITED))
    );
    // Another agent has its own, and so has each place that becomes free.
    let other = join(&mut host, "other");
    ask(&mut host, other, "a", "delete");
    cancel(&mut host, agent, "3");
    ask(&mut host, agent, "after a cancel", "delete");
    host.consent(keys[5], Some(true), 1.0);
    assert_eq!(started(&drain(&mut host)), Some(keys[5]));
    ask(&mut host, agent, "after an answer", "delete");
    host.call(agent, None, request("over again", "delete"), 0.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::RATE_LIMITED));
}

#[test]
fn parameters_are_checked_first_and_a_slot_is_taken_last() {
    let (mut host, agent) = asking_host(NOTHING);
    host.show_consents(true, 0.0);
    host.call(agent, None, request("bad", "delete-checked"), 0.0);
    let steps = drain(&mut host);
    let [Action::Check { key, .. }] = steps[..] else {
        panic!("{steps:?}");
    };
    host.checked(key, Err(Error::invalid_params("no")), 0.0);
    let steps = drain(&mut host);
    assert_eq!(
        (asked(&steps).len(), code(&steps)),
        (0, Some(Code::INVALID_PARAMS))
    );
    // A call that waits for a person keeps nobody from the one slot.
    let (first, _) = ask(&mut host, agent, "first", "delete-one");
    let (second, _) = ask(&mut host, agent, "second", "delete-one");
    host.consent(second, Some(true), 1.0);
    assert_eq!(started(&drain(&mut host)), Some(second));
    host.consent(first, Some(true), 1.0);
    let steps = drain(&mut host);
    assert_eq!((started(&steps), asked(&steps).len()), (None, 1));
    assert_eq!(
        cancel(&mut host, agent, "first").0,
        CancelAnswer::cancelled(Stop::NeverStarted)
    );
    host.settle(second, Ok(1), false, 2.0);
    drain(&mut host);
    assert_eq!((host.in_flight(), asked_of(&host, agent)), (0, Some(0)));
}

#[test]
fn a_child_call_waits_for_consent_of_its_own() {
    let (mut host, agent) = asking_host(NOTHING);
    host.show_consents(true, 0.0);
    let root = start(&mut host, agent, "root", "work");
    let child = host.call_from(root, request("child", "delete"), 0.0);
    let steps = drain(&mut host);
    assert_eq!(asked(&steps), [("child".into(), child, Some(Asked::App))]);
    // Denied: the parent goes on.
    host.consent(child, Some(false), 1.0);
    let steps = drain(&mut host);
    assert_eq!(
        (responses(&steps)[0].0, code(&steps)),
        (child, Some(Code::PERMISSION_DENIED))
    );
    assert!(host.is_in_flight(root));
    // Cancelled with the parent: the child never started.
    let child = host.call_from(root, request("next", "delete"), 0.0);
    drain(&mut host);
    let (answer, steps) = cancel(&mut host, agent, "root");
    assert_eq!(answer, CancelAnswer::cancelled(Stop::Dropped));
    assert_eq!(
        responses(&steps)[0],
        (child, Outcome::Cancelled(Stop::NeverStarted))
    );
    assert_eq!(started(&steps), None);
    assert!(!host.consent(child, Some(true), 2.0));
    // Of a parent that ends.
    let root = start(&mut host, agent, "another", "work");
    let child = host.call_from(root, request("of another", "delete"), 0.0);
    drain(&mut host);
    host.settle(root, Ok(1), false, 3.0);
    let steps = drain(&mut host);
    assert_eq!(
        responses(&steps)[0],
        (child, Outcome::Cancelled(Stop::NeverStarted))
    );
    assert_eq!((host.in_flight(), asked_of(&host, agent)), (0, Some(0)));
}

#[test]
fn a_call_that_waits_for_a_person_can_say_so_to_its_agent() {
    let (mut host, agent) = asking_host(EVERYTHING);
    host.show_consents(true, 0.0);
    let (key, _) = ask(&mut host, agent, "a", "delete");
    host.progress(key, 3, 1.0);
    assert!(matches!(
        drain(&mut host)[..],
        [Action::Progress { info: 3, .. }]
    ));
    cancel(&mut host, agent, "a");
    host.progress(key, 3, 2.0);
    assert!(drain(&mut host).is_empty());
}
