use serde_json::json;

use super::*;

#[test]
fn an_app_registers_first_once_and_well() {
    let mut bench = Bench::with(
        Limits::default(),
        Tokens::new(vec!["app=secret".parse().unwrap()]),
    );
    let join = |bench: &mut Bench, peer| {
        bench.event(Event::AppJoined {
            peer: PeerId(peer),
            identity: None,
            seat: Seat::Connected,
        })
    };
    join(&mut bench, 1);
    assert_eq!(
        code(only(
            &bench.send(1, json!({ "type": "app/update", "payload": {} })),
            1
        )),
        "NOT_INITIALIZED"
    );
    let mut good = register("demo");
    good["payload"]["token"] = json!("secret");
    assert_eq!(
        only(&bench.send(1, good.clone()), 1)["payload"],
        json!({ "appId": "demo", "updates": "differences" })
    );
    assert_eq!(
        code(only(&bench.send(1, good.clone()), 1)),
        "ALREADY_INITIALIZED"
    );

    let mut bads = Vec::new();
    for (pointer, value) in [
        ("/payload/token", json!("wrong")),
        ("/payload/token", json!(7)),
        ("/payload/app/id", json!("")),
        ("/payload/app/id", json!("a\nb")),
        ("/payload/app/id", json!("x".repeat(257))),
        ("/payload/app", json!([])),
        ("/payload/capabilities", json!({})),
        ("/payload/capabilities/0/name", json!(1)),
        ("/payload/capabilities/0/name", json!("")),
        ("/payload/capabilities/0/name", json!("x".repeat(257))),
        ("/timestamp", json!("x")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        bads.push(bad);
    }
    bads.push(register("demo"));
    for (bad, peer) in bads.into_iter().zip(10..) {
        join(&mut bench, peer);
        let seen = bench.send(peer, bad.clone());
        assert!(
            matches!(&seen[0], Seen::Message(_, message) if message["type"] == "app/refused"),
            "{bad} {seen:?}"
        );
        assert_eq!(seen[1], Seen::Closed(peer, 1008));
    }
    join(&mut bench, 50);
    let seen = bench.event(Event::RegisterTimeout { peer: PeerId(50) });
    assert_eq!(seen[1], Seen::Closed(50, 1008));
    assert!(
        bench
            .event(Event::RegisterTimeout { peer: PeerId(1) })
            .is_empty()
    );
}

/// The answer to an app that sends this registration.
fn registers(registration: &Value) -> Value {
    let mut bench = Bench::new();
    bench.event(Event::AppJoined {
        peer: PeerId(1),
        identity: Some(Identity::anyone()),
        seat: Seat::Connected,
    });
    match &bench.send(1, registration.clone())[..] {
        [Seen::Message(1, told), ..] => told.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_name_of_a_capability_is_offered_once() {
    let mut twice = register("demo");
    twice["payload"]["capabilities"] = json!([{ "name": "a" }, { "name": "b" }, { "name": "a" }]);
    let refused = registers(&twice);
    let path = &refused["payload"]["error"]["details"]["path"];
    assert_eq!(
        (code(&refused), path),
        ("INVALID_PARAMS", &json!("capabilities[2].name"))
    );
}

#[test]
fn names_are_taken_that_a_page_takes() {
    let mut odd = register(&"i".repeat(256));
    odd["payload"]["capabilities"] = json!([{ "name": "é".repeat(256) }, { "name": "a\nb" }]);
    assert_eq!(registers(&odd)["type"], "app/registered");
}

#[test]
fn a_malformed_message_of_an_app_disturbs_nothing_else() {
    let mut bench = Bench::session();
    let waiting = bench.relayed(3, call("wait", "w"));
    let agent = waiting["agent"].as_str().unwrap().to_string();
    let no_agent = json!({ "type": "progress", "payload": {} });
    for (text, expected) in [
        ("garbage".to_string(), "INVALID_PARAMS"),
        (no_agent.to_string(), "INVALID_PARAMS"),
        (
            json!({ "type": "nonsense", "agent": agent, "payload": {} }).to_string(),
            "NOT_IMPLEMENTED",
        ),
        (
            json!({ "type": "initialize", "payload": {} }).to_string(),
            "NOT_IMPLEMENTED",
        ),
        (
            json!({ "type": "progress", "agent": agent, "payload": 7 }).to_string(),
            "INVALID_PARAMS",
        ),
        (
            json!({ "type": "elicitation/request", "agent": agent, "payload": {} }).to_string(),
            "INVALID_PARAMS",
        ),
        (
            json!({ "type": "app/update", "payload": { "capabilities": 7 } }).to_string(),
            "INVALID_PARAMS",
        ),
    ] {
        let seen = bench.text(1, &text);
        assert_eq!(
            (only(&seen, 1)["type"].as_str(), code(only(&seen, 1))),
            (Some("error"), expected),
            "{text}"
        );
    }
    // An error is not answered with an error.
    assert!(
        bench
            .send(1, json!({ "type": "error", "id": null, "payload": {} }))
            .is_empty()
    );
    assert!(
        bench
            .text(1, r#"{"type":"error","timestamp":"x","payload":{}}"#)
            .is_empty()
    );
    goes_on(&mut bench, 2);
    only(
        &bench.send(
            1,
            answer(
                &waiting,
                "capabilities/call-result",
                json!({ "success": true }),
            ),
        ),
        3,
    );
}

#[test]
fn an_answer_that_cannot_be_relayed_settles_its_request() {
    let mut bench = Bench::session();
    let first = bench.relayed(2, call("1", "c"));
    let second = bench.relayed(2, cancel("2", "c"));
    let third = bench.relayed(2, call("3", "d"));
    let seen = bench.send(
        1,
        answer(&first, "capabilities/call-result", json!("no object")),
    );
    assert!(
        matches!(&seen[0], Seen::Message(2, it) if it["id"] == "1" && code(it) == "TRANSPORT_ERROR")
    );
    assert!(matches!(&seen[1], Seen::Message(1, it) if it["type"] == "error"));
    bench.limits.message_bytes = 1_000;
    let large = answer(
        &second,
        "capabilities/cancel-result",
        json!({ "callId": "c", "cancelled": true }),
    );
    let large = large
        .to_string()
        .replacen('{', &format!(r#"{{"pad":"{}","#, "x".repeat(1_000)), 1);
    let seen = bench.text(1, &large);
    assert!(
        matches!(&seen[0], Seen::Message(2, it) if it["id"] == "2" && it["payload"]["cancelled"] == false && code(it) == "TRANSPORT_ERROR")
    );
    let refused = answer(
        &third,
        "error",
        json!({ "success": false, "error": { "code": "NOT_IMPLEMENTED" } }),
    );
    let seen = bench.send(1, refused);
    assert_eq!(
        (only(&seen, 2)["type"].as_str(), code(only(&seen, 2))),
        (Some("capabilities/call-result"), "NOT_IMPLEMENTED")
    );
    assert_eq!(bench.broker.in_flight(), 0);
}

/// The effects of a registration of an app that shows that token.
fn registered(bench: &mut Bench, peer: u64, id: &str, token: &str) -> Vec<Seen> {
    bench.event(Event::AppJoined {
        peer: PeerId(peer),
        identity: None,
        seat: Seat::Connected,
    });
    let mut message = register(id);
    message["payload"]["token"] = json!(token);
    bench.send(peer, message)
}

#[test]
fn an_app_id_with_a_token_of_its_own_is_not_for_an_unscoped_token() {
    let tokens = ["app@shop=shop", "app=any", "admin=root", "agent@desk=desk"];
    let tokens = tokens.iter().map(|it| it.parse().unwrap()).collect();
    let mut bench = Bench::with(Limits::default(), Tokens::new(tokens));
    let seen = registered(&mut bench, 1, "shop", "any");
    assert!(
        matches!(&seen[0], Seen::Message(1, it) if it["type"] == "app/refused" && code(it) == "PERMISSION_DENIED"),
        "{seen:?}"
    );
    assert_eq!(seen[1], Seen::Closed(1, 1008));
    for (peer, id, token) in [(2, "shop", "shop"), (3, "shop", "root"), (4, "desk", "any")] {
        let seen = registered(&mut bench, peer, id, token);
        let last = seen.last();
        assert!(
            matches!(last, Some(Seen::Message(to, it)) if *to == peer && it["type"] == "app/registered"),
            "{seen:?}"
        );
    }
}

#[test]
fn a_connection_that_loses_the_new_sessions_of_an_app_is_told() {
    let tokens = ["app=one", "app=two"].map(|it| it.parse().unwrap());
    let mut bench = Bench::with(Limits::default(), Tokens::new(tokens.into()));
    let seen = registered(&mut bench, 1, "shop", "one");
    assert_eq!(only(&seen, 1)["type"], "app/registered");
    for (peer, token, was, by) in [(2, "one", "app-0", "app-0"), (3, "two", "app-0", "app-1")] {
        let seen = registered(&mut bench, peer, "shop", token);
        let superseded = Seen::Superseded(peer - 1, "shop".into(), was.into(), by.into());
        assert_eq!(seen[0], superseded, "{seen:?}");
    }
}

#[test]
fn without_tokens_each_connection_counts_for_itself() {
    let mut bench = Bench::new();
    bench.app(1, "shop");
    let seen = bench.app(2, "shop");
    let superseded = Seen::Superseded(1, "shop".into(), "anyone".into(), "anyone".into());
    assert_eq!(seen[0], superseded, "{seen:?}");
}
