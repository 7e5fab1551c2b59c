//! The gateway's own calls: typed on one side, and text on the other.

use serde_json::json;

use super::*;
use crate::broker::calls::{Found, RunState};
use crate::broker::{CallEvent, NewSession, Outcome};
use crate::broker::{CallRequest, NewCall, steps};
use caphost::call::{LateEnd, Stop};

pub(super) const SESSION: PeerId = PeerId(9);

fn client(takes_questions: bool) -> NewSession {
    NewSession {
        app: Wanted::Any,
        profile: Profile {
            dialect: Dialect::Mcp,
            owner: Identity::anyone(),
            quota_key: "anyone".into(),
            name: None,
            seat: Seat::Own,
        },
        hello: json!({ "agent": { "name": "n", "version": "1" } })
            .to_string()
            .into(),
        takes_questions,
    }
}

/// Makes a call. Returns its run and the actions.
pub(super) fn make(bench: &mut Bench, id: &str, timeout: Option<f64>) -> (RunId, Vec<Seen>) {
    make_for(bench, id, timeout, false)
}

fn make_for(
    bench: &mut Bench,
    id: &str,
    timeout: Option<f64>,
    takes_questions: bool,
) -> (RunId, Vec<Seen>) {
    let run = RunId::random();
    let payload = json!({ "capability": "a.b", "options": { "callId": id } });
    let (sink, steps) = steps();
    bench.steps.push((run, steps));
    let call = NewCall {
        run,
        dialect_id: Some(id.into()),
        thread: None,
        capability: "a.b".into(),
        call_id: id.into(),
        token: None,
        request: Some(CallRequest {
            payload: payload.to_string().into(),
            params: None,
            timeout,
        }),
        completed: None,
        sink: Some(sink),
    };
    let seen = bench.event(Event::Call {
        session: SESSION,
        client: &client(takes_questions),
        call: Box::new(call),
    });
    (run, seen)
}

/// An app, and a session whose first call has reached the app.
pub(super) fn calling() -> (Bench, RunId, Value) {
    calling_with(Limits::default(), Tokens::default())
}

fn calling_with(limits: Limits, tokens: Tokens) -> (Bench, RunId, Value) {
    opened(Bench::with(limits, tokens), false)
}

/// The same for a client that takes questions.
fn asked() -> (Bench, RunId, Value) {
    opened(Bench::with(Limits::default(), Tokens::default()), true)
}

fn opened(mut bench: Bench, takes_questions: bool) -> (Bench, RunId, Value) {
    bench.app(1, "demo");
    let (run, seen) = make_for(&mut bench, "c", None, takes_questions);
    let hello = only(&seen, 1).clone();
    assert_eq!(hello["type"], "initialize");
    assert_eq!(state(&bench, "c"), RunState::Queued);
    let opened = answer(&hello, "initialize-result", json!({ "sessionId": "s" }));
    let seen = bench.send(1, opened);
    let call = only(&seen, 1).clone();
    assert_eq!(call["payload"]["options"]["callId"], "c");
    (bench, run, call)
}

pub(super) fn state(bench: &Bench, id: &str) -> RunState {
    match bench.broker.runs().find(id, &Identity::anyone(), 1_000) {
        Found::One(run) => run.state,
        other => panic!("{id}: {other:?}"),
    }
}

/// The action that ends the call of a run, with the result of a call that is not cancelled.
fn ended(bench: &Bench, run: RunId, data: Option<&str>) -> Seen {
    let run_of_it = bench.broker.runs().shared(run).unwrap();
    let outcome = match run_of_it.stop() {
        Some(stop) => Outcome::Cancelled {
            reason: run_of_it.cancel_reason.clone(),
            stop,
            by: run_of_it.by,
        },
        None => Outcome::Done {
            data: data.map(|data| data.to_string().into()),
            metadata: None,
        },
    };
    let ended = CallEvent::Ended(run_of_it, outcome);
    Seen::Step(run, format!("{ended:?}"))
}

pub(super) fn cancel(bench: &mut Bench, run: RunId) -> Vec<Seen> {
    let reason = Some("enough".into());
    bench.event(Event::Cancel {
        run,
        asker: Asker::Caller,
        reason,
    })
}

/// Advances the time to the broker's next deadline.
pub(super) fn pass(bench: &mut Bench) -> Vec<Seen> {
    bench.now.monotonic_ms = bench.broker.next_deadline().expect("a deadline");
    bench.event(Event::Deadline)
}

#[test]
fn a_question_is_answered_that_nobody_could_answer() {
    let (mut bench, _, call) = calling();
    let agent = &call["agent"];
    let seen = bench.send(
        1,
        json!({ "type": "elicitation/request", "id": "q", "agent": agent, "payload": {} }),
    );
    let answer = only(&seen, 1);
    assert_eq!(
        (&answer["type"], &answer["id"], &answer["agent"]),
        (&json!("elicitation/response"), &json!("q"), agent)
    );
    assert_eq!(code(answer), "NOT_SUPPORTED");
    assert_eq!(bench.broker.in_flight(), 1, "the call");
}

fn question(id: &str, agent: &Value) -> Value {
    json!({ "type": "elicitation/request", "id": id, "agent": agent, "payload": { "message": id } })
}

/// The number of the one question that a caller is asked.
fn number_of(seen: &[Seen]) -> u64 {
    let [Seen::Step(_, step)] = seen else {
        panic!("{seen:?}");
    };
    let number = step
        .strip_prefix("Question(")
        .and_then(|it| it.split(',').next());
    number.and_then(|it| it.parse().ok()).expect(step)
}

#[test]
fn a_caller_that_takes_questions_gets_them_and_each_is_answered_once() {
    let (mut bench, run, call) = asked();
    let agent = &call["agent"];
    let [first, second] = ["q", "r"].map(|id| number_of(&bench.send(1, question(id, agent))));
    for (number, id) in [(second, "r"), (first, "q")] {
        let payload = r#"{"success":true,"data":{}}"#;
        let mut answer = || {
            bench.event(Event::Answer {
                run,
                question: number,
                payload,
            })
        };
        let seen = answer();
        let answered = only(&seen, 1);
        assert_eq!(
            (&answered["type"], &answered["id"]),
            (&json!("elicitation/response"), &json!(id))
        );
        assert_eq!(&answered["agent"], agent);
        assert_eq!(answered["payload"]["success"], true);
        assert_eq!(answer(), []);
    }
}

#[test]
fn a_question_is_withdrawn_by_the_app_or_by_the_end_of_its_call() {
    let (mut bench, run, call) = asked();
    let agent = &call["agent"];
    let [first, second] = ["q", "r"].map(|id| number_of(&bench.send(1, question(id, agent))));
    let withdrawn = json!({ "type": "notification", "agent": agent, "payload": {
        "event": "notifications/elicitation/withdrawn", "data": { "id": "q" } } });
    let step = |number: u64| Seen::Step(run, format!("{:?}", CallEvent::Withdrawn(number)));
    assert_eq!(bench.send(1, withdrawn.clone()), [step(first)]);
    assert_eq!(bench.send(1, withdrawn), [], "it is withdrawn");
    let seen = bench.send(
        1,
        answer(
            &call,
            "capabilities/call-result",
            json!({ "success": true }),
        ),
    );
    assert_eq!(seen[0], step(second), "before the end of the call");
    let payload = "{}";
    for question in [first, second] {
        assert_eq!(
            bench.event(Event::Answer {
                run,
                question,
                payload
            }),
            []
        );
    }
}

#[test]
fn a_question_of_which_nobody_knows_the_call_is_not_asked() {
    let (mut bench, _, call) = asked();
    make_for(&mut bench, "d", None, true);
    let seen = bench.send(1, question("q", &call["agent"]));
    assert_eq!(code(only(&seen, 1)), "NOT_SUPPORTED");
}

#[test]
fn only_so_many_questions_of_a_call_wait() {
    let (mut bench, _, call) = asked();
    for _ in 0..8 {
        number_of(&bench.send(1, question("q", &call["agent"])));
    }
    let seen = bench.send(1, question("one more", &call["agent"]));
    assert_eq!(code(only(&seen, 1)), "RATE_LIMITED");
}

#[test]
fn an_answer_comes_as_it_was_written() {
    let (mut bench, run, call) = calling();
    let info = json!({ "operationId": "c", "progress": 3 });
    let seen = bench.send(1, answer(&call, "progress", info.clone()));
    let step = CallEvent::Progress(info.to_string().into());
    assert_eq!(seen, [Seen::Step(run, format!("{step:?}"))]);
    let response = json!({ "success": true, "data": [1] });
    let seen = bench.send(1, answer(&call, "capabilities/call-result", response));
    let over = ended(&bench, run, Some("[1]"));
    assert_eq!(seen, [over, Seen::CallOver(run)]);
    assert_eq!(state(&bench, "c"), RunState::Completed);
    assert_eq!(bench.broker.in_flight(), 0);
}

#[test]
fn a_confirmed_cancel_ends_its_call_and_a_late_end_is_still_told() {
    let (mut bench, run, _) = calling();
    let sent = only(&cancel(&mut bench, run), 1).clone();
    assert_eq!(
        sent["payload"],
        json!({ "callId": "c", "reason": "enough" })
    );
    let confirmed = json!({ "callId": "c", "cancelled": true });
    let seen = bench.send(1, answer(&sent, "capabilities/cancel-result", confirmed));
    let stop = Stop::Abandoned;
    assert_eq!(seen, [ended(&bench, run, None)]);
    let it = bench.broker.runs().get(run).unwrap();
    assert_eq!((it.state, it.stop()), (RunState::Cancelled, Some(stop)));
    assert_eq!(it.cancel_reason.as_deref(), Some("enough"));
    let data = json!({ "callId": "c", "success": true, "after": 7 });
    let event = json!({ "event": "notifications/call/ended", "data": data });
    let seen = bench.send(1, answer(&sent, "notification", event));
    let late = CallEvent::Late(LateEnd {
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
    let seen = cancel(&mut bench, run);
    assert_eq!(seen, [ended(&bench, run, None), Seen::CallOver(run)]);
    let it = bench.broker.runs().get(run).unwrap();
    assert_eq!(it.stop(), Some(Stop::NeverStarted));
    assert_eq!(it.cancel_reason.as_deref(), Some("enough"));
    let opened = answer(&hello, "initialize-result", json!({ "sessionId": "s" }));
    assert_eq!(bench.send(1, opened), []);
}

#[test]
fn an_app_that_does_not_answer_in_time_leaves_it_open() {
    // The app answers neither the cancel nor the call.
    let (mut bench, run, _) = calling();
    cancel(&mut bench, run);
    let seen = pass(&mut bench);
    assert!(
        matches!(&seen[..], [Seen::Step(it, text), Seen::CallOver(_)] if *it == run && text.contains("TIMEOUT"))
    );
    assert_eq!(state(&bench, "c"), RunState::Unknown);
    assert_eq!(bench.broker.next_deadline(), None);

    // The app does not answer `initialize`.
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
fn what_is_given_up_is_in_flight_no_more() {
    let limits = Limits {
        in_flight: 1,
        ..Limits::default()
    };
    let tokens = ["agent=a".parse().unwrap(), "app=b".parse().unwrap()];
    let (mut bench, run, call) = calling_with(limits, Tokens::new(tokens.into()));
    let revoke = bench.event(Event::Cancel {
        run,
        asker: Asker::Gateway,
        reason: None,
    });
    assert_eq!(only(&revoke, 1)["type"], "capabilities/cancel");
    let sent = only(&cancel(&mut bench, run), 1).clone();
    pass(&mut bench);
    assert_eq!(state(&bench, "c"), RunState::Unknown);
    assert_eq!(bench.broker.in_flight(), 0);
    // There is room for other calls.
    let (other, seen) = make(&mut bench, "d", None);
    assert_eq!(only(&seen, 1)["type"], "capabilities/call");
    let seen = cancel(&mut bench, other);
    assert_eq!(only(&seen, 1)["type"], "capabilities/cancel");
    assert_eq!(bench.broker.in_flight(), 1, "the call");
    // Late answers take no room. They settle the run, and answer other requesters.
    let kind = "capabilities/cancel-result";
    let confirmed = json!({ "callId": "c", "cancelled": true });
    let seen = bench.send(1, answer(&sent, kind, confirmed));
    let told = CancelOutcome::confirmed(Stop::Abandoned.into());
    assert_eq!(seen, [Seen::Revoked(run, told)]);
    let response = json!({ "success": false, "cancelled": true });
    let late = answer(&call, "capabilities/call-result", response);
    assert_eq!(bench.send(1, late), []);
    assert_eq!(bench.broker.counters().answers_dropped, 0);
    assert_eq!(state(&bench, "c"), RunState::Cancelled);
    assert_eq!(bench.broker.in_flight(), 1, "the call");
}

#[test]
fn a_revocation_that_is_not_answered_is_not_waited_for_once_its_call_is_over() {
    let (mut bench, run, call) = calling();
    bench.event(Event::Cancel {
        run,
        asker: Asker::Gateway,
        reason: None,
    });
    assert_eq!(bench.broker.in_flight(), 1, "the call");
    let response = json!({ "success": true });
    bench.send(1, answer(&call, "capabilities/call-result", response));
    assert_eq!(bench.broker.in_flight(), 0);
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
    // This cancels a call of a session that is over.
    assert_eq!(cancel(&mut bench, run), []);
}

#[test]
fn a_gateway_that_drains_says_so_to_the_first_call_of_a_session() {
    let (mut bench, _, _) = calling();
    bench.gone(1);
    bench.app(2, "demo");
    bench.event(Event::Drain);
    let (run, seen) = make(&mut bench, "d", None);
    let said =
        |it: &Seen| matches!(it, Seen::Step(_, text) if text.contains("it takes no new calls"));
    assert_eq!(seen.iter().filter(|it| said(it)).count(), 1, "{seen:?}");
    assert!(seen.contains(&Seen::CallOver(run)));
    let ended = bench.broker.runs().get(run).unwrap();
    let error = ended.error.as_deref();
    assert_eq!(
        (ended.state, error),
        (RunState::Failed, Some("CAPABILITY_UNAVAILABLE"))
    );
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
    // The next call opens the session again.
    let (_, seen) = make(&mut bench, "d", None);
    assert_eq!(only(&seen, 1)["type"], "initialize");
}

#[test]
fn a_run_that_is_over_before_its_session_is_open_is_not_sent() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let (run, seen) = make(&mut bench, "c", None);
    let hello = only(&seen, 1).clone();
    let seen = bench.event(Event::Cancel {
        run,
        asker: Asker::Gateway,
        reason: None,
    });
    let told = Seen::Revoked(run, CancelOutcome::confirmed(Stop::NeverStarted.into()));
    let over = ended(&bench, run, None);
    assert_eq!(seen, [told, over, Seen::CallOver(run)]);
    let opened = answer(&hello, "initialize-result", json!({ "sessionId": "s" }));
    assert!(bench.send(1, opened).is_empty());
}

#[test]
fn a_call_goes_on_whose_cancel_is_refused_and_ends_if_its_session_is_lost() {
    for (error, goes_on) in [
        (Value::Null, true),
        (json!({ "code": "SESSION_EXPIRED" }), false),
    ] {
        let (mut bench, run, _) = calling();
        let sent = only(&cancel(&mut bench, run), 1).clone();
        let mut refused = json!({ "callId": "c", "cancelled": false, "reason": "no" });
        if !goes_on {
            refused["error"] = error;
        }
        let seen = bench.send(1, answer(&sent, "capabilities/cancel-result", refused));
        assert_eq!(bench.broker.next_deadline(), None);
        match goes_on {
            true => assert_eq!((seen.len(), state(&bench, "c")), (0, RunState::Running)),
            false => {
                assert!(
                    matches!(&seen[0], Seen::Step(it, text) if *it == run && text.contains("DISCONNECTED"))
                );
                assert_eq!(only(&seen[2..], 1)["type"], "agent/closed");
                assert_eq!(state(&bench, "c"), RunState::Unknown);
            }
        }
    }
}

#[test]
fn repeated_cancels_of_a_caller_join_the_first() {
    let (mut bench, run, _) = calling();
    let first = only(&cancel(&mut bench, run), 1).clone();
    let due = bench.broker.next_deadline();
    bench.now.monotonic_ms += 1_000.0;
    for _ in 0..30 {
        assert_eq!(cancel(&mut bench, run), [], "the app is asked already");
    }
    assert_eq!(bench.broker.next_deadline(), due);
    // The first cancel of an operator goes to the app too.
    let mut revoke = || {
        bench.event(Event::Cancel {
            run,
            asker: Asker::Gateway,
            reason: None,
        })
    };
    let sent = only(&revoke(), 1).clone();
    assert_eq!(revoke(), []);
    assert_eq!(cancel(&mut bench, run), []);
    let kind = "capabilities/cancel-result";
    let confirmed = json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "returned" } });
    let seen = bench.send(1, answer(&first, kind, confirmed.clone()));
    let told = CancelOutcome::confirmed(Stop::Returned.into());
    let told = Seen::Revoked(run, told);
    assert_eq!(seen, [told, ended(&bench, run, None), Seen::CallOver(run)]);
    assert_eq!(bench.send(1, answer(&sent, kind, confirmed)), []);
    let answered = bench.now.monotonic_ms + bench.broker.grace();
    assert_eq!(
        bench.broker.next_deadline(),
        Some(answered),
        "the call itself"
    );
}

#[test]
fn a_cancel_after_one_that_was_refused_is_sent_and_waited_for() {
    let (mut bench, run, _) = calling();
    let first = only(&cancel(&mut bench, run), 1).clone();
    let refused = |request: &Value| {
        let error = json!({ "code": "OPERATION_FAILED", "message": "no" });
        answer(request, "error", error)
    };
    assert_eq!(bench.send(1, refused(&first)), []);
    assert_eq!(bench.broker.next_deadline(), None);
    let second = only(&cancel(&mut bench, run), 1).clone();
    let due = bench.broker.next_deadline();
    assert_eq!(due, Some(bench.now.monotonic_ms + bench.broker.grace()));
    assert_eq!(bench.send(1, refused(&second)), []);
    assert_eq!(bench.broker.next_deadline(), None);
}

#[test]
fn an_operators_confirmed_cancel_is_how_its_caller_hears_the_call_ends() {
    let (mut bench, run, call) = calling();
    let reason = Some("stop".into());
    let sent = bench.event(Event::Cancel {
        run,
        asker: Asker::Gateway,
        reason,
    });
    let confirmed = json!({
        "callId": "c", "cancelled": true, "metadata": { "stop": "dropped", "by": "runtime" },
    });
    let seen = bench.send(
        1,
        answer(only(&sent, 1), "capabilities/cancel-result", confirmed),
    );
    let it = bench.broker.runs().get(run).unwrap();
    assert_eq!(
        (it.state, it.stop()),
        (RunState::Cancelled, Some(Stop::Dropped))
    );
    assert_eq!(it.cancel_reason.as_deref(), Some("stop"));
    assert!(
        matches!(&seen[0], Seen::Revoked(_, told) if told.stop == it.stop() && told.by == it.by)
    );
    assert_eq!(seen[1..], [ended(&bench, run, None), Seen::CallOver(run)]);
    // The app's response does not count any more, because the app was told that the call is over.
    let response = json!({ "success": true });
    assert_eq!(
        bench.send(1, answer(&call, "capabilities/call-result", response)),
        []
    );
    assert_eq!(state(&bench, "c"), RunState::Cancelled);
    assert_eq!(bench.broker.in_flight(), 0);
}

#[test]
fn a_callers_cancel_goes_without_its_long_reason_to_an_app_that_does_not_keep_up() {
    let (mut bench, run, _) = calling();
    let (peer, backlog) = (PeerId(1), Backlog::Full);
    bench.event(Event::Backlog { peer, backlog });
    let reason = Some("long ".repeat(100));
    let sent = bench.event(Event::Cancel {
        run,
        asker: Asker::Caller,
        reason,
    });
    assert_eq!(only(&sent, 1)["payload"], json!({ "callId": "c" }));
    let it = bench.broker.runs().get(run).unwrap();
    assert_eq!(it.cancel_reason.as_ref().map(String::len), Some(500));
}

#[test]
fn a_callers_cancel_has_room_where_the_bounds_of_its_token_are_full_of_cancels() {
    let limits = Limits {
        in_flight_per_token: 1,
        ..Limits::default()
    };
    let tokens = ["agent=a".parse().unwrap(), "app=b".parse().unwrap()];
    let (mut bench, run, _) = calling_with(limits, Tokens::new(tokens.into()));
    bench.agent(2, None);
    let hello = request("initialize", "1", json!({ "protocolVersion": "0.1" }));
    let hello = bench.relayed(2, hello);
    let opened = json!({ "sessionId": "t" });
    bench.send(1, answer(&hello, "initialize-result", opened));
    bench.relayed(2, super::cancel("2", "unknown"));
    let refused = bench.send(2, super::cancel("3", "unknown"));
    assert_eq!(code(only(&refused, 2)), "RATE_LIMITED");
    let sent = only(&cancel(&mut bench, run), 1).clone();
    assert_eq!(sent["type"], "capabilities/cancel");
    let confirmed = json!({ "callId": "c", "cancelled": true });
    bench.send(1, answer(&sent, "capabilities/cancel-result", confirmed));
    assert_eq!(state(&bench, "c"), RunState::Cancelled);
}

#[test]
fn a_cancel_whose_answer_cannot_be_passed_on_leaves_its_call_as_it_is() {
    let (mut bench, run, call) = calling();
    let sent = only(&cancel(&mut bench, run), 1).clone();
    bench.send(1, answer(&sent, "capabilities/cancel-result", json!([])));
    assert_eq!(bench.broker.next_deadline(), None);
    let response = json!({ "success": true });
    bench.send(1, answer(&call, "capabilities/call-result", response));
    assert_eq!(state(&bench, "c"), RunState::Completed);
}

#[test]
fn what_the_end_of_a_session_does_to_its_calls_is_heard_before_it_counts_as_lost() {
    let (mut bench, run, call) = calling();
    let sent = only(&cancel(&mut bench, run), 1).clone();
    bench.event(Event::Left { session: SESSION });
    let error = json!({ "code": "NOT_INITIALIZED" });
    let refused = json!({ "callId": "c", "cancelled": false, "error": error });
    assert_eq!(
        bench.send(1, answer(&sent, "capabilities/cancel-result", refused)),
        []
    );
    let cancelled = json!({ "success": false, "cancelled": true });
    let seen = bench.send(1, answer(&call, "capabilities/call-result", cancelled));
    assert_eq!(seen, [ended(&bench, run, None)]);
    assert_eq!(state(&bench, "c"), RunState::Cancelled);
}
