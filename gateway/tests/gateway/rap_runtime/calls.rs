//! Calls of tools and their results.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_is_found_called_and_answers() {
    let mut tools = Tools::start("demo tools").await;
    let server = format!("s3cret@{}/", tools.base);
    let (gateway, metrics) = gateway(&[&server], quick()).await;
    let counters = &metrics.tool_servers;
    let mut agent = agent(&gateway, "demo-tools").await;
    agent.send(work("c1", json!({}))).await;
    let received = soon("the invocation", tools.received.recv()).await.unwrap();
    assert_eq!(
        (&*received.path, received.authorization.as_deref()),
        ("/base/invoke", Some("Bearer s3cret"))
    );
    let invoked = Invoked(received.body);
    assert_eq!(
        (
            &invoked.0["operation"],
            &invoked.0["arguments"],
            &invoked.0["call_id"]
        ),
        (&json!("work"), &json!({ "n": 1 }), &json!("c1"))
    );
    assert!(
        invoked
            .callback()
            .starts_with(&format!("http://{}/rap/callback/", gateway.address))
    );
    invoked
        .answer(json!({ "text": "{\"pages\":3}", "call_id": "c1" }))
        .await;
    let result = outcome(&mut agent, "c1").await;
    assert_eq!(
        (&result["success"], &result["data"]),
        (&json!(true), &json!({ "pages": 3 }))
    );
    // Another call in the same thread.
    agent.send(work("c2", json!({}))).await;
    let second = tools.invoked().await;
    assert_eq!(second.0["group_id"], invoked.0["group_id"]);
    assert_ne!(second.0["id"], invoked.0["id"]);
    second
        .answer(json!({ "text": "Error: the disk is full" }))
        .await;
    let result = outcome(&mut agent, "c2").await;
    assert_eq!(
        (&result["error"]["code"], &result["error"]["message"]),
        (&json!("OPERATION_FAILED"), &json!("the disk is full"))
    );
    // Another agent has another thread. The result is a picture.
    let mut other = self::agent(&gateway, "demo-tools").await;
    other.send(work("c1", json!({}))).await;
    let third = tools.invoked().await;
    assert_ne!(third.0["group_id"], invoked.0["group_id"]);
    third
        .answer(
            json!({ "content": [{ "type": "image", "data": "AA==", "mediaType": "image/png" }] }),
        )
        .await;
    let binary = json!({ "content": "AA==", "mimeType": "image/png", "encoding": "base64" });
    assert_eq!(outcome(&mut other, "c1").await["data"], binary);
    agent
        .send(request(
            "capabilities/call",
            "x",
            json!({ "capability": "none" }),
        ))
        .await;
    assert_eq!(
        outcome(&mut agent, "x").await["error"]["code"],
        "UNKNOWN_CAPABILITY"
    );
    assert_eq!((counters.invocations.get(), counters.results.get()), (3, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_nobody_waits_for_are_taken_and_dropped() {
    let mut tools = Tools::start("t").await;
    let (gateway, metrics) = gateway(&[&tools.base], quick()).await;
    let counters = &metrics.tool_servers;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    let callback = invoked.callback();
    // Results of another thread, of no call, and of no tool server, and a body that is not a callback.
    let mut foreign = invoked.result(json!({ "text": "foreign" }));
    foreign["group_id"] = "another".into();
    assert_eq!(post(callback, &foreign).await, 200);
    let mut unknown = invoked.result(json!({ "text": "unknown" }));
    unknown["id"] = "another".into();
    assert_eq!(post(callback, &unknown).await, 200);
    let guessed = format!(
        "http://{}/rap/callback/guessed/{}",
        gateway.address,
        invoked.0["id"].as_str().unwrap()
    );
    assert_eq!(
        post(&guessed, invoked.result(json!({ "text": "guessed" }))).await,
        404
    );
    for malformed in [
        "",
        "{",
        "[]",
        "7",
        "{}",
        r#"{"type":"tool_result"}"#,
        r#"{"type":"tool_result","id":"../x","group_id":"g","text":""}"#,
    ] {
        assert_eq!(post(callback, malformed).await, 400, "{malformed}");
    }
    invoked.answer(json!({ "text": "first" })).await;
    assert_eq!(outcome(&mut agent, "c").await["data"], "first");
    invoked.answer(json!({ "text": "second" })).await;
    until("three to be dropped", || {
        counters.results_dropped.get() == 3
    })
    .await;
    assert_eq!(
        (counters.results.get(), counters.callbacks_refused.get()),
        (1, 7)
    );
    // The agent hears of none of these.
    agent.send(request("shutdown", "bye", json!({}))).await;
    assert_eq!(agent.next().await["type"], "shutdown-result");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_too_large_fails_its_call() {
    let mut tools = Tools::start("t").await;
    let tool_servers = RuntimeConfig {
        servers: vec![tools.base.parse().unwrap()],
        public: None,
        limits: quick(),
    };
    let mut config = Config {
        tool_servers,
        ..config()
    };
    config.limits.message_bytes = 10_000;
    let gateway = Gateway::with(config).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    let large = invoked.result(json!({ "text": "x".repeat(10_000) }));
    assert_eq!(post(invoked.callback(), large).await, 413);
    let error = &outcome(&mut agent, "c").await["error"];
    assert_eq!(error["code"], "OPERATION_FAILED");
    assert!(
        error["message"].as_str().unwrap().contains("10000 bytes"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_at_once_are_each_answered() {
    let mut tools = Tools::start("t").await;
    let (gateway, metrics) = gateway(&[&tools.base], quick()).await;
    let counters = &metrics.tool_servers;
    let mut agent = agent(&gateway, "t").await;
    const CALLS: usize = 1_000;
    for number in 0..CALLS {
        agent.send(work(&number.to_string(), json!({}))).await;
    }
    for _ in 0..CALLS {
        let invoked = tools.invoked().await;
        let result = invoked.result(json!({ "text": invoked.0["call_id"] }));
        let sent = CLIENT
            .post(invoked.callback())
            .body(result.to_string())
            .send()
            .await;
        assert_eq!(sent.unwrap().status(), 200);
    }
    for _ in 0..CALLS {
        let result = agent.next().await;
        assert_eq!(result["payload"]["data"], result["id"]);
    }
    assert_eq!(counters.results.get(), CALLS as u64);
    assert_eq!(gateway.hub.readings().in_flight, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_server_keeps_the_rules_of_a_call_as_a_page_does() {
    let mut tools = Tools::start("t").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    let who = json!({ "agent": { "name": "a", "version": "1" }, "protocolVersion": "0.1" });
    agent.send(request("initialize", "again", who)).await;
    assert_eq!(code(&agent.next().await), "ALREADY_INITIALIZED");
    // What is wrong with a call is said, and no tool server hears of the call.
    for (id, payload, path) in [
        ("a", json!({ "capability": "work", "params": [] }), "params"),
        (
            "b",
            json!({ "capability": "work", "options": { "timeout": -1 } }),
            "options.timeout",
        ),
        ("c", json!({ "capability": 7 }), "capability"),
    ] {
        agent.send(request("capabilities/call", id, payload)).await;
        let error = outcome(&mut agent, id).await["error"].take();
        assert_eq!(
            (&error["code"], &error["details"]["path"]),
            (&json!("INVALID_PARAMS"), &json!(path))
        );
    }
    let misspelt = json!({ "capability": "worx" });
    agent
        .send(request("capabilities/call", "d", misspelt))
        .await;
    let error = outcome(&mut agent, "d").await["error"].take();
    assert_eq!(
        (&error["code"], &error["alternatives"]),
        (&json!("UNKNOWN_CAPABILITY"), &json!(["work"]))
    );
    agent.send(cancel("x", "none")).await;
    let unknown = agent.next().await["payload"].take();
    let expected = json!({ "callId": "none", "cancelled": false, "reason": "Operation not found" });
    assert_eq!(unknown, expected);
    // A callId is used once, whether its call runs or has ended.
    agent.send(work("e", json!({}))).await;
    let invoked = tools.invoked().await;
    let again = json!({ "capability": "work", "options": { "callId": "e" } });
    for id in ["f", "g"] {
        agent
            .send(request("capabilities/call", id, again.clone()))
            .await;
        let error = outcome(&mut agent, id).await["error"].take();
        assert_eq!(error["code"], "INVALID_PARAMS");
        if id == "f" {
            invoked.answer(json!({ "text": "done" })).await;
            assert_eq!(outcome(&mut agent, "e").await["data"], "done");
        }
    }
    agent.send(cancel("x", "e")).await;
    let over = agent.next().await["payload"].take();
    let expected =
        json!({ "callId": "e", "cancelled": false, "reason": "Operation already completed" });
    assert_eq!(over, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_calls_no_tool_that_it_has_not_requested() {
    let tools = Tools::start("t").await;
    *tools.wishes.toolset.lock().unwrap() = toolset("t", &tools.base, &["play", "rest"]);
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let hub = &gateway.hub;
    until("the app", || hub.manifest(Some("t")).is_ok()).await;
    let mut agent = gateway.peer("/abp?app=t").await;
    let who = json!({
        "agent": { "name": "a", "version": "1" }, "protocolVersion": "0.1",
        "requestedCapabilities": ["rest"],
    });
    agent.send(request("initialize", "init", who)).await;
    let opened = agent.next().await["payload"].take();
    let offered = json!([{ "name": "rest", "available": true }]);
    assert_eq!(opened["capabilities"], offered);
    let play = json!({ "capability": "play" });
    agent.send(request("capabilities/call", "1", play)).await;
    let error = outcome(&mut agent, "1").await["error"].take();
    assert_eq!(error["code"], "UNKNOWN_CAPABILITY");
    // It is told of changes that concern it, and of no others.
    *tools.wishes.toolset.lock().unwrap() = toolset("t", &tools.base, &["work"]);
    let told = agent.next().await["payload"].take();
    let data = json!({ "added": [], "removed": ["rest"], "changed": [] });
    assert_eq!(told["data"], data);
}
