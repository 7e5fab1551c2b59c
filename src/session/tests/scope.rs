//! What an agent has requested of a host, and what it allows it.

use super::*;

fn names(names: &[&str]) -> Option<Names> {
    Some(Names(names.iter().map(ToString::to_string).collect()))
}

/// An agent that has asked for that, and what it was answered.
fn join_with(host: &mut Host, scope: Scope) -> (ConnectionId, Initialized<u32>) {
    let agent = host.connect();
    let params = Initialize {
        scope,
        ..hello("modest", EVERYTHING)
    };
    host.initialize(agent, Some(1), params, "modest".into(), 0.0);
    match drain(host).pop() {
        Some(Action::Answer {
            answer: Answer::Initialized(Ok(opened)),
            ..
        }) => (agent, opened),
        step => panic!("{step:?}"),
    }
}

fn requesting(host: &mut Host, capabilities: &[&str]) -> (ConnectionId, Initialized<u32>) {
    let scope = Scope {
        capabilities: names(capabilities),
        requests: None,
    };
    join_with(host, scope)
}

fn allowing(host: &mut Host, requests: &[&str]) -> (ConnectionId, Initialized<u32>) {
    let scope = Scope {
        capabilities: None,
        requests: names(requests),
    };
    join_with(host, scope)
}

fn refusal(steps: &[Step]) -> Option<(Code, &str)> {
    steps.iter().find_map(|step| match step {
        Action::Respond { response, .. } | Action::Elicited { response, .. } => {
            match &response.outcome {
                Outcome::Failed(error) => Some((error.code.clone(), &*error.message)),
                _ => None,
            }
        }
        _ => None,
    })
}

#[test]
fn there_is_only_what_an_agent_has_requested_for_it() {
    let (mut host, other) = host();
    let (agent, opened) = requesting(&mut host, &["script", "work", "work", "not there"]);
    assert_eq!(opened.capabilities.len(), 2);
    assert_eq!(host.documents(agent).len(), 2);
    assert_eq!(host.documents(other).len(), 10);
    host.call(agent, None, request("a", "single"), 0.0);
    assert_eq!(
        refusal(&drain(&mut host)),
        Some((
            Code::UNKNOWN_CAPABILITY,
            "The capability \"single\" was not requested for this session"
        ))
    );
    start(&mut host, agent, "a", "work");
    start(&mut host, other, "a", "single");
}

#[test]
fn who_requests_nothing_gets_nothing() {
    let (mut host, _) = host();
    let (agent, opened) = requesting(&mut host, &[]);
    assert!(opened.capabilities.is_empty());
    host.call(agent, None, request("a", "work"), 0.0);
    assert_eq!(code(&drain(&mut host)), Some(Code::UNKNOWN_CAPABILITY));
}

#[test]
fn a_capability_that_was_requested_may_call_any_other() {
    let (mut host, _) = host();
    let (agent, _) = requesting(&mut host, &["work"]);
    let parent = start(&mut host, agent, "a", "work");
    let child = host.call_from(parent, request("b", "script"), 0.0);
    assert!(host.is_in_flight(child));
}

#[test]
fn an_agent_is_told_only_of_changes_to_what_it_has_requested() {
    let (mut host, other) = host();
    let (agent, _) = requesting(&mut host, &["work", "later"]);
    host.unregister("work");
    host.unregister("script");
    host.run_ready();
    let removed = |steps: &[Step], of: ConnectionId| {
        steps.iter().find_map(|step| match step {
            Action::CapabilitiesChanged { to, changes } if *to == of => {
                Some(changes.removed.iter().map(ToString::to_string).collect())
            }
            _ => None::<Vec<String>>,
        })
    };
    let steps = drain(&mut host);
    assert_eq!(removed(&steps, agent).unwrap(), ["work"]);
    assert_eq!(removed(&steps, other).unwrap(), ["script", "work"]);
    host.unregister("single");
    host.run_ready();
    let steps = drain(&mut host);
    assert_eq!(removed(&steps, agent), None);
    assert_eq!(removed(&steps, other).unwrap(), ["single"]);
}

#[test]
fn an_agent_is_asked_only_what_it_allows() {
    let (mut host, _) = host();
    let (agent, opened) = allowing(&mut host, &["elicitation/confirm"]);
    assert!(opened.features.elicitation);
    let call = start(&mut host, agent, "a", "work");
    host.elicit(call, question(None), 0.0);
    assert_eq!(
        refusal(&drain(&mut host)),
        Some((
            Code::NOT_SUPPORTED,
            "The agent takes no questions of the method \"elicitation/input\""
        ))
    );
    let allowed = Question {
        method: "elicitation/confirm".into(),
        ..question(None)
    };
    host.ask(agent, None, allowed, 0.0);
    assert!(matches!(drain(&mut host)[..], [Action::Elicit { .. }]));
}

#[test]
fn who_allows_the_message_of_all_questions_is_asked_any() {
    let (mut host, _) = host();
    let (agent, _) = allowing(&mut host, &["elicitation/request"]);
    host.ask(agent, None, question(None), 0.0);
    assert!(matches!(drain(&mut host)[..], [Action::Elicit { .. }]));
}

#[test]
fn who_allows_nothing_is_asked_nothing_and_is_told_so() {
    let (mut host, _) = host();
    let (agent, opened) = allowing(&mut host, &[]);
    assert!(!opened.features.elicitation);
    host.ask(agent, None, question(None), 0.0);
    assert_eq!(
        refusal(&drain(&mut host)),
        Some((Code::NOT_SUPPORTED, "The agent takes no questions"))
    );
}
