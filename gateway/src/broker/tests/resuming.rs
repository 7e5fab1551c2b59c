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
    assert!(bench.broker.has_registered(PeerId(1)));
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
