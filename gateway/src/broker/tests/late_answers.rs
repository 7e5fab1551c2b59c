//! Answers that come after the broker has stopped waiting for them.

use serde_json::json;

use super::internal::{self, calling, pass, state};
use super::*;
use crate::broker::apps::given_up::GIVEN_UP;
use crate::broker::calls::{News, RunState};
use caphost::call::{LateEnd, Stop};

const CALL_RESULT: &str = "capabilities/call-result";
const CANCEL_RESULT: &str = "capabilities/cancel-result";

fn confirmed() -> Value {
    json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "returned" } })
}

/// A call of the gateway itself whose app has not confirmed the cancel in time. Returns the run, the call and
/// the cancel.
fn unconfirmed() -> (Bench, RunId, Value, Value) {
    let (mut bench, run, call) = calling();
    let cancel = only(&internal::cancel(&mut bench, run), 1).clone();
    pass(&mut bench);
    assert_eq!(state(&bench, "c"), RunState::Unknown);
    bench.broker.runs_mut().take_news();
    bench.now.unix_ms += 400;
    (bench, run, call, cancel)
}

/// What is said to an operator who cancels a run that has ended.
fn told_again(bench: &mut Bench, run: RunId) -> CancelOutcome {
    let seen = bench.event(Event::Cancel {
        run,
        asker: Asker::Gateway,
        reason: None,
    });
    match &seen[..] {
        [Seen::Revoked(_, outcome)] => outcome.clone(),
        other => panic!("{other:?}"),
    }
}

fn settled(bench: &mut Bench) -> Vec<RunState> {
    let news = bench.broker.runs_mut().take_news();
    let settled = news.iter().filter_map(|news| match news {
        News::Settled(run) => Some(run.state),
        News::Ended(_) => panic!("{news:?}: the run had ended before"),
        _ => None,
    });
    settled.collect()
}

#[test]
fn a_confirmation_after_its_cancel_was_given_up_is_worth_more_than_the_giving_up() {
    let (mut bench, run, call, cancel) = unconfirmed();
    let before = told_again(&mut bench, run);
    assert!(!before.cancelled() && before.error.is_some());
    let ended_at = bench.run("c").ended_at;

    assert_eq!(
        bench.send(1, answer(&cancel, CANCEL_RESULT, confirmed())),
        []
    );
    let now = bench.run("c");
    assert_eq!(
        (now.state, now.stop()),
        (RunState::Cancelled, Some(Stop::Returned))
    );
    assert_eq!((now.error, now.lost, now.ended_at), (None, None, ended_at));
    assert_eq!(now.cancelled_at, Some(bench.now.unix_ms));
    let after = told_again(&mut bench, run);
    assert_eq!(after, CancelOutcome::confirmed(Stop::Returned.into()));
    assert_eq!(settled(&mut bench), [RunState::Cancelled]);

    let response = json!({ "success": false, "cancelled": true });
    assert_eq!(bench.send(1, answer(&call, CALL_RESULT, response)), []);
    assert_eq!(
        bench.run("c").stop(),
        Some(Stop::Returned),
        "the first word holds"
    );
    assert_eq!(settled(&mut bench), []);
    assert_eq!(bench.broker.counters().answers_dropped, 0);
    // A repeated answer is nobody's.
    bench.send(1, answer(&cancel, CANCEL_RESULT, confirmed()));
    assert_eq!(bench.broker.counters().answers_dropped, 1);
}

#[test]
fn the_response_of_a_call_that_was_given_up_tells_how_the_call_ended() {
    for (response, expected) in [
        (json!({ "success": true, "data": 1 }), RunState::Completed),
        (
            json!({ "success": false, "error": { "code": "X" } }),
            RunState::Failed,
        ),
        (
            json!({ "success": false, "cancelled": true }),
            RunState::Cancelled,
        ),
    ] {
        let (mut bench, run, call, cancel) = unconfirmed();
        if expected == RunState::Completed {
            let late = json!({ "callId": "c", "cancelled": false, "reason": "Operation already completed" });
            bench.send(1, answer(&cancel, CANCEL_RESULT, late));
        }
        assert_eq!(bench.send(1, answer(&call, CALL_RESULT, response)), []);
        assert_eq!(state(&bench, "c"), expected);
        assert_eq!(settled(&mut bench), [expected]);
        let told = told_again(&mut bench, run);
        assert_eq!(told.cancelled(), expected == RunState::Cancelled);
        assert_eq!(told.error, None);
    }
}

#[test]
fn a_late_answer_that_says_nothing_new_leaves_the_outcome_unknown() {
    let (mut bench, run, call, cancel) = unconfirmed();
    let refused = json!({ "callId": "c", "cancelled": false, "reason": "no" });
    bench.send(1, answer(&cancel, CANCEL_RESULT, refused));
    assert_eq!(state(&bench, "c"), RunState::Unknown);
    bench.send(1, answer(&call, CALL_RESULT, json!(7)));
    assert_eq!(state(&bench, "c"), RunState::Unknown, "no answer at all");
    assert_eq!(settled(&mut bench), []);
    assert!(told_again(&mut bench, run).error.is_some());
    // A confirmation of another call says nothing of this one.
    let (mut bench, _, _, cancel) = unconfirmed();
    let other = json!({ "callId": "d", "cancelled": true });
    bench.send(1, answer(&cancel, CANCEL_RESULT, other));
    assert_eq!(state(&bench, "c"), RunState::Unknown);
}

#[test]
fn a_late_confirmation_of_somebody_elses_cancel_counts_too() {
    let (mut bench, run, _) = calling();
    let revoke = bench.event(Event::Cancel {
        run,
        asker: Asker::Gateway,
        reason: None,
    });
    internal::cancel(&mut bench, run);
    pass(&mut bench);
    assert_eq!(state(&bench, "c"), RunState::Unknown);
    let seen = bench.send(1, answer(only(&revoke, 1), CANCEL_RESULT, confirmed()));
    let told = CancelOutcome::confirmed(Stop::Returned.into());
    assert_eq!(seen, [Seen::Revoked(run, told)]);
    assert_eq!(state(&bench, "c"), RunState::Cancelled);
}

#[test]
fn a_late_confirmation_counts_when_the_session_has_ended_meanwhile() {
    let (mut bench, run, _, cancel) = unconfirmed();
    bench.event(Event::Left {
        session: internal::SESSION,
    });
    pass(&mut bench);
    assert_eq!(bench.broker.peers(), (0, 1), "the session is gone");
    bench.send(1, answer(&cancel, CANCEL_RESULT, confirmed()));
    assert_eq!(bench.run("c").stop(), Some(Stop::Returned));
    let told = told_again(&mut bench, run);
    assert_eq!(told, CancelOutcome::confirmed(Stop::Returned.into()));
    assert_eq!(bench.broker.counters().strays_dropped, 0);
}

#[test]
fn a_late_confirmation_counts_when_the_agent_of_a_socket_has_left() {
    for kind in [CANCEL_RESULT, CALL_RESULT] {
        let mut bench = Bench::session();
        let calling = bench.relayed(2, call("1", "c"));
        let cancel = only(&bench.gone(2), 1).clone();
        pass(&mut bench);
        assert_eq!(bench.run("c").state, RunState::Unknown);
        assert_eq!(bench.broker.counters().strays_dropped, 0);
        let (asked, said) = match kind {
            CANCEL_RESULT => (&cancel, confirmed()),
            _ => (&calling, json!({ "success": true })),
        };
        assert_eq!(bench.send(1, answer(asked, kind, said.clone())), []);
        let expected = match kind {
            CANCEL_RESULT => RunState::Cancelled,
            _ => RunState::Completed,
        };
        let now = bench.run("c");
        assert_eq!((now.state, now.lost), (expected, None));
        bench.send(1, answer(asked, kind, said));
        assert_eq!(bench.broker.counters().strays_dropped, 1, "once");
    }
}

#[test]
fn an_agent_that_cancels_again_after_an_unreadable_response_settles_its_run() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    bench.send(1, answer(&calling, CALL_RESULT, json!(7)));
    assert_eq!(bench.run("c").state, RunState::Unknown);
    let again = bench.relayed(2, cancel("2", "c"));
    let seen = bench.send(1, answer(&again, CANCEL_RESULT, confirmed()));
    assert_eq!(only(&seen, 2)["payload"], confirmed());
    assert_eq!(bench.run("c").stop(), Some(Stop::Returned));
}

#[test]
fn the_work_of_a_call_that_was_confirmed_late_may_end_later_still() {
    let (mut bench, _, _, cancel) = unconfirmed();
    let abandoned = json!({ "callId": "c", "cancelled": true });
    bench.send(1, answer(&cancel, CANCEL_RESULT, abandoned));
    assert_eq!(bench.run("c").stop(), Some(Stop::Abandoned));
    let data = json!({ "callId": "c", "success": true, "after": 7 });
    let event = json!({ "event": "notifications/call/ended", "data": data });
    bench.send(1, answer(&cancel, "notification", event));
    let end = LateEnd {
        success: true,
        after: 7.0,
    };
    assert_eq!(bench.run("c").late_end, Some(end));
}

#[test]
fn an_app_that_never_answers_leaves_a_bounded_memory() {
    let (mut bench, _, _, first) = unconfirmed();
    let mut last = Value::Null;
    for number in 0..GIVEN_UP {
        let (run, _) = internal::make(&mut bench, &number.to_string(), None);
        last = only(&internal::cancel(&mut bench, run), 1).clone();
        pass(&mut bench);
    }
    bench.send(1, answer(&first, CANCEL_RESULT, confirmed()));
    assert_eq!(
        state(&bench, "c"),
        RunState::Unknown,
        "the oldest is forgotten"
    );
    let id = (GIVEN_UP - 1).to_string();
    let said = json!({ "callId": id, "cancelled": true });
    bench.send(1, answer(&last, CANCEL_RESULT, said));
    assert_eq!(state(&bench, &id), RunState::Cancelled);
}
