use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::broker::calls::{EarlyCancel, RunState};
use caphost::call::Stop;

/// An id that no run has by chance.
const SEVEN: &str = "00000000-0000-4000-8000-000000000007";

fn revoke(bench: &mut Bench, run: &Run) -> Vec<Seen> {
    bench.event(Event::Cancel {
        run: run.id,
        asker: Asker::Gateway,
        reason: Some("enough".into()),
    })
}

fn cancel_result(relayed: &Value, payload: Value) -> Value {
    answer(relayed, "capabilities/cancel-result", payload)
}

fn cancelled() -> Value {
    json!({ "success": false, "cancelled": true, "metadata": { "stop": "dropped" } })
}

fn never_started(mut payload: Value) -> Value {
    payload["cancelled"] = true.into();
    payload["metadata"] = json!({ "stop": "never-started" });
    payload
}

fn confirmed(run: &Run, stop: Stop) -> Seen {
    Seen::Revoked(run.id, CancelOutcome::confirmed(stop.into()))
}

#[test]
fn a_call_is_a_run_until_the_app_has_answered() {
    let mut bench = Bench::session();
    for (id, response, state, code) in [
        ("1", json!({ "success": true }), RunState::Completed, None),
        ("2", cancelled(), RunState::Cancelled, None),
        (
            "3",
            json!({ "success": false, "error": { "code": "TIMEOUT" } }),
            RunState::Failed,
            Some("TIMEOUT"),
        ),
    ] {
        let relayed = bench.relayed(2, call(id, id));
        let begun = bench.run(id);
        assert_eq!(
            (begun.state, begun.app.as_deref(), begun.name().as_str()),
            (RunState::Running, Some("demo"), "tool:a.b")
        );
        bench.send(1, answer(&relayed, "capabilities/call-result", response));
        let ended = bench.run(id);
        assert_eq!((ended.state, ended.error.as_deref()), (state, code));
    }
}

#[test]
fn an_operators_cancel_reaches_the_app_and_its_agent_sees_only_the_response() {
    let mut bench = Bench::session();
    let call = bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let sent = revoke(&mut bench, &it);
    let sent = only(&sent, 1).clone();
    assert_eq!(
        (sent["type"].as_str(), &sent["agent"], &sent["payload"]),
        (
            Some("capabilities/cancel"),
            &call["agent"],
            &json!({ "callId": "c", "reason": "enough" })
        )
    );
    assert_eq!(bench.run("c").state, RunState::Cancelling);
    assert_eq!(revoke(&mut bench, &it), [], "one cancel is enough");
    let said = json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "dropped" } });
    let result = cancel_result(&sent, said);
    let confirmed = confirmed(&it, Stop::Dropped);
    assert_eq!(bench.send(1, result), std::slice::from_ref(&confirmed));
    let seen = bench.send(1, answer(&call, "capabilities/call-result", cancelled()));
    assert_eq!(only(&seen, 2)["payload"], cancelled());
    let ended = bench.run("c");
    assert_eq!(
        (ended.state, ended.cancel_reason.as_deref()),
        (RunState::Cancelled, Some("enough"))
    );
    assert_eq!(revoke(&mut bench, &it), [confirmed], "and again");
    goes_on(&mut bench, 2);
}

#[test]
fn an_operators_cancel_is_sent_again_once_the_app_has_not_answered_the_first_in_time() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(only(&revoke(&mut bench, &it), 1).clone());
        assert_eq!(revoke(&mut bench, &it), [], "it joins the one before");
        bench.now.monotonic_ms += bench.broker.grace();
    }
    let said = json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "dropped" } });
    let seen = bench.send(1, cancel_result(&asked[2], said));
    assert_eq!(seen, [confirmed(&it, Stop::Dropped)]);
    assert_eq!(bench.run("c").state, RunState::Cancelled);
    goes_on(&mut bench, 2);
}

#[test]
fn a_cancel_that_somebody_has_joined_is_sent_again_when_the_app_has_not_answered_it_in_time() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let first = only(&revoke(&mut bench, &it), 1).clone();
    bench.now.monotonic_ms += bench.broker.grace() / 2.0;
    assert_eq!(revoke(&mut bench, &it), [], "it joins the one before");
    bench.now.monotonic_ms += bench.broker.grace() / 2.0;
    let again = bench.event(Event::Deadline);
    let again = only(&again, 1).clone();
    assert_eq!(again["payload"], first["payload"]);
    assert_ne!(again["id"], first["id"]);
    // No further cancel has joined the second one.
    bench.now.monotonic_ms += bench.broker.grace();
    assert_eq!(bench.event(Event::Deadline), []);
    assert_eq!(bench.broker.next_deadline(), None);
    revoke(&mut bench, &it);
    assert_eq!(revoke(&mut bench, &it), []);
    let said = json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "dropped" } });
    let seen = bench.send(1, cancel_result(&again, said));
    assert_eq!(seen, [confirmed(&it, Stop::Dropped)]);
    goes_on(&mut bench, 2);
}

#[test]
fn a_cancel_the_app_refuses_is_told_as_the_app_says() {
    let mut bench = Bench::session();
    let call = bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let sent = revoke(&mut bench, &it);
    let no = json!({ "callId": "c", "cancelled": false, "reason": "Operation already completed" });
    let seen = bench.send(1, cancel_result(only(&sent, 1), no));
    let refused = CancelOutcome::refused(Some("Operation already completed".into()), None);
    assert_eq!(seen, [Seen::Revoked(it.id, refused.clone())]);
    assert_eq!(bench.run("c").state, RunState::Running);
    let done = json!({ "success": true });
    bench.send(1, answer(&call, "capabilities/call-result", done));
    assert_eq!(revoke(&mut bench, &it), [Seen::Revoked(it.id, refused)]);
}

#[test]
fn a_cancel_that_is_confirmed_after_its_run_has_completed_has_come_too_late() {
    let mut bench = Bench::session();
    let call = bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let sent = revoke(&mut bench, &it);
    let done = json!({ "success": true });
    let seen = bench.send(1, answer(&call, "capabilities/call-result", done));
    let refused = CancelOutcome::refused(Some("Operation already completed".into()), None);
    assert_eq!(seen[0], Seen::Revoked(it.id, refused.clone()));
    let late = json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "returned" } });
    assert_eq!(bench.send(1, cancel_result(only(&sent, 1), late)), []);
    assert_eq!(bench.run("c").state, RunState::Completed);
    assert_eq!(revoke(&mut bench, &it), [Seen::Revoked(it.id, refused)]);
}

#[test]
fn a_refused_cancel_of_its_agent_leaves_the_run_running() {
    let mut bench = Bench::session();
    let called = bench.relayed(2, call("1", "c"));
    for (id, no) in [
        (
            "2",
            json!({ "callId": "c", "cancelled": false, "reason": "not now" }),
        ),
        (
            "3",
            json!({ "callId": "c", "cancelled": false, "error": { "code": "NOT_INITIALIZED" } }),
        ),
    ] {
        let asked = bench.relayed(2, cancel(id, "c"));
        assert_eq!(bench.run("c").state, RunState::Cancelling);
        let seen = bench.send(1, cancel_result(&asked, no.clone()));
        assert_eq!(only(&seen, 2)["payload"], no);
        assert_eq!(bench.run("c").state, RunState::Running);
    }
    // A cancel that the app does not understand is refused, too.
    let asked = bench.relayed(2, cancel("4", "c"));
    assert_eq!(bench.run("c").state, RunState::Cancelling);
    let no = json!({ "error": { "code": "NOT_IMPLEMENTED", "message": "", "retryable": false } });
    bench.send(1, answer(&asked, "error", no));
    assert_eq!(bench.run("c").state, RunState::Running);
    // A confirmed cancel has ended the run.
    let asked = bench.relayed(2, cancel("5", "c"));
    bench.send(
        1,
        cancel_result(&asked, json!({ "callId": "c", "cancelled": true })),
    );
    assert_eq!(bench.run("c").state, RunState::Cancelled);
    bench.send(1, answer(&called, "capabilities/call-result", cancelled()));
    assert_eq!(bench.run("c").state, RunState::Cancelled);
}

#[test]
fn a_refused_duplicate_leaves_the_run_of_the_first_as_it_was() {
    let mut bench = Bench::session();
    let first = bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let seen = bench.send(2, call("2", "c"));
    let refused = only(&seen, 2);
    assert_eq!(
        (refused["id"].as_str(), code(refused)),
        (Some("2"), "INVALID_PARAMS")
    );
    assert_eq!(bench.run("c").id, it.id, "there is no other");
    // Messages about the callId are still about the first call.
    let info = json!({ "operationId": "c", "progress": 5 });
    bench.send(1, answer(&first, "progress", info));
    assert!(bench.run("c").progress.is_some());
    bench.relayed(2, cancel("3", "c"));
    assert_eq!(bench.run("c").state, RunState::Cancelling);
    bench.send(1, answer(&first, "capabilities/call-result", cancelled()));
    assert_eq!(bench.run("c").state, RunState::Cancelled);
    // In another session the same callId is another call.
    bench.relayed(3, call("1", "c"));
    goes_on(&mut bench, 2);
}

#[test]
fn an_app_that_goes_away_leaves_the_outcome_unknown_and_nobody_waiting() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    revoke(&mut bench, &it);
    let seen = bench.gone(1);
    let told = seen.iter().find_map(|seen| match seen {
        Seen::Revoked(run, outcome) if *run == it.id => Some(outcome),
        _ => None,
    });
    let told = told.expect("an outcome");
    assert!(!told.cancelled() && told.error.is_some());
    assert_eq!(bench.run("c").state, RunState::Unknown);
    assert!(
        !bench
            .broker
            .runs()
            .visible(&Identity::anyone(), 0)
            .is_empty()
    );
    assert!(bench.broker.runs().in_flight().is_empty());
    // Nobody is left to be asked.
    let seen = revoke(&mut bench, &it);
    let [Seen::Revoked(_, told)] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!(
        told.reason.as_deref(),
        Some("The run has ended, and its outcome is not known")
    );
    let error = told.error.as_ref().expect("an error").body.value().unwrap();
    assert_eq!(error["code"], "DISCONNECTED");
    assert_eq!(error["retryable"], false);
    assert!(!told.cancelled());
}

#[test]
fn an_operator_is_told_what_comes_of_a_cancel_whose_agent_has_left() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let sent = revoke(&mut bench, &it);
    assert!(bench.gone(2).is_empty(), "it is asked already");
    assert_eq!(bench.run("c").state, RunState::Cancelling);
    let said = json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "dropped" } });
    let seen = bench.send(1, cancel_result(only(&sent, 1), said));
    assert_eq!(seen, [confirmed(&it, Stop::Dropped)]);
    assert_eq!(bench.run("c").state, RunState::Cancelled);
}

#[test]
fn a_call_cancelled_before_it_came_never_reaches_the_app() {
    let mut bench = Bench::session();
    let runs = bench.broker.runs_mut();
    let early = EarlyCancel::new(SEVEN, None, &Identity::anyone(), 1_000);
    runs.cancel_early(early, 1_000);
    let seen = bench.send(2, call("1", SEVEN));
    let answered = only(&seen, 2);
    assert_eq!(
        (answered["id"].as_str(), &answered["payload"]),
        (Some("1"), &never_started(json!({ "success": false })))
    );
    let seen = bench.send(2, cancel("2", SEVEN));
    assert_eq!(
        only(&seen, 2)["payload"],
        never_started(json!({ "callId": SEVEN })),
        "its own cancel says the same"
    );
    let seen = bench.send(2, call("3", SEVEN));
    assert_eq!(
        only(&seen, 2)["payload"]["error"]["code"],
        "INVALID_PARAMS",
        "its callId is used"
    );
    let skipped = bench.run(SEVEN);
    assert_eq!(skipped.state, RunState::Cancelled);
    assert_eq!(skipped.stop(), Some(Stop::NeverStarted));
    goes_on(&mut bench, 2);
}

#[test]
fn a_call_without_an_id_can_be_cancelled_too() {
    let mut bench = Bench::session();
    let nameless = request("capabilities/call", "1", json!({ "capability": "a.b" }));
    let relayed = bench.relayed(2, nameless);
    let call_id = relayed["payload"]["callId"].as_str().unwrap();
    let it = bench.run(call_id);
    assert_eq!(it.id.to_string(), call_id);
    let seen = revoke(&mut bench, &it);
    assert_eq!(only(&seen, 1)["payload"]["callId"], call_id);
}

#[test]
fn a_token_for_one_app_reaches_no_other() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    bench.event(Event::AgentJoined {
        peer: PeerId(2),
        app: Wanted::Id("demo".into()),
        profile: Profile {
            dialect: Dialect::Abp,
            owner: Identity {
                app: Some("other".into()),
                ..Identity::anyone()
            },
            quota_key: "anyone".into(),
            name: None,
            seat: Seat::Connected,
        },
    });
    let seen = bench.send(2, request("initialize", "i", json!({})));
    assert_eq!(code(only(&seen, 2)), "PERMISSION_DENIED");
}

#[test]
fn how_far_a_call_is_shows_on_its_run() {
    let mut bench = Bench::session();
    let relayed = bench.relayed(2, call("1", "c"));
    let info = json!({ "operationId": "c", "progress": 5 });
    bench.send(1, answer(&relayed, "progress", info.clone()));
    let shown = bench.run("c").progress.unwrap();
    assert_eq!(serde_json::from_str::<Value>(shown.get()).unwrap(), info);
}

#[test]
fn a_run_says_what_its_agent_calls_itself() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    bench.agent(2, None);
    let hello = json!({ "agent": { "name": "Mail \u{1f4e7}", "version": "1" } });
    let relayed = bench.relayed(2, request("initialize", "i", hello));
    bench.send(
        1,
        answer(&relayed, "initialize-result", json!({ "sessionId": "s" })),
    );
    bench.relayed(2, call("1", "a"));
    bench.relayed(2, call("2", "b"));
    let [a, b] = ["a", "b"].map(|id| bench.run(id).agent.unwrap());
    assert_eq!(&*a, "Mail \u{1f4e7}");
    assert!(Arc::ptr_eq(&a, &b), "they share it");

    // However long or odd a name is, it is kept only like other names.
    for (id, name, kept) in [
        ("3", json!("x".repeat(5_000)), Some("x".repeat(256))),
        ("4", json!(7), None),
        ("5", json!(null), None),
    ] {
        let hello = json!({ "agent": { "name": name } });
        bench.relayed(2, request("initialize", &format!("i{id}"), hello));
        bench.relayed(2, call(id, id));
        assert_eq!(bench.run(id).agent, kept.map(Into::into));
    }
}
