//! Calls that wait for a slot which is held by those who wait for them.

use super::*;
use crate::session::records::Phase;

#[test]
fn two_capabilities_that_call_each_other_from_two_roots_do_not_wait_for_ever() {
    let (mut host, agent) = host();
    let one = start(&mut host, agent, "one", "one-script");
    let other = start(&mut host, agent, "other", "other-script");
    let waiting = host.call_from(one, request("a", "other-script"), 0.0);
    assert!(responses(&drain(&mut host)).is_empty());
    let refused = host.call_from(other, request("b", "one-script"), 0.0);
    let steps = drain(&mut host);
    assert_eq!(code(&steps), Some(Code::CAPABILITY_UNAVAILABLE));
    assert_eq!(responses(&steps)[0].0, refused);
    // The call that was not refused continues, and a later call gets the slot.
    host.settle(other, Ok(1), false, 1.0);
    assert_eq!(started(&drain(&mut host)), Some(waiting));
    host.settle(waiting, Ok(1), false, 2.0);
    host.settle(one, Ok(1), false, 3.0);
    drain(&mut host);
    start(&mut host, agent, "next", "one-script");
    assert_eq!(host.in_flight(), 1);
}

#[test]
fn a_child_waits_for_a_holder_that_may_get_on() {
    let (mut host, agent) = host();
    let holder = start(&mut host, agent, "holder", "one-script");
    let root = start(&mut host, agent, "root", "work");
    let child = host.call_from(root, request("child", "one-script"), 0.0);
    assert!(responses(&drain(&mut host)).is_empty());
    host.settle(holder, Ok(1), false, 1.0);
    assert_eq!(started(&drain(&mut host)), Some(child));
}

#[test]
fn three_in_a_circle_are_noticed_by_the_last() {
    let (mut host, agent) = host();
    let roots =
        ["single", "one-script", "other-script"].map(|it| (it, start(&mut host, agent, it, it)));
    let next = ["one-script", "other-script", "single"];
    for ((name, root), next) in roots.into_iter().zip(next) {
        let id = format!("{name} to {next}");
        host.call_from(root, request(&id, next), 0.0);
        let refused = code(&drain(&mut host)).is_some();
        assert_eq!(refused, next == "single", "{id}");
    }
}

#[test]
fn thousands_that_wait_for_one_are_lined_up_and_stopped_as_quickly_each_as_a_few() {
    let took = |many: usize| {
        let (mut host, agent) = host();
        host.limits.in_flight = many + 1;
        host.limits.requests_per_second = f64::INFINITY;
        let root = start(&mut host, agent, "root", "work");
        let began = std::time::Instant::now();
        for index in 0..many {
            host.call_from(root, request(&index.to_string(), "single"), 0.0);
        }
        let steps = drain(&mut host);
        assert!(started(&steps).is_some());
        assert_eq!((responses(&steps).len(), host.in_flight()), (0, many + 1));
        cancel(&mut host, agent, "root");
        assert_eq!(host.in_flight(), 0);
        began.elapsed().as_secs_f64()
    };
    took(1_000);
    let (few, many) = (took(2_000), took(32_000));
    // Sixteen times as many; what grows with the square of it takes 256 times as long.
    assert!(many < 100.0 * few, "2 000 took {few} s, 32 000 {many} s");
}

/// A call that holds a slot or waits for one.
struct Node {
    key: CallKey,
    parent: Option<CallKey>,
    capability: String,
    has_slot: bool,
    waits: bool,
}

/// Whether the last of them can never have its turn, by the definition: call by call.
fn is_stuck(nodes: &[Node]) -> bool {
    let is_above = |above: CallKey, key: CallKey| {
        std::iter::successors(Some(key), |key| {
            nodes.iter().find(|it| it.key == *key)?.parent
        })
        .any(|key| key == above)
    };
    let last = nodes.last().unwrap();
    let mut stuck: Vec<&Node> = nodes
        .iter()
        .filter(|it| it.waits && it.parent.is_some())
        .collect();
    loop {
        let all: Vec<CallKey> = stuck.iter().map(|it| it.key).collect();
        stuck.retain(|waiting| {
            nodes
                .iter()
                .filter(|it| it.has_slot && it.capability == waiting.capability)
                .all(|holder| all.iter().any(|it| is_above(holder.key, *it)))
        });
        if stuck.len() == all.len() {
            return all.contains(&last.key);
        }
    }
}

#[test]
fn only_calls_that_would_wait_forever_are_refused_in_any_history() {
    let mut seed = 7_u32;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    };
    let names = [
        "work",
        "one-script",
        "other-script",
        "single",
        "one-worker",
        "pair",
    ];
    let mut refusals = 0;
    for round in 0..400 {
        let (mut host, agent) = host();
        let pair = Descriptor {
            name: "pair".into(),
            concurrency: Some(2),
            ..host.registry().get("single").unwrap().descriptor.clone()
        };
        assert!(host.register(pair, "handler"));
        let mut running = Vec::new();
        for step in 0..40 {
            let name = names[random(names.len())];
            let request = request(&format!("{round} {step}"), name);
            let steps = match random(5) {
                0 => {
                    host.call(agent, Some(1), request, 0.0);
                    drain(&mut host)
                }
                1 if !running.is_empty() => {
                    let key = running.swap_remove(random(running.len()));
                    host.settle(key, Ok(1), false, 0.0);
                    drain(&mut host)
                }
                _ if !running.is_empty() => {
                    let parent: CallKey = running[random(running.len())];
                    let mut nodes: Vec<Node> = host
                        .calls
                        .iter()
                        .map(|(key, call)| Node {
                            key: *key,
                            parent: call.parent.as_ref().map(|it| it.key),
                            capability: call.capability.descriptor.name.to_string(),
                            has_slot: call.has_slot,
                            waits: call.phase == Phase::Waiting,
                        })
                        .collect();
                    let key = host.call_from(parent, request, 0.0);
                    let waits = host.calls.get(&key).map(|it| it.phase) == Some(Phase::Waiting);
                    let steps = drain(&mut host);
                    let refused = code(&steps) == Some(Code::CAPABILITY_UNAVAILABLE);
                    nodes.push(Node {
                        key,
                        parent: Some(parent),
                        capability: name.into(),
                        has_slot: false,
                        waits: true,
                    });
                    if refused || waits {
                        assert_eq!(refused, is_stuck(&nodes), "{round} {step} {name}");
                    }
                    refusals += usize::from(refused);
                    steps
                }
                _ => Vec::new(),
            };
            running.extend(steps.iter().filter_map(|step| match step {
                Action::Start { key, .. } => Some(*key),
                _ => None,
            }));
            running.retain(|key| host.is_in_flight(*key));
        }
    }
    assert!(refusals > 50, "{refusals} were refused");
}
