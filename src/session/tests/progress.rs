use super::*;

/// What the agent is told, and the end of its call as `None`.
fn told(steps: &[Step]) -> Vec<Option<u32>> {
    let what = |step: &Step| match step {
        Action::Progress { info, .. } => Some(Some(*info)),
        Action::Respond { .. } => Some(None),
        _ => None,
    };
    steps.iter().filter_map(what).collect()
}

/// A call that has said all it may say one by one.
fn talkative(host: &mut Host, agent: ConnectionId, capability: &str) -> CallKey {
    let key = start(host, agent, "a", capability);
    for info in 0..256 {
        host.progress(key, info, 0.0);
    }
    let each: Vec<_> = (0..256).map(Some).collect();
    assert_eq!(told(&drain(host)), each);
    key
}

#[test]
fn a_flood_is_told_once_in_a_frame_and_its_last_before_the_end() {
    let (mut host, agent) = host();
    let key = talkative(&mut host, agent, "work");
    for info in 300..100_000 {
        host.progress(key, info, 0.0);
    }
    // The handler holds the thread, so that no timer fires.
    host.progress(key, 100_000, 17.0);
    host.progress(key, 100_001, 18.0);
    host.progress(key, 100_002, 19.0);
    assert_eq!(told(&drain(&mut host)), [Some(100_000)]);
    host.settle(key, Ok(1), false, 20.0);
    assert_eq!(told(&drain(&mut host)), [Some(100_002), None]);
    assert_eq!(host.next_deadline(), None);
    assert_eq!(host.counters().late_progress, 0);
}

#[test]
fn a_handler_that_gives_back_the_thread_is_heard_when_the_frame_is_over() {
    let (mut host, agent) = host();
    let key = talkative(&mut host, agent, "work");
    host.progress(key, 300, 1.0);
    host.progress(key, 301, 2.0);
    assert!(drain(&mut host).is_empty());
    assert_eq!(host.next_deadline(), Some(16.0));
    host.handle_timeout(16.0);
    assert_eq!(told(&drain(&mut host)), [Some(301)]);
    assert_eq!(host.next_deadline(), None);
    // It is no sooner heard again.
    host.progress(key, 302, 17.0);
    assert!(drain(&mut host).is_empty());
    host.progress(key, 303, 40.0);
    assert_eq!(told(&drain(&mut host)), [Some(303)]);
    // Nothing is left to say.
    host.handle_timeout(41.0);
    assert!(drain(&mut host).is_empty());
}

#[test]
fn an_error_comes_after_the_last_report_too() {
    let (mut host, agent) = host();
    let key = talkative(&mut host, agent, "script");
    host.progress(key, 300, 1.0);
    let error = Error::new(Code::OPERATION_FAILED, "It broke");
    host.settle(key, Err(error), false, 2.0);
    assert_eq!(told(&drain(&mut host)), [Some(300), None]);
}

#[test]
fn what_a_call_has_said_comes_before_it_is_stopped() {
    for capability in ["work", "script"] {
        let (mut host, agent) = host();
        let key = talkative(&mut host, agent, capability);
        host.progress(key, 300, 1.0);
        host.cancel(agent, Some(8), 0, "a", None, 2.0);
        assert!(matches!(
            host.poll_action(),
            Some(Action::Progress { info: 300, .. })
        ));
        host.progress(key, 301, 2.0);
        host.handle_timeout(17.0);
        host.settle(key, Err(Error::cancelled()), true, 18.0);
        assert_eq!(told(&drain(&mut host)), [None], "{capability}");
    }
}

#[test]
fn each_call_is_heard_for_itself() {
    let (mut host, agent) = host();
    let one = talkative(&mut host, agent, "work");
    let other = start(&mut host, agent, "b", "work");
    host.progress(one, 300, 1.0);
    host.progress(other, 1, 1.0);
    assert_eq!(told(&drain(&mut host)), [Some(1)]);
    host.progress_of(2, |id, _| id.as_str() == "b", 2.0);
    host.handle_timeout(16.0);
    assert_eq!(told(&drain(&mut host)), [Some(2), Some(300)]);
}

#[test]
fn a_report_that_nobody_is_told_of_is_known_before_it_is_made() {
    let (mut host, _) = host();
    let agent = host.connect();
    let params = hello(
        "test",
        Features {
            progress: false,
            ..EVERYTHING
        },
    );
    host.initialize(agent, Some(1), params, "s".into(), 0.0);
    drain(&mut host);
    let key = start(&mut host, agent, "a", "work");
    assert!(!host.takes_progress(key));
    // No timer is set for it either.
    for info in 0..1_000 {
        host.progress(key, info, 0.0);
    }
    assert!(drain(&mut host).is_empty());
    assert_eq!(host.next_deadline(), None);
    // Who watches the host is told.
    host.watch(true);
    assert!(host.takes_progress(key));
    host.progress(key, 7, 0.0);
    assert!(matches!(
        drain(&mut host)[..],
        [Action::Progressed { info: 7, .. }]
    ));
    host.settle(key, Ok(1), false, 1.0);
    drain(&mut host);
    assert!(!host.takes_progress(key));
    assert_eq!(host.counters().late_progress, 1);
}
