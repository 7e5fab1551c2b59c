//! What agents are told of a set of capabilities that changes.

use super::*;

fn register(host: &mut Host, name: &str) {
    let descriptor = Descriptor {
        name: name.into(),
        concurrency: None,
        available: true,
        alternatives: Vec::new(),
        ending: Ending::AtOnce,
        confirm: false,
        checked: false,
        document: 0,
    };
    assert!(host.register(descriptor, "handler"), "{name}");
}

/// Who is told what, of all that there is to do.
fn told(steps: &[Step]) -> Vec<(ConnectionId, [Vec<&str>; 3])> {
    let mut told = Vec::new();
    for step in steps {
        if let Action::CapabilitiesChanged { to, changes } = step {
            let lists = [&changes.added, &changes.removed, &changes.changed];
            told.push((*to, lists.map(|it| it.iter().map(|name| &**name).collect())));
        }
    }
    told
}

/// Takes out what is to be done before the turn is over.
fn now(host: &mut Host) -> Vec<Step> {
    std::iter::from_fn(|| host.poll_action())
        .filter(|step| *step != Action::Wake)
        .collect()
}

/// The turn is over.
fn next_turn(host: &mut Host) -> Vec<Step> {
    host.run_ready();
    now(host)
}

#[test]
fn thousands_of_names_in_one_turn_are_one_notification_for_each_agent() {
    let (mut host, first) = host();
    let second = join(&mut host, "second");
    let mut wakes = 0;
    let mut names = Vec::new();
    for index in 0..5_000 {
        let name = format!("name.{index:04}");
        register(&mut host, &name);
        names.push(name);
        let steps: Vec<_> = std::iter::from_fn(|| host.poll_action()).collect();
        assert!(told(&steps).is_empty());
        wakes += steps.len();
    }
    assert_eq!(wakes, 1);
    let steps = next_turn(&mut host);
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let all = [names, vec![], vec![]];
    assert_eq!(told(&steps), [(first, all.clone()), (second, all)]);
    assert_eq!(steps.len(), 2);
    assert!(next_turn(&mut host).is_empty());
}

#[test]
fn what_a_turn_takes_back_is_not_told_and_what_it_replaces_is_changed() {
    let (mut host, agent) = host();
    register(&mut host, "passing");
    host.unregister("passing");
    assert!(told(&next_turn(&mut host)).is_empty());

    host.unregister("work");
    register(&mut host, "work");
    host.unregister("single");
    register(&mut host, "new");
    host.unregister("checked");
    register(&mut host, "checked");
    host.unregister("checked");
    let expected = [vec!["new"], vec!["checked", "single"], vec!["work"]];
    assert_eq!(told(&next_turn(&mut host)), [(agent, expected)]);
}

#[test]
fn changes_of_several_turns_are_told_one_by_one() {
    let (mut host, agent) = host();
    register(&mut host, "new");
    assert_eq!(
        told(&next_turn(&mut host)),
        [(agent, [vec!["new"], vec![], vec![]])]
    );
    host.unregister("new");
    assert_eq!(
        told(&next_turn(&mut host)),
        [(agent, [vec![], vec!["new"], vec![]])]
    );
}

#[test]
fn an_agent_that_is_told_of_a_name_can_call_it_at_once() {
    let (mut host, agent) = host();
    register(&mut host, "new");
    now(&mut host);
    host.run_ready();
    // As soon as it is told, and before anything else is done.
    assert_eq!(told(&[host.poll_action().unwrap()]).len(), 1);
    host.call(agent, None, request("a", "new"), 0.0);
    assert!(started(&drain(&mut host)).is_some());
}

#[test]
fn an_agent_that_joins_in_between_has_each_name_once_in_its_list_or_told() {
    let (mut host, first) = host();
    register(&mut host, "before");
    host.unregister("work");
    let second = host.connect();
    let params = hello(
        "second",
        Features {
            notifications: true,
            ..NOTHING
        },
    );
    host.initialize(second, None, params, "second".into(), 0.0);
    register(&mut host, "after");
    host.unregister("before");
    let steps = now(&mut host);
    let before = [vec!["before"], vec!["work"], vec![]];
    assert_eq!(told(&steps), [(first, before)]);
    // It has come to that: ten, one less, one more.
    assert!(steps.iter().any(|step| matches!(
        step,
        Action::Answer { to, answer: Answer::Initialized(Ok(opened)), .. }
            if *to == second && opened.capabilities.len() == 10
    )));
    let after = [vec!["after"], vec!["before"], vec![]];
    assert_eq!(
        told(&next_turn(&mut host)),
        [(first, after.clone()), (second, after)]
    );
}

#[test]
fn an_agent_hears_of_a_change_before_what_was_said_after_it() {
    let (mut host, agent) = host();
    let key = start(&mut host, agent, "a", "work");
    let late = start(&mut host, agent, "late", "hasty");
    cancel(&mut host, agent, "late");
    let mut count = 0;
    let mut say = |host: &mut Host, what: &str, say: &dyn Fn(&mut Host)| {
        count += 1;
        register(host, &format!("new.{count}"));
        say(host);
        let steps = now(host);
        assert_eq!(told(&steps[..1]).len(), 1, "{what}: {steps:?}");
        assert!(steps.len() >= 2, "{what}: {steps:?}");
    };
    say(&mut host, "a notification", &|host| {
        host.notify("ready".into(), None);
    });
    say(&mut host, "progress", &|host| host.progress(key, 1, 0.0));
    say(&mut host, "a question", &|host| {
        let asked = host.ask(agent, Some(key), question(None), 0.0);
        host.withdraw(asked);
    });
    say(&mut host, "the end of a call", &|host| {
        host.settle(key, Ok(1), false, 1.0);
    });
    say(&mut host, "the end of an abandoned one", &|host| {
        host.settle(late, Ok(1), false, 1.0);
    });
    say(&mut host, "a refusal", &|host| {
        host.call(agent, None, request("b", "none"), 1.0);
    });
    say(&mut host, "the answer to a cancel", &|host| {
        host.cancel(agent, None, 0, "a", None, 1.0);
    });
}

#[test]
fn an_agent_that_takes_no_notifications_or_has_left_is_not_told() {
    let (mut host, agent) = host();
    register(&mut host, "new");
    host.disconnect(agent, 0.0);
    assert!(told(&next_turn(&mut host)).is_empty());
    let deaf = host.connect();
    let params = hello(
        "deaf",
        Features {
            notifications: false,
            ..EVERYTHING
        },
    );
    host.initialize(deaf, None, params, "deaf".into(), 0.0);
    register(&mut host, "newer");
    assert!(told(&next_turn(&mut host)).is_empty());
}
