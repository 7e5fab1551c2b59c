use serde_json::json;

use super::*;

#[test]
fn clashing_ids_of_two_agents_are_kept_apart() {
    let mut bench = Bench::session();
    let of_2 = bench.relayed(2, call("same", "c"));
    let of_3 = bench.relayed(3, call("same", "c"));
    assert_ne!(of_2["id"], of_3["id"]);
    assert_ne!(of_2["agent"], of_3["agent"]);
    assert_eq!(
        of_2["payload"],
        json!({ "capability": "a.b", "options": { "callId": "c" } })
    );
    let done = |data| json!({ "success": true, "data": data });
    let seen = bench.send(1, answer(&of_3, "capabilities/call-result", done(3)));
    assert_eq!(only(&seen, 3)["payload"]["data"], 3);
    assert_eq!(only(&seen, 3)["id"], "same");
    assert!(only(&seen, 3).get("agent").is_none());
    let seen = bench.send(1, answer(&of_2, "capabilities/call-result", done(2)));
    assert_eq!(only(&seen, 2)["payload"]["data"], 2);
    assert_eq!(bench.broker.in_flight(), 0);
}

#[test]
fn ids_come_back_as_they_were_written() {
    let mut bench = Bench::session();
    for id in [json!(0), json!(""), json!(1), json!("1"), json!("ü\"\\")] {
        let mut message = call("", "c");
        message["id"] = id.clone();
        let relayed = bench.relayed(2, message);
        let seen = bench.send(
            1,
            answer(
                &relayed,
                "capabilities/call-result",
                json!({ "success": true }),
            ),
        );
        assert_eq!(only(&seen, 2)["id"], id);
    }
    let mut message = call("", "c");
    message.as_object_mut().unwrap().remove("id");
    let relayed = bench.relayed(2, message);
    let seen = bench.send(
        1,
        answer(
            &relayed,
            "capabilities/call-result",
            json!({ "success": true }),
        ),
    );
    assert!(only(&seen, 2).get("id").is_none());
}

#[test]
fn one_and_the_string_one_are_different_ids_in_flight() {
    let mut bench = Bench::session();
    let mut numeric = call("", "a");
    numeric["id"] = json!(1);
    bench.relayed(2, numeric);
    bench.relayed(2, call("1", "b"));
    assert_eq!(bench.broker.in_flight(), 2);
}

#[test]
fn a_cancel_result_stays_before_its_call_result() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let cancelling = bench.relayed(2, cancel("2", "c"));
    let mut seen = bench.send(
        1,
        answer(
            &cancelling,
            "capabilities/cancel-result",
            json!({ "callId": "c", "cancelled": true }),
        ),
    );
    seen.extend(bench.send(
        1,
        answer(
            &calling,
            "capabilities/call-result",
            json!({ "success": false, "cancelled": true }),
        ),
    ));
    let ids: Vec<_> = seen
        .iter()
        .map(|it| match it {
            Seen::Message(2, message) => message["id"].clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, ["2", "1"]);
}

#[test]
fn a_question_and_its_answer_are_re_issued() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let seen = bench.send(1, json!({ "type": "elicitation/request", "id": 9, "agent": calling["agent"], "payload": { "q": 1 } }));
    let asked = only(&seen, 2).clone();
    assert_ne!(asked["id"], 9);
    let reply = json!({ "type": "elicitation/response", "id": asked["id"], "payload": { "success": true } });
    // Another agent cannot answer the question.
    assert!(bench.send(3, reply.clone()).is_empty());
    let seen = bench.send(2, reply.clone());
    assert_eq!(only(&seen, 1)["id"], 9);
    assert_eq!(only(&seen, 1)["agent"], calling["agent"]);
    assert!(bench.send(2, reply).is_empty());
    assert_eq!(bench.broker.counters().answers_dropped, 2);
}

#[test]
fn a_question_withdrawn_is_named_by_the_id_its_agent_knows() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let agent = &calling["agent"];
    let seen = bench.send(
        1,
        json!({ "type": "elicitation/request", "id": "q", "agent": agent, "payload": {} }),
    );
    let asked = only(&seen, 2)["id"].clone();
    let withdraw = json!({ "type": "notification", "agent": agent, "payload": {
        "event": "notifications/elicitation/withdrawn", "data": { "id": "q" } } });
    let seen = bench.send(1, withdraw.clone());
    assert_eq!(only(&seen, 2)["payload"]["data"]["id"], asked);
    assert!(bench.send(1, withdraw).is_empty());
    assert_eq!(bench.broker.in_flight(), 1, "only the call is left");
}

#[test]
fn progress_and_notifications_reach_their_agent_only() {
    let mut bench = Bench::session();
    let calling = bench.relayed(3, call("1", "c"));
    for kind in ["progress", "notification"] {
        let seen = bench.send(
            1,
            json!({ "type": kind, "agent": calling["agent"], "payload": { "event": "e" } }),
        );
        assert_eq!(only(&seen, 3)["type"], kind);
        assert_eq!(only(&seen, 3)["timestamp"], 1_000);
    }
}

#[test]
fn new_sessions_go_to_the_most_recent_connection_of_an_app() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    bench.agent(10, Some("demo"));
    let to = |seen: Vec<Seen>| match &seen[..] {
        [Seen::Message(peer, _)] => *peer,
        other => panic!("{other:?}"),
    };
    assert_eq!(to(bench.send(10, request("initialize", "1", json!({})))), 1);
    bench.app(2, "demo");
    bench.agent(11, None);
    assert_eq!(to(bench.send(11, request("initialize", "1", json!({})))), 2);
    // The older session stays on its instance, even for another `initialize`.
    assert_eq!(to(bench.send(10, request("initialize", "2", json!({})))), 1);
    bench.gone(2);
    bench.agent(12, None);
    assert_eq!(to(bench.send(12, request("initialize", "1", json!({})))), 1);
}

#[test]
fn an_app_must_be_connected_and_named_when_there_are_several() {
    let mut bench = Bench::new();
    bench.agent(10, Some("other"));
    bench.agent(11, None);
    let initialize = || request("initialize", "1", json!({}));
    let seen = bench.send(10, initialize());
    let error = &only(&seen, 10)["payload"]["error"];
    assert_eq!(error["code"], "DISCONNECTED");
    assert_eq!(error["message"], "No app with id \"other\" is connected");
    assert_eq!(error["retryable"], true);
    assert_eq!(
        code(only(&bench.send(11, initialize()), 11)),
        "DISCONNECTED"
    );
    bench.app(1, "demo");
    bench.app(2, "other");
    let seen = bench.send(11, initialize());
    assert_eq!(code(only(&seen, 11)), "INVALID_PARAMS");
    assert_eq!(
        only(&seen, 11)["payload"]["error"]["details"]["apps"],
        json!(["demo", "other"])
    );
    // The socket stayed open, so the agent that was too early tries again.
    only(&bench.send(10, initialize()), 2);
}

#[test]
fn the_manifest_is_that_of_the_app_connected() {
    let mut bench = Bench::new();
    let manifest = |bench: &Bench, app| {
        let text = bench.broker.apps().shown(app).ok()?.0.manifest();
        Some(serde_json::from_str::<Value>(&text).unwrap())
    };
    assert_eq!(manifest(&bench, None), None);
    bench.app(1, "other");
    let shown = manifest(&bench, None).unwrap();
    assert_eq!(
        (&shown["abp"], &shown["app"]["id"]),
        (&json!("0.1"), &json!("other"))
    );
    bench.app(2, "third");
    assert_eq!(manifest(&bench, None), None);
    bench.app(3, "caphost-demo");
    assert_eq!(manifest(&bench, None).unwrap()["app"]["id"], "caphost-demo");
    assert_eq!(
        manifest(&bench, Some("third")).unwrap()["app"]["id"],
        "third"
    );
    assert_eq!(manifest(&bench, Some("none")), None);
    bench.send(
        2,
        json!({ "type": "app/update", "payload": { "capabilities": [{ "name": "new" }] } }),
    );
    let updated = manifest(&bench, Some("third")).unwrap();
    assert_eq!(updated["capabilities"], json!([{ "name": "new" }]));
}
