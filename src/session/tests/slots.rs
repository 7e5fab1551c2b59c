//! Calls that wait for a slot which is held by those who wait for them.

use super::*;

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
    // The one that was not refused goes on, and so does whoever comes later.
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
fn many_that_wait_for_one_are_lined_up_quickly() {
    let (mut host, agent) = host();
    let root = start(&mut host, agent, "root", "work");
    for index in 0..2_000 {
        host.call_from(root, request(&index.to_string(), "single"), 0.0);
    }
    let steps = drain(&mut host);
    assert!(started(&steps).is_some());
    assert_eq!((responses(&steps).len(), host.in_flight()), (0, 2_001));
}
