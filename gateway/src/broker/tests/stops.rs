//! How far the work was seen to stop, on the way from an app to its agents.

use serde_json::json;

use super::*;
use crate::broker::calls::News;
use crate::wire::abp::CALL_ENDED;
use caphost::call::{LateEnd, Stop};

const CALL_RESULT: &str = "capabilities/call-result";
const CANCEL_RESULT: &str = "capabilities/cancel-result";

fn with(metadata: Option<Value>, mut payload: Value) -> Value {
    payload["cancelled"] = true.into();
    if let Some(metadata) = metadata {
        payload["metadata"] = metadata;
    }
    payload
}

/// An agent calls and cancels, and the app answers with these metadata. Returns the messages to the agent.
fn cancelled(
    bench: &mut Bench,
    call_id: &str,
    confirmed: Option<Value>,
    responded: Option<Value>,
) -> [Value; 2] {
    let calling = bench.relayed(2, call(&format!("call {call_id}"), call_id));
    let confirmation = cancel_again(bench, call_id, confirmed);
    let response = with(responded, json!({ "success": false }));
    let seen = bench.send(1, answer(&calling, CALL_RESULT, response));
    [confirmation, only(&seen, 2)["payload"].clone()]
}

/// The answer to agent 2's cancel. If the app is asked, it confirms with these metadata.
fn cancel_again(bench: &mut Bench, call_id: &str, confirmed: Option<Value>) -> Value {
    let seen = bench.send(2, cancel("cancel", call_id));
    if let [Seen::Message(2, known)] = &seen[..] {
        return known["payload"].clone();
    }
    let cancelling = only(&seen, 1).clone();
    let confirmation = with(confirmed, json!({ "callId": call_id }));
    let seen = bench.send(1, answer(&cancelling, CANCEL_RESULT, confirmation));
    only(&seen, 2)["payload"].clone()
}

fn ended(call_id: &str, success: bool, after: f64) -> Value {
    let data = json!({ "callId": call_id, "success": success, "after": after });
    json!({ "event": CALL_ENDED, "data": data })
}

#[test]
fn every_grade_reaches_the_agent_and_the_run() {
    let mut bench = Bench::session();
    for stop in Stop::ALL {
        let word = stop.as_str();
        let said = json!({ "stop": word });
        let got = cancelled(&mut bench, word, Some(said.clone()), Some(said.clone()));
        let expected = [
            json!({ "callId": word, "cancelled": true, "metadata": said }),
            json!({ "success": false, "cancelled": true, "metadata": said }),
        ];
        assert_eq!(got, expected);
        assert_eq!(bench.run(word).stop(), Some(stop));
    }
}

#[test]
fn an_app_that_gives_no_grade_has_shown_nothing() {
    let mut bench = Bench::session();
    for (index, metadata) in [
        None,
        Some(json!({ "duration": 5 })),
        Some(json!({ "stop": "stopped" })),
        Some(json!({ "stop": null })),
        Some(json!("dropped")),
    ]
    .into_iter()
    .enumerate()
    {
        let id = index.to_string();
        for got in cancelled(&mut bench, &id, metadata.clone(), metadata) {
            assert_eq!(got["metadata"]["stop"], "abandoned", "{got}");
            assert_eq!(got["cancelled"], true, "{got}");
        }
        assert_eq!(bench.run(&id).stop(), Some(Stop::Abandoned));
    }
    let kept = cancelled(&mut bench, "kept", None, Some(json!({ "duration": 5 })));
    assert_eq!(
        kept[1]["metadata"],
        json!({ "duration": 5, "stop": "abandoned" })
    );
}

#[test]
fn confirmation_and_response_never_contradict_each_other() {
    let mut bench = Bench::session();
    let dropped = Some(json!({ "stop": "dropped" }));
    for (id, confirmed, responded, word) in [
        ("1", dropped.clone(), None, "dropped"),
        ("2", None, dropped.clone(), "abandoned"),
        (
            "3",
            dropped.clone(),
            Some(json!({ "stop": "returned" })),
            "dropped",
        ),
    ] {
        for got in cancelled(&mut bench, id, confirmed, responded) {
            assert_eq!(got["metadata"], json!({ "stop": word }), "{id}");
        }
        assert_eq!(bench.run(id).stop().map(Stop::as_str), Some(word));
        let again = cancel_again(&mut bench, id, Some(json!({ "stop": "terminated" })));
        assert_eq!(again["metadata"], json!({ "stop": word }), "{id}, again");
    }
}

#[test]
fn what_was_not_cancelled_has_no_grade() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let cancelling = bench.relayed(2, cancel("2", "c"));
    let refused = json!({ "callId": "c", "cancelled": false, "reason": "no" });
    let seen = bench.send(1, answer(&cancelling, CANCEL_RESULT, refused.clone()));
    assert_eq!(only(&seen, 2)["payload"], refused);
    let done = json!({ "success": true, "data": 1, "cancelled": true });
    let seen = bench.send(1, answer(&calling, CALL_RESULT, done));
    let done = json!({ "success": true, "data": 1 });
    assert_eq!(only(&seen, 2)["payload"], done, "both cannot be true");
    assert_eq!(bench.run("c").stop(), None);
}

#[test]
fn an_operator_is_told_what_the_agent_is() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let it = bench.run("c");
    let revoke = Event::Cancel {
        run: it.id,
        asker: Asker::Gateway,
        reason: None,
    };
    let sent = bench.event(revoke);
    let confirmation = with(
        Some(json!({ "stop": "returned" })),
        json!({ "callId": "c" }),
    );
    let seen = bench.send(1, answer(only(&sent, 1), CANCEL_RESULT, confirmation));
    let [Seen::Revoked(_, told)] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!((told.cancelled(), told.stop), (true, Some(Stop::Returned)));
    let response = with(None, json!({ "success": false }));
    let seen = bench.send(1, answer(&calling, CALL_RESULT, response));
    assert_eq!(only(&seen, 2)["payload"]["metadata"]["stop"], "returned");
}

#[test]
fn a_late_end_reaches_its_agent_its_run_and_every_later_cancel() {
    let mut bench = Bench::session();
    cancelled(&mut bench, "c", None, None);
    let it = bench.run("c");
    bench.broker.runs_mut().take_news();
    // Another agent's call with the same id is not affected.
    let foreign = bench.relayed(3, call("1", "c"));
    bench.send(1, answer(&foreign, "notification", ended("c", false, 1.0)));
    let relayed = bench.relayed(2, call("2", "other"));
    let seen = bench.send(1, answer(&relayed, "notification", ended("c", true, 200.0)));
    assert_eq!(only(&seen, 2)["payload"], ended("c", true, 200.0));
    let late = LateEnd {
        success: true,
        after: 200.0,
    };
    let run = |bench: &Bench| bench.broker.runs().get(it.id).unwrap().late_end;
    assert_eq!(run(&bench), Some(late));
    let news = bench.broker.runs_mut().take_news();
    let told =
        |news: &News| matches!(news, News::EndedLate(id, _, end) if (*id, *end) == (it.id, late));
    assert_eq!(news.iter().filter(|news| told(news)).count(), 1);
    bench.send(
        1,
        answer(&relayed, "notification", ended("c", false, 900.0)),
    );
    assert_eq!(run(&bench), Some(late), "the first counts");
    let again = cancel_again(&mut bench, "c", None);
    let expected = json!({ "stop": "abandoned", "ended": { "success": true, "after": 200 } });
    assert_eq!(again["metadata"], expected);
    let revoke = Event::Cancel {
        run: it.id,
        asker: Asker::Gateway,
        reason: None,
    };
    let seen = bench.event(revoke);
    assert!(
        matches!(&seen[..], [Seen::Revoked(_, told)] if told.late_end == Some(late)),
        "{seen:?}"
    );
}

#[test]
fn a_late_end_that_is_heard_before_its_run_is_over_is_kept() {
    let late = LateEnd {
        success: true,
        after: 200.0,
    };
    let said = json!({ "stop": "abandoned", "ended": { "success": true, "after": 200 } });
    let revoke = |id| Event::Cancel {
        run: id,
        asker: Asker::Gateway,
        reason: None,
    };
    for heard_in in ["notification", CALL_RESULT, CANCEL_RESULT] {
        let mut bench = Bench::session();
        let calling = bench.relayed(2, call("1", "c"));
        let it = bench.run("c");
        let (mut confirmed, mut responded) = (None, None);
        match heard_in {
            CALL_RESULT => responded = Some(said.clone()),
            CANCEL_RESULT => confirmed = Some(said.clone()),
            _ => {}
        }
        if heard_in == CANCEL_RESULT {
            let sent = bench.event(revoke(it.id));
            let confirmation = with(confirmed, json!({ "callId": "c" }));
            bench.send(1, answer(only(&sent, 1), CANCEL_RESULT, confirmation));
        } else {
            cancel_again(&mut bench, "c", None);
        }
        if heard_in == "notification" {
            let seen = bench.send(1, answer(&calling, "notification", ended("c", true, 200.0)));
            assert_eq!(only(&seen, 2)["payload"], ended("c", true, 200.0));
        }
        let response = with(responded, json!({ "success": false }));
        let seen = bench.send(1, answer(&calling, CALL_RESULT, response));
        assert_eq!(only(&seen, 2)["payload"]["metadata"], said, "{heard_in}");
        assert_eq!(bench.run("c").late_end, Some(late), "{heard_in}");
        let news = bench.broker.runs_mut().take_news();
        let told = |news: &&News| matches!(news, News::EndedLate(id, _, end) if (*id, *end) == (it.id, late));
        assert_eq!(news.iter().filter(told).count(), 1, "{heard_in}");
        let seen = bench.event(revoke(it.id));
        assert!(
            matches!(&seen[..], [Seen::Revoked(_, told)] if told.late_end == Some(late)),
            "{heard_in}: {seen:?}"
        );
    }
}

#[test]
fn what_was_seen_to_stop_does_not_end_again() {
    let mut bench = Bench::session();
    let dropped = Some(json!({ "stop": "dropped" }));
    cancelled(&mut bench, "c", dropped.clone(), dropped.clone());
    let relayed = bench.relayed(2, call("2", "other"));
    bench.send(1, answer(&relayed, "notification", ended("c", true, 200.0)));
    assert_eq!(bench.run("c").late_end, None);
    let again = cancel_again(&mut bench, "c", dropped.clone());
    assert_eq!(Some(again["metadata"].clone()), dropped);
}

#[test]
fn no_agent_has_the_relay_remember_without_bounds() {
    let mut bench = Bench::session();
    for id in 0..1_100 {
        cancelled(&mut bench, &id.to_string(), None, None);
    }
    let relayed = bench.relayed(2, call("x", "other"));
    for (id, known) in [("0", false), ("1099", true)] {
        bench.send(1, answer(&relayed, "notification", ended(id, true, 5.0)));
        assert_eq!(bench.run(id).late_end.is_some(), known, "{id}");
    }
}

#[test]
fn a_late_end_reaches_the_run_although_its_agent_has_left() {
    let mut bench = Bench::session();
    let relayed = bench.relayed(2, call("0", "other"));
    cancelled(&mut bench, "c", None, None);
    cancelled(&mut bench, "over", Some(json!({ "stop": "dropped" })), None);
    let it = bench.run("c");
    bench.gone(2);
    bench.broker.runs_mut().take_news();
    let mut say = |payload: Value| bench.send(1, answer(&relayed, "notification", payload));
    assert!(say(ended("c", true, 200.0)).is_empty());
    assert!(say(ended("c", false, 900.0)).is_empty());
    assert!(say(ended("over", false, 900.0)).is_empty());
    let late = LateEnd {
        success: true,
        after: 200.0,
    };
    assert_eq!(bench.broker.runs().get(it.id).unwrap().late_end, Some(late));
    let news = bench.broker.runs_mut().take_news();
    assert!(
        matches!(news[..], [News::EndedLate(id, _, end)] if (id, end) == (it.id, late)),
        "{news:?}"
    );
    // A second end of a call, and any other message, finds no receiver.
    assert_eq!(bench.broker.counters().strays_dropped, 2);
}

#[test]
fn an_app_has_the_relay_remember_so_many_calls_of_agents_that_have_left() {
    let mut bench = Bench::session();
    let mut rounds = Vec::new();
    for round in 0..2 {
        for id in 0..600 {
            cancelled(&mut bench, &format!("{round} {id}"), None, None);
        }
        let relayed = bench.relayed(2, call("x", &format!("other {round}")));
        bench.send(1, answer(&relayed, CALL_RESULT, json!({ "success": true })));
        rounds.push(relayed);
        bench.gone(2);
        bench.agent(2, None);
        let relayed = bench.relayed(2, request("initialize", "i", json!({})));
        let session = json!({ "sessionId": "s" });
        bench.send(1, answer(&relayed, "initialize-result", session));
    }
    for (id, known) in [("0 175", false), ("0 176", true), ("1 599", true)] {
        let round = &rounds[usize::from(id.starts_with('1'))];
        bench.send(1, answer(round, "notification", ended(id, true, 5.0)));
        assert_eq!(bench.run(id).late_end.is_some(), known, "{id}");
    }
}

#[test]
fn the_callid_of_a_call_that_its_app_never_started_may_be_used_again_in_a_new_session() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let cancelling = bench.relayed(2, cancel("2", "c"));
    let never = json!({ "stop": "never-started" });
    let said = json!({ "callId": "c", "cancelled": true, "metadata": never });
    bench.send(1, answer(&cancelling, "capabilities/cancel-result", said));
    let said = json!({ "success": false, "cancelled": true, "metadata": never });
    bench.send(1, answer(&calling, "capabilities/call-result", said));
    let goodbye = bench.relayed(2, request("shutdown", "3", json!({})));
    bench.send(1, answer(&goodbye, "shutdown-result", json!({})));
    let hello = bench.relayed(2, request("initialize", "4", json!({})));
    bench.send(1, answer(&hello, "initialize-result", json!({})));
    bench.relayed(2, call("5", "c"));
}
