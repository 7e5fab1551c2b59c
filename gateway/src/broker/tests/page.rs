//! Calls of the gateway's own, typed on one side and text on the other.

use serde_json::json;

use super::*;
use crate::broker::NewCall;
use crate::broker::runs::{Ending, Found, NewRun, RunState};
use crate::broker::{Client, Ended, Reply, Step};
use caphost::call::{CallId, Code, LateEnd, Stop};

const SESSION: PeerId = PeerId(9);

fn client() -> Client {
    Client {
        app: Wanted::Any,
        profile: Profile {
            dialect: Dialect::Mcp,
            owner: Identity::anyone(),
            name: None,
            seat: Seat::Own,
        },
        hello: json!({ "agent": { "name": "n", "version": "1" } })
            .to_string()
            .into(),
    }
}

/// Makes a call; its run, and what was seen of it.
fn make(bench: &mut Bench, id: &str, timeout: Option<f64>) -> (RunId, Vec<Seen>) {
    let run = RunId::random();
    let payload = json!({ "capability": "a.b", "options": { "callId": id } });
    let call = NewCall {
        run: NewRun {
            id: run,
            dialect: Dialect::Mcp,
            dialect_id: Some(id.into()),
            owner: Identity::anyone(),
            agent: None,
            thread: None,
            app: None,
            capability: "a.b".into(),
            call_id: id.into(),
        },
        id: CallId::parse(id).unwrap(),
        payload: payload.to_string().into(),
        timeout,
    };
    let seen = bench.event(Event::Call {
        session: SESSION,
        client: &client(),
        call: Box::new(call),
    });
    (run, seen)
}

/// An app, and a session whose first call it has.
fn calling() -> (Bench, RunId, Value) {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let (run, seen) = make(&mut bench, "c", None);
    let hello = only(&seen, 1).clone();
    assert_eq!(hello["type"], "initialize");
    assert_eq!(state(&bench, "c"), RunState::Queued);
    let opened = answer(&hello, "initialize-result", json!({ "sessionId": "s" }));
    let seen = bench.send(1, opened);
    let call = only(&seen, 1).clone();
    assert_eq!(call["payload"]["options"]["callId"], "c");
    (bench, run, call)
}

fn state(bench: &Bench, id: &str) -> RunState {
    match bench.broker.runs().find(id, &Identity::anyone(), 1_000) {
        Found::One(run) => run.state,
        other => panic!("{id}: {other:?}"),
    }
}

fn ended(run: RunId, ended: &Ended) -> Seen {
    Seen::Step(run, format!("{:?}", Step::Ended(ended.clone())))
}

fn cancel(bench: &mut Bench, run: RunId, id: &str) -> Vec<Seen> {
    bench.event(Event::Cancel {
        session: SESSION,
        run,
        call: CallId::parse(id).unwrap(),
        cancel: 5,
        reason: Some("enough".into()),
    })
}

/// Lets the time come that the broker waits for.
fn pass(bench: &mut Bench) -> Vec<Seen> {
    bench.now.monotonic_ms = bench.broker.next_deadline().expect("a deadline");
    bench.event(Event::Deadline)
}

#[test]
fn an_answer_comes_as_it_was_written() {
    let (mut bench, run, call) = calling();
    let info = json!({ "operationId": "c", "progress": 3 });
    let seen = bench.send(1, answer(&call, "progress", info.clone()));
    let step = Step::Progress(info.to_string().into());
    assert_eq!(seen, [Seen::Step(run, format!("{step:?}"))]);
    let response = json!({ "success": true, "data": [1] });
    let seen = bench.send(
        1,
        answer(&call, "capabilities/call-result", response.clone()),
    );
    let response = Ended::Response(response.to_string().into());
    assert_eq!(seen, [ended(run, &response), Seen::CallOver(run)]);
    assert_eq!(state(&bench, "c"), RunState::Completed);
    assert_eq!(bench.broker.in_flight(), 0);
}

#[test]
fn a_confirmed_cancel_ends_its_call_and_a_late_end_is_still_told() {
    let (mut bench, run, _) = calling();
    let sent = only(&cancel(&mut bench, run, "c"), 1).clone();
    assert_eq!(
        sent["payload"],
        json!({ "callId": "c", "reason": "enough" })
    );
    let confirmed = json!({ "callId": "c", "cancelled": true });
    let seen = bench.send(1, answer(&sent, "capabilities/cancel-result", confirmed));
    let stop = Stop::Abandoned;
    let told = CancelOutcome::confirmed(stop.into());
    let reason = Some("enough".into());
    let over = ended(
        run,
        &Ended::Cancelled {
            stop,
            by: None,
            reason,
        },
    );
    assert_eq!(seen, [Seen::CancelAnswered(5, told), over]);
    assert_eq!(state(&bench, "c"), RunState::Cancelled);
    let data = json!({ "callId": "c", "success": true, "after": 7 });
    let event = json!({ "event": "notifications/call/ended", "data": data });
    let seen = bench.send(1, answer(&sent, "notification", event));
    let late = Step::Late(LateEnd {
        success: true,
        after: 7.0,
    });
    assert_eq!(
        seen,
        [Seen::Step(run, format!("{late:?}")), Seen::CallOver(run)]
    );
}

#[test]
fn a_call_cancelled_before_its_session_is_open_never_goes_out() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let (run, seen) = make(&mut bench, "c", None);
    let hello = only(&seen, 1).clone();
    let seen = cancel(&mut bench, run, "c");
    assert!(matches!(&seen[0], Seen::CancelAnswered(5, it) if it.stop == Some(Stop::NeverStarted)));
    assert_eq!(seen[2], Seen::CallOver(run));
    let opened = answer(&hello, "initialize-result", json!({ "sessionId": "s" }));
    assert_eq!(bench.send(1, opened), []);
}

#[test]
fn an_app_that_does_not_answer_in_time_leaves_it_open() {
    // The cancel, and the call with it.
    let (mut bench, run, _) = calling();
    cancel(&mut bench, run, "c");
    let seen = pass(&mut bench);
    let Seen::CancelAnswered(5, told) = &seen[0] else {
        panic!("{seen:?}")
    };
    assert_eq!(told.reason.as_deref(), Some("No confirmation from the app"));
    assert_eq!(state(&bench, "c"), RunState::Unknown);
    assert_eq!(bench.broker.next_deadline(), None);

    // `initialize`.
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let (run, _) = make(&mut bench, "c", None);
    let seen = pass(&mut bench);
    assert!(
        matches!(&seen[0], Seen::Step(it, text) if *it == run && text.contains("its tab may be frozen"))
    );
    assert_eq!(only(&seen[2..], 1)["type"], "agent/closed");
    assert_eq!(state(&bench, "c"), RunState::Unknown);
    assert_eq!(bench.broker.peers(), (0, 1));
}

#[test]
fn a_call_past_its_timeout_is_cancelled_and_then_given_up() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let (run, seen) = make(&mut bench, "c", Some(1_000.0));
    let opened = answer(
        only(&seen, 1),
        "initialize-result",
        json!({ "sessionId": "s" }),
    );
    bench.send(1, opened);
    let seen = pass(&mut bench);
    assert_eq!(only(&seen, 1)["type"], "capabilities/cancel");
    let seen = pass(&mut bench);
    assert!(matches!(&seen[0], Seen::Step(it, text) if *it == run && text.contains("TIMEOUT")));
    assert_eq!(state(&bench, "c"), RunState::Unknown);
}

#[test]
fn nobody_waits_for_an_app_that_is_not_there_or_goes() {
    let mut bench = Bench::new();
    let (_, seen) = make(&mut bench, "a", None);
    assert!(matches!(&seen[..], [Seen::Step(..), Seen::CallOver(_)]));
    assert_eq!(bench.broker.peers(), (0, 0));

    let (mut bench, run, _) = calling();
    let seen = bench.gone(1);
    assert!(
        matches!(&seen[0], Seen::Step(it, text) if *it == run && text.contains("DISCONNECTED"))
    );
    assert_eq!(seen[1], Seen::CallOver(run));
    assert_eq!(state(&bench, "c"), RunState::Unknown);

    let (mut bench, run, _) = calling();
    let seen = bench.event(Event::Shutdown);
    assert!(
        matches!(&seen[0], Seen::Step(it, text) if *it == run && text.contains("shutting down"))
    );
    // Of a session that is over.
    let seen = cancel(&mut bench, run, "c");
    let Seen::CancelAnswered(5, told) = &seen[0] else {
        panic!("{seen:?}")
    };
    assert!(matches!(&told.error, Some(Reply::Failed(error)) if error.code == Code::DISCONNECTED));
}

#[test]
fn a_session_nobody_calls_in_leaves_the_app_once_its_calls_have_ended() {
    let (mut bench, run, call) = calling();
    let seen = bench.event(Event::Left { session: SESSION });
    let goodbye = only(&seen, 1).clone();
    assert_eq!(goodbye["type"], "shutdown");
    let response = json!({ "success": true });
    let seen = bench.send(1, answer(&call, "capabilities/call-result", response));
    assert_eq!(seen[1], Seen::CallOver(run));
    let seen = bench.send(1, answer(&goodbye, "shutdown-result", json!({})));
    assert_eq!(only(&seen, 1)["type"], "agent/closed");
    // The next call opens it again.
    let (_, seen) = make(&mut bench, "d", None);
    assert_eq!(only(&seen, 1)["type"], "initialize");
}

#[test]
fn a_run_that_is_over_before_its_session_is_open_is_not_sent() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let (run, seen) = make(&mut bench, "c", None);
    let hello = only(&seen, 1).clone();
    let stop = Stop::NeverStarted;
    bench
        .broker
        .runs_mut()
        .end(run, Ending::Cancelled(stop, None), 1_000);
    let opened = answer(&hello, "initialize-result", json!({ "sessionId": "s" }));
    let seen = bench.send(1, opened);
    let reason = None;
    let over = ended(
        run,
        &Ended::Cancelled {
            stop,
            by: None,
            reason,
        },
    );
    assert_eq!(seen, [over, Seen::CallOver(run)]);
}
