use std::time::Duration;

use serde_json::json;

use super::*;

fn joined(bench: &mut Bench, peer: u64) {
    let seen = bench.event(Event::AppJoined {
        peer: PeerId(peer),
        identity: Some(Identity::anyone()),
        seat: Seat::Connected,
    });
    assert!(seen.is_empty(), "{seen:?}");
}

fn register_to_resume(replaces: Option<&str>) -> Value {
    let mut message = register("demo");
    message["payload"]["resume"] = json!(true);
    message["payload"]["replaces"] = json!(replaces);
    message
}

#[test]
fn an_app_that_asks_for_it_is_resumable_and_is_not_answered_by_the_relay() {
    let mut bench = Bench::new();
    joined(&mut bench, 1);
    let resumable = Seen::Resumable(1, Some(r#""r""#.into()), "demo".into());
    assert_eq!(bench.send(1, register_to_resume(None)), [resumable]);
    assert!(bench.broker.apps().registered_by(PeerId(1)).is_some());
}

#[test]
fn an_app_that_registers_again_says_which_session_it_replaces() {
    let mut bench = Bench::new();
    joined(&mut bench, 1);
    let seen = bench.send(1, register_to_resume(Some("a.b")));
    assert_eq!(
        seen[0],
        Seen::Replaced("a.b".into(), "demo".into(), "anyone".into())
    );
    assert!(matches!(seen[1], Seen::Resumable(1, ..)));
}

#[test]
fn without_a_grace_time_nothing_is_resumable() {
    let limits = Limits {
        app_grace: Duration::ZERO,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    joined(&mut bench, 1);
    let seen = bench.send(1, register_to_resume(None));
    assert_eq!(only(&seen, 1)["type"], "app/registered");
    assert_eq!(
        only(&seen, 1)["payload"],
        json!({ "appId": "demo", "updates": "differences" })
    );
}

#[test]
fn a_suspended_app_is_called_as_ever_and_leaves_room_for_its_next_connection() {
    let limits = Limits {
        apps: 1,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    bench.app(1, "demo");
    let suspended = |suspended| Event::Suspended {
        peer: PeerId(1),
        suspended,
    };
    bench.event(suspended(true));
    bench.agent(2, None);
    bench.relayed(2, request("initialize", "i", json!({})));
    joined(&mut bench, 3);
    bench.gone(3);
    bench.event(suspended(false));
    let seen = bench.app(4, "demo");
    assert_eq!(seen[1], Seen::Closed(4, 1013));
}

fn suspended(bench: &mut Bench, peer: u64, suspended: bool) {
    let peer = PeerId(peer);
    assert!(bench.event(Event::Suspended { peer, suspended }).is_empty());
}

/// The answer to a registration over a connection with a token of that name.
fn registers(bench: &mut Bench, peer: u64, owner: &str, replaces: Option<u64>) -> Vec<Seen> {
    registers_more(bench, peer, owner, (replaces, 1))
}

/// Like `registers`, but with `bytes` bytes of description.
fn registers_more(
    bench: &mut Bench,
    peer: u64,
    owner: &str,
    (replaces, bytes): (Option<u64>, usize),
) -> Vec<Seen> {
    bench.event(Event::AppJoined {
        peer: PeerId(peer),
        identity: Some(Identity {
            name: owner.into(),
            ..Identity::anyone()
        }),
        seat: Seat::Connected,
    });
    let mut message = register_to_resume(replaces.map(|_| "a.b"));
    message["payload"]["app"]["id"] = json!(format!("app-{peer}"));
    message["payload"]["capabilities"][0]["description"] = json!("d".repeat(bytes));
    let text = message.to_string();
    let limits = bench.limits.clone();
    let mut event = Event::received(PeerId(peer), Envelope::read(&text, None, &limits));
    if let Event::Message { message, .. } = &mut event {
        message.find_replaced(|_, _| replaces.map(PeerId));
    }
    let seen = bench.event(event);
    // The hub does the same.
    let is_replaced = seen.iter().any(|it| matches!(it, Seen::Replaced(..)));
    if let Some(replaced) = replaces.filter(|_| is_replaced) {
        bench.gone(replaced);
    }
    seen
}

fn is_refused(seen: &[Seen], peer: u64) -> bool {
    matches!(seen, [Seen::Message(to, error), Seen::Closed(closed, 1013)]
        if (*to, *closed) == (peer, peer) && code(error) == "RATE_LIMITED")
}

#[test]
fn suspended_apps_take_places_of_their_own_token_and_make_room_for_its_next_ones() {
    let limits = Limits {
        apps: 4,
        apps_per_token: 2,
        ..Limits::default()
    };
    let tokens = Tokens::new(vec!["app=app-secret-of-sixteen".parse().unwrap()]);
    let mut bench = Bench::with(limits, tokens);
    for peer in [1, 2] {
        assert!(matches!(
            registers(&mut bench, peer, "a", None)[..],
            [Seen::Resumable(..)]
        ));
    }
    suspended(&mut bench, 2, true);
    suspended(&mut bench, 1, true);
    // Each time the app that has waited longest is given up.
    for (peer, gives_way) in [(3, 2), (4, 1)] {
        let seen = registers(&mut bench, peer, "a", None);
        assert_eq!(seen[0], Seen::Closed(gives_way, 4002));
        assert!(matches!(seen[1..], [Seen::Resumable(..)]), "{seen:?}");
        assert!(
            bench
                .broker
                .apps()
                .registered_by(PeerId(gives_way))
                .is_none()
        );
    }
    assert!(is_refused(&registers(&mut bench, 5, "a", None), 5));
    // An app that names the session it replaces need not wait for that session's end.
    let seen = registers(&mut bench, 6, "a", Some(3));
    assert!(
        matches!(seen[..], [Seen::Replaced(..), Seen::Resumable(..)]),
        "{seen:?}"
    );
    assert!(
        is_refused(&registers(&mut bench, 7, "a", Some(3)), 7),
        "not again"
    );
    // Another token has its own share, and no app of the first token makes room for it.
    assert_eq!(registers(&mut bench, 8, "b", None).len(), 1);
    assert_eq!(registers(&mut bench, 10, "b", None).len(), 1);
    suspended(&mut bench, 4, true);
    for replaces in [None, Some(4)] {
        let seen = registers(&mut bench, 9, "b", replaces);
        assert!(is_refused(&seen, 9), "{replaces:?}");
    }
    assert!(bench.broker.apps().registered_by(PeerId(4)).is_some());
}

#[test]
fn an_app_that_replaces_a_session_counts_for_what_it_takes_beyond_that() {
    let limits = Limits {
        registered_bytes_per_token: 2_500_000,
        ..Limits::default()
    };
    let tokens = Tokens::new(vec!["app=app-secret-of-sixteen".parse().unwrap()]);
    let mut bench = Bench::with(limits, tokens);
    for (peer, bytes) in [(1, 1_000_000), (2, 1_000_000), (3, 10)] {
        let seen = registers_more(&mut bench, peer, "a", (None, bytes));
        assert!(matches!(seen[..], [Seen::Resumable(..)]), "{seen:?}");
    }
    let seen = registers_more(&mut bench, 4, "a", (Some(3), 1_000_000));
    assert!(is_refused(&seen, 4), "{seen:?}");
    // The replaced app does not count twice as room.
    suspended(&mut bench, 3, true);
    suspended(&mut bench, 1, true);
    let seen = registers_more(&mut bench, 5, "a", (Some(3), 1_000_000));
    assert_eq!(seen[0], Seen::Closed(1, 4002));
    assert!(
        matches!(seen[1..], [Seen::Replaced(..), Seen::Resumable(..)]),
        "{seen:?}"
    );
    let seen = registers_more(&mut bench, 6, "a", (Some(5), 1_000_000));
    assert!(
        matches!(seen[..], [Seen::Replaced(..), Seen::Resumable(..)]),
        "{seen:?}"
    );
}
