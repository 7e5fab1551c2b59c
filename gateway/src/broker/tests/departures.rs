use serde_json::json;

use super::*;
use crate::broker::calls::{Lost, RunState};
use caphost::call::{Code, Stop};

#[test]
fn an_app_that_goes_settles_cancels_then_calls_then_closes() {
    let mut bench = Bench::session();
    bench.relayed(2, call("call-1", "c1"));
    bench.relayed(2, call("call-2", "c2"));
    bench.relayed(2, cancel("cancel-2", "c2"));
    bench.relayed(2, request("initialize", "again", json!({})));
    bench.relayed(3, call("call-1", "c1"));
    let seen = bench.gone(1);
    let of_2: Vec<_> = seen
        .iter()
        .filter_map(|it| match it {
            Seen::Message(2, message) => Some(message.clone()),
            _ => None,
        })
        .collect();
    let ids: Vec<_> = of_2.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["again", "cancel-2", "call-1", "call-2"]);
    assert!(
        of_2.iter()
            .all(|it| code(it) == Code::DISCONNECTED.as_str())
    );
    assert_eq!(of_2[1]["payload"]["callId"], "c2");
    assert_eq!(of_2[1]["payload"]["cancelled"], false);
    assert_eq!(
        of_2[1]["payload"]["reason"],
        "The app disconnected before it confirmed"
    );
    assert_eq!(of_2[2]["payload"]["success"], false);
    assert!(
        of_2[2]["payload"].get("cancelled").is_none(),
        "the outcome is unknown"
    );
    assert_eq!(of_2[2]["payload"]["error"]["retryable"], true);
    assert_eq!(seen[4], Seen::Closed(2, 4001));
    assert_eq!(*seen.last().unwrap(), Seen::Closed(3, 4001));
    assert_eq!(
        (bench.broker.in_flight(), bench.broker.peers()),
        (0, (0, 0))
    );
}

fn late(bench: &mut Bench) -> Vec<Seen> {
    let due = bench.broker.next_deadline().expect("a deadline");
    let waits = bench.limits.confirm_timeout.as_millis() as f64;
    assert_eq!(due, bench.now.monotonic_ms + waits);
    bench.now.monotonic_ms = due;
    bench.event(Event::Deadline)
}

#[test]
fn the_calls_of_an_agent_that_goes_are_cancelled_and_then_it_is_reported() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    bench.relayed(2, call("2", "d"));
    let seen = bench.gone(2);
    let [Seen::Message(1, cancel), Seen::Message(1, other)] = &seen[..] else {
        panic!("{seen:?}")
    };
    let reason = "The caller has gone away";
    assert_eq!(cancel["type"], "capabilities/cancel");
    assert_eq!(cancel["agent"], calling["agent"]);
    assert_eq!(
        cancel["payload"],
        json!({ "callId": "c", "reason": reason })
    );
    assert_eq!(other["payload"]["callId"], "d");
    let left = bench.run("c");
    assert_eq!(
        (left.state, left.cancel_reason.as_deref()),
        (RunState::Cancelling, Some(reason))
    );
    assert_eq!(bench.broker.in_flight(), 0, "nobody waits any more");
    assert_eq!(
        bench.broker.sessions().calls_left(),
        2,
        "but a gateway that stops"
    );
    assert_eq!(bench.broker.peers(), (1, 1));
    // One call is cancelled as abandoned, and the other has completed.
    let confirmed =
        json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "abandoned" } });
    bench.send(1, answer(cancel, "capabilities/cancel-result", confirmed));
    let ended = json!({ "success": false, "cancelled": true });
    assert!(
        bench
            .send(1, answer(&calling, "capabilities/call-result", ended))
            .is_empty()
    );
    let ended = bench.run("c");
    assert_eq!(
        (ended.state, ended.stop()),
        (RunState::Cancelled, Some(Stop::Abandoned))
    );
    let no = json!({ "callId": "d", "cancelled": false, "reason": "Operation already completed" });
    let seen = bench.send(1, answer(other, "capabilities/cancel-result", no));
    assert!(seen.is_empty(), "nobody is told: {seen:?}");
    let mut done = answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": true }),
    );
    done["id"] = json!("g6");
    let seen = bench.send(1, done.clone());
    assert_eq!(only(&seen, 1)["type"], "agent/closed");
    assert_eq!(only(&seen, 1)["agent"], calling["agent"]);
    assert_eq!(only(&seen, 1)["payload"], json!({}));
    assert_eq!(bench.run("d").state, RunState::Completed);
    assert_eq!(bench.broker.next_deadline(), None);
    // Later messages do not matter, except the end of abandoned work.
    assert!(bench.send(1, done).is_empty());
    assert_eq!(bench.broker.counters().strays_dropped, 1);
    let over = json!({ "event": "notifications/call/ended", "data": { "callId": "c", "success": true, "after": 5 } });
    bench.send(1, answer(&calling, "notification", over));
    assert!(bench.run("c").late_end.is_some());
    assert!(bench.gone(2).is_empty());
}

#[test]
fn an_app_that_does_not_say_in_time_how_a_left_call_ended_leaves_it_unknown() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    bench.gone(2);
    let it = bench.run("c");
    let revoke = Event::Cancel {
        run: it.id,
        asker: Asker::Gateway,
        reason: None,
    };
    assert!(bench.event(revoke).is_empty(), "it is asked already");
    let seen = late(&mut bench);
    let [Seen::Revoked(_, outcome), Seen::Message(1, closed)] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert!(!outcome.cancelled());
    assert_eq!(closed["type"], "agent/closed");
    assert_eq!(closed["agent"], calling["agent"]);
    let it = bench.run("c");
    assert_eq!(
        (it.state, it.error.as_deref()),
        (RunState::Unknown, Some("DISCONNECTED"))
    );
    assert_eq!(it.lost, Some(Lost::Agent));
}

#[test]
fn who_was_lost_is_known_of_a_run() {
    for (lost, event) in [
        (Lost::App, Event::Gone { peer: PeerId(1) }),
        (Lost::Gateway, Event::Shutdown),
    ] {
        for leaves in [false, true] {
            let mut bench = Bench::session();
            bench.relayed(2, call("1", "c"));
            if leaves {
                bench.gone(2);
            }
            let event = match &event {
                Event::Gone { peer } => Event::Gone { peer: *peer },
                _ => Event::Shutdown,
            };
            bench.event(event);
            let it = bench.run("c");
            assert_eq!((it.state, it.lost), (RunState::Unknown, Some(lost)));
            assert_eq!(bench.broker.next_deadline(), None);
        }
    }
}

#[test]
fn an_app_that_does_not_keep_up_is_only_told_that_an_agent_is_gone() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    bench.event(Event::Backlog {
        peer: PeerId(1),
        backlog: Backlog::Long,
    });
    assert_eq!(only(&bench.gone(2), 1)["type"], "agent/closed");
    let it = bench.run("c");
    assert_eq!((it.state, it.lost), (RunState::Unknown, Some(Lost::Agent)));
}

#[test]
fn agents_that_go_have_the_relay_wait_for_so_many_calls() {
    for (calls, waited_for) in [(1_024, 1_024), (1_025, 0)] {
        let mut bench = Bench::session();
        for number in 0..calls {
            let id = number.to_string();
            bench.relayed(2, call(&id, &id));
        }
        let seen = bench.gone(2);
        assert_eq!(bench.broker.sessions().calls_left(), waited_for);
        assert_eq!(bench.broker.runs().in_flight().len(), waited_for);
        // Beyond the limit the app is told at once, and cancels all calls.
        let closed = |it: &Seen| matches!(it, Seen::Message(1, it) if it["type"] == "agent/closed");
        assert_eq!(seen.iter().any(closed), waited_for == 0);
    }
}

/// An agent of another worker, for the app on connection `app`.
fn agent_elsewhere(bench: &mut Bench, peer: u64, app: u64) -> Vec<Seen> {
    bench.event(Event::AgentJoined {
        peer: PeerId(peer),
        app: Wanted::Peer(PeerId(app)),
        profile: Profile {
            dialect: Dialect::Abp,
            owner: Identity::anyone(),
            quota_key: "anyone".into(),
            name: None,
            seat: Seat::Elsewhere,
        },
    })
}

#[test]
fn agents_of_other_workers_go_with_the_app_they_want() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    for agent in [2, 3, 4, 5] {
        assert!(agent_elsewhere(&mut bench, agent, 1).is_empty());
    }
    bench.event(Event::Backlog {
        peer: PeerId(1),
        backlog: Backlog::Full,
    });
    let seen = bench.send(2, request("initialize", "i", json!({})));
    assert_eq!(code(only(&seen, 2)), "RATE_LIMITED");
    bench.event(Event::Backlog {
        peer: PeerId(1),
        backlog: Backlog::Short,
    });
    bench.relayed(4, request("initialize", "i", json!({})));
    assert!(bench.gone(5).is_empty());
    let seen = bench.gone(1);
    let closed = [2, 3, 4].map(|agent| Seen::Closed(agent, 4001));
    let seen: Vec<_> = seen
        .into_iter()
        .filter(|it| matches!(it, Seen::Closed(..)))
        .collect();
    assert_eq!(seen, closed);
    // An agent that comes too late does not stay either.
    assert_eq!(agent_elsewhere(&mut bench, 6, 1), [Seen::Closed(6, 4001)]);
}

#[test]
fn an_agent_without_a_session_goes_unnoticed() {
    let mut bench = Bench::session();
    bench.agent(9, None);
    assert!(bench.gone(9).is_empty());
}

#[test]
fn late_repeated_and_invented_answers_are_dropped_and_counted() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let done = answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": true }),
    );
    let mut invented = done.clone();
    invented["id"] = json!("g999");
    assert!(bench.send(1, invented).is_empty());
    let mut of_another_type = done.clone();
    of_another_type["type"] = json!("capabilities/cancel-result");
    assert!(bench.send(1, of_another_type).is_empty());
    only(&bench.send(1, done.clone()), 2);
    assert!(bench.send(1, done).is_empty());
    assert_eq!(bench.broker.counters().answers_dropped, 3);
}

#[test]
fn an_app_cannot_answer_for_another() {
    let mut bench = Bench::session();
    bench.app(7, "other");
    let calling = bench.relayed(2, call("1", "c"));
    assert!(
        bench
            .send(7, answer(&calling, "capabilities/call-result", json!({})))
            .is_empty()
    );
    // An answer to another agent's request does not count either.
    let of_3 = bench.relayed(3, call("1", "c"));
    let mut swapped = answer(&calling, "capabilities/call-result", json!({}));
    swapped["agent"] = of_3["agent"].clone();
    assert!(bench.send(1, swapped).is_empty());
    assert_eq!(bench.broker.in_flight(), 2);
}

#[test]
fn shutdown_tells_everybody_and_turns_newcomers_away() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    bench.relayed(2, cancel("2", "c"));
    let seen = bench.event(Event::Shutdown);
    let order: Vec<_> = seen
        .iter()
        .map(|it| match it {
            Seen::Message(peer, message) => format!("{peer} {}", message["id"].as_str().unwrap()),
            Seen::Closed(peer, code) => format!("{peer} {code}"),
            Seen::Revoked(run, _) => format!("revoked {run}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(order, ["2 2", "2 1", "2 1001", "3 1001", "1 1001"]);
    assert_eq!(bench.agent(8, None), [Seen::Closed(8, 1001)]);
    assert_eq!(bench.broker.in_flight(), 0);
}
