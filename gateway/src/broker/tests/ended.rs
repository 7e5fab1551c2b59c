//! A run that has ended stays ended, whatever else its app says or does.

use serde_json::json;

use super::*;
use crate::broker::calls::{Lost, RunState};
use caphost::call::Stop;

const CALL_RESULT: &str = "capabilities/call-result";
const CANCEL_RESULT: &str = "capabilities/cancel-result";

/// Agent 2 calls `c`, and the agent or an operator cancels the call. The app confirms. Returns the call's
/// message to the app.
fn confirmed(bench: &mut Bench, by_operator: bool) -> Value {
    let calling = bench.relayed(2, call("1", "c"));
    let id = bench.run("c").id;
    let cancelling = match by_operator {
        true => only(
            &bench.event(Event::Cancel {
                run: id,
                asker: Asker::Gateway,
                reason: None,
            }),
            1,
        )
        .clone(),
        false => bench.relayed(2, cancel("2", "c")),
    };
    bench.send(1, answer(&cancelling, CANCEL_RESULT, cancelled_cancel()));
    assert_eq!(bench.run("c").stop(), Some(Stop::Dropped));
    calling
}

fn cancelled_cancel() -> Value {
    json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "dropped" } })
}

fn cancelled_call() -> Value {
    json!({ "success": false, "cancelled": true, "metadata": { "stop": "dropped" } })
}

/// The response to agent 2's call.
fn response(seen: &[Seen]) -> &Value {
    let to_agent = seen.iter().find_map(|seen| match seen {
        Seen::Message(2, message) if message["type"] == CALL_RESULT => Some(message),
        _ => None,
    });
    let message = to_agent.unwrap_or_else(|| panic!("no response: {seen:?}"));
    assert_eq!(message["id"], "1");
    &message["payload"]
}

#[test]
fn a_call_whose_cancel_is_confirmed_is_cancelled_whatever_becomes_of_its_app() {
    type Then = fn(&mut Bench, &Value) -> Vec<Seen>;
    let ways: [(&str, Then); 6] = [
        ("the app goes", |bench, _| bench.gone(1)),
        ("the gateway stops", |bench, _| bench.event(Event::Shutdown)),
        ("it succeeds", |bench, calling| {
            bench.send(
                1,
                answer(calling, CALL_RESULT, json!({ "success": true, "data": 1 })),
            )
        }),
        ("its answer is none", |bench, calling| {
            bench.send(1, answer(calling, CALL_RESULT, json!([])))
        }),
        ("it is not understood", |bench, calling| {
            let error = json!({ "error": { "code": "NOT_IMPLEMENTED", "message": "" } });
            bench.send(1, answer(calling, "error", error))
        }),
        ("nothing comes", |bench, _| {
            bench.now.monotonic_ms = bench.broker.next_deadline().expect("a deadline");
            bench.event(Event::Deadline)
        }),
    ];
    for (way, then) in ways {
        for by_operator in [false, true] {
            let mut bench = Bench::session();
            let calling = confirmed(&mut bench, by_operator);
            let seen = then(&mut bench, &calling);
            assert_eq!(response(&seen), &cancelled_call(), "{way}");
            let it = bench.run("c");
            assert_eq!((it.state, it.lost), (RunState::Cancelled, None), "{way}");
            assert_eq!(bench.broker.in_flight(), 0, "{way}");
            assert_eq!(bench.broker.next_deadline(), None, "{way}");
        }
    }
}

#[test]
fn the_response_of_an_app_that_has_confirmed_a_cancel_is_passed_on_as_it_is() {
    let mut bench = Bench::session();
    let calling = confirmed(&mut bench, false);
    let mut said = cancelled_call();
    said["metadata"]["duration"] = 5.into();
    let seen = bench.send(1, answer(&calling, CALL_RESULT, said.clone()));
    assert_eq!(response(&seen), &said);
    assert_eq!(bench.broker.next_deadline(), None);
}

#[test]
fn an_answer_that_comes_after_the_confirm_timeout_is_dropped() {
    let mut bench = Bench::session();
    let calling = confirmed(&mut bench, false);
    bench.now.monotonic_ms += bench.broker.grace();
    assert_eq!(response(&bench.event(Event::Deadline)), &cancelled_call());
    let late = answer(&calling, CALL_RESULT, cancelled_call());
    assert_eq!(bench.send(1, late.clone()), []);
    assert_eq!(bench.send(1, late), []);
    assert_eq!(bench.broker.counters().answers_dropped, 1, "the second");
    goes_on(&mut bench, 2);
}

#[test]
fn an_agents_cancel_of_a_call_that_an_operator_has_had_cancelled_is_confirmed() {
    let mut bench = Bench::session();
    confirmed(&mut bench, true);
    let seen = bench.send(2, cancel("2", "c"));
    assert_eq!(only(&seen, 2)["payload"], cancelled_cancel());
}

#[test]
fn an_agents_cancel_that_is_confirmed_after_its_call_has_completed_has_come_too_late() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let cancelling = bench.relayed(2, cancel("2", "c"));
    bench.send(1, answer(&calling, CALL_RESULT, json!({ "success": true })));
    let seen = bench.send(1, answer(&cancelling, CANCEL_RESULT, cancelled_cancel()));
    let no = json!({ "callId": "c", "cancelled": false, "reason": "Operation already completed" });
    assert_eq!(only(&seen, 2)["payload"], no);
    assert_eq!(bench.run("c").state, RunState::Completed);
}

#[test]
fn an_operator_whose_cancel_is_answered_with_an_error_is_told_so() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    let id = bench.run("c").id;
    let sent = bench.event(Event::Cancel {
        run: id,
        asker: Asker::Gateway,
        reason: None,
    });
    let error = json!({ "error": { "code": "NOT_IMPLEMENTED", "message": "" } });
    let seen = bench.send(1, answer(only(&sent, 1), "error", error));
    let [Seen::Revoked(_, outcome)] = &seen[..] else {
        panic!("{seen:?}")
    };
    let reason = outcome.reason.as_deref();
    assert_eq!(reason, Some("The app answered the cancel with an error"));
    assert!(!outcome.cancelled() && outcome.error.is_some());
}

#[test]
fn of_a_call_whose_app_another_worker_has_lost_nobody_knows_how_it_ended() {
    for (code, expected) in [
        ("DISCONNECTED", (RunState::Unknown, Some(Lost::App))),
        ("TRANSPORT_ERROR", (RunState::Unknown, None)),
        ("TIMEOUT", (RunState::Failed, None)),
    ] {
        for seat in [Seat::Connected, Seat::Elsewhere] {
            let mut bench = Bench::new();
            bench.event(Event::AppJoined {
                peer: PeerId(1),
                identity: Some(Identity::anyone()),
                seat,
            });
            bench.send(1, register("demo"));
            bench.agent(2, None);
            let opening = bench.relayed(2, request("initialize", "i", json!({})));
            bench.send(
                1,
                answer(&opening, "initialize-result", json!({ "sessionId": "s" })),
            );
            let calling = bench.relayed(2, call("1", "c"));
            let error = json!({ "success": false, "error": { "code": code, "message": "" } });
            bench.send(1, answer(&calling, CALL_RESULT, error));
            let it = bench.run("c");
            // For an app of this worker, these codes are the app's own words.
            let expected = match seat {
                Seat::Elsewhere => expected,
                _ => (RunState::Failed, None),
            };
            assert_eq!((it.state, it.lost), expected, "{code}");
            assert_eq!(it.error.as_deref(), Some(code));
        }
    }
}

#[test]
fn progress_goes_by_the_token_of_a_call_until_its_end() {
    let mut bench = Bench::session();
    let mut calls = call("1", "c");
    calls["payload"]["options"]["progressToken"] = "t".into();
    let calling = bench.relayed(2, calls.clone());
    let progress = |by: &str, done: u32| {
        let info = json!({ "operationId": by, "progress": done });
        answer(&json!({ "agent": calling["agent"] }), "progress", info)
    };
    for (by, done) in [("t", 1), ("c", 2)] {
        let seen = bench.send(1, progress(by, done));
        assert_eq!(only(&seen, 2)["payload"]["progress"], done);
        let info = bench.run("c").progress.expect("progress");
        assert!(info.get().contains(&format!(r#""progress":{done}"#)));
    }
    assert_eq!(bench.send(1, progress("x", 3)), []);
    let done = json!({ "success": true });
    bench.send(1, answer(&calling, CALL_RESULT, done.clone()));
    for by in ["t", "c"] {
        assert_eq!(bench.send(1, progress(by, 4)), []);
    }
    assert_eq!(bench.broker.counters().strays_dropped, 3);
    // Another call may use the same token.
    calls["id"] = "2".into();
    calls["payload"]["options"]["callId"] = "d".into();
    bench.relayed(2, calls);
    assert_eq!(
        only(&bench.send(1, progress("t", 5)), 2)["type"],
        "progress"
    );
    assert!(bench.run("d").progress.is_some());
}

#[test]
fn a_cancel_of_a_completed_call_is_answered_though_the_app_says_nothing_more() {
    let mut bench = Bench::session();
    for (id, response) in [
        ("c", json!({ "success": true, "data": 1 })),
        (
            "d",
            json!({ "success": false, "error": { "code": "A", "message": "a" } }),
        ),
    ] {
        let calling = bench.relayed(2, call(id, id));
        bench.send(1, answer(&calling, "capabilities/call-result", response));
        for _ in 0..2 {
            let seen = bench.send(2, cancel("x", id));
            let payload = &only(&seen, 2)["payload"];
            let expected = json!({ "callId": id, "cancelled": false, "reason": "Operation already completed" });
            assert_eq!(payload, &expected);
        }
    }
    // The app is asked about a call that the broker does not know.
    let relayed = bench.relayed(2, cancel("y", "other"));
    assert_eq!(relayed["payload"]["callId"], "other");
}

#[test]
fn a_cancel_of_a_call_that_was_seen_to_stop_is_answered_though_the_app_says_nothing_more() {
    for is_answered in [true, false] {
        for stop in Stop::ALL {
            let mut bench = Bench::session();
            let calling = bench.relayed(2, call("1", "c"));
            let cancelling = bench.relayed(2, cancel("2", "c"));
            let metadata = json!({ "stop": stop.as_str(), "step": "wait", "took": 3 });
            let yes = json!({ "callId": "c", "cancelled": true, "metadata": metadata });
            let told = bench.send(1, answer(&cancelling, CANCEL_RESULT, yes));
            let told = only(&told, 2)["payload"].clone();
            if is_answered {
                let no = json!({ "success": false, "cancelled": true, "metadata": metadata });
                bench.send(1, answer(&calling, CALL_RESULT, no));
            }
            for id in ["3", "4"] {
                let seen = bench.send(2, cancel(id, "c"));
                // The app may know more about work that it has abandoned.
                if stop == Stop::Abandoned {
                    assert_eq!(only(&seen, 1)["payload"]["callId"], "c");
                    break;
                }
                let answered = only(&seen, 2);
                assert_eq!((&answered["id"], &answered["payload"]), (&json!(id), &told));
            }
        }
    }
}
