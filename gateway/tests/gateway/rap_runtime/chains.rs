//! Tool servers behind other tool servers.

use caphost_gateway::RapOptions;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rap_runtime_calls_and_cancels_through_the_gateway() {
    let mut tools = Tools::start("t").await;
    let mut caller = Tools::start("caller").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    agent(&gateway, "t").await;
    tools.next("/base/close_thread").await;
    let at = |path: &str| format!("http://{}/rap/t/{path}", gateway.address);
    let callback = format!("{}/callback", caller.base);
    let invocation = |id: &str| {
        json!({ "operation": "work", "arguments": {}, "id": id, "group_id": "thread",
                "callback_url": callback })
    };
    assert_eq!(post(&at("invoke"), invocation("one")).await, 200);
    let invoked = tools.invoked().await;
    assert_ne!(invoked.0["group_id"], "thread");
    invoked.answer(json!({ "text": "done" })).await;
    assert_eq!(caller.next("/base/callback").await["text"], "done");
    assert_eq!(post(&at("invoke"), invocation("two")).await, 200);
    let invoked = tools.invoked().await;
    let notice = json!({ "thread_id": "thread", "tool_call_id": "two" });
    assert_eq!(post(&at("cancel_tool_call"), notice).await, 200);
    assert_eq!(
        tools.next("/base/cancel_tool_call").await,
        invoked.cancelled()
    );
    let text = caller.next("/base/callback").await["text"].clone();
    assert!(text.as_str().unwrap().contains("cancelled"), "{text}");
    let closing = json!({ "thread_id": "thread" });
    assert_eq!(post(&at("close_thread"), closing).await, 200);
    assert_eq!(tools.next("/base/close_thread").await, invoked.closed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_of_one_gateway_is_called_through_another() {
    let tokens = ["app=its-app", "agent=its-agent"].map(|token| token.parse().unwrap());
    // The other gateway is on this machine.
    let rap = RapOptions {
        callback_allow: vec!["127.0.0.1".parse().unwrap()],
        ..RapOptions::default()
    };
    let first = Gateway::with(Config {
        tokens: Tokens::new(tokens.to_vec()),
        rap,
        ..config()
    })
    .await;
    let mut app = first.peer("/abp/app?token=its-app").await;
    app.send(register("far")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let base = format!("http://{}/rap/far", first.address);
    let strangers = [base.clone(), format!("wrong@{base}")];
    let (closed, _) = gateway(&[&strangers[0], &strangers[1]], quick()).await;
    let (second, _) = gateway(&[&format!("its-agent@{base}")], quick()).await;
    let mut agent = agent(&second, "far").await;
    let call = |id: &str, params: Value| {
        let payload = json!({ "capability": "a_b", "params": params, "options": { "callId": id } });
        request("capabilities/call", id, payload)
    };
    agent.send(call("c", json!({ "n": 1 }))).await;
    let opening = app.next().await;
    assert_eq!(opening["type"], "initialize");
    app.send(answer(
        &opening,
        "initialize-result",
        json!({ "sessionId": "s" }),
    ))
    .await;
    let called = app.next().await;
    assert_eq!(
        (
            &called["payload"]["capability"],
            &called["payload"]["params"]
        ),
        (&json!("a.b"), &json!({ "n": 1 }))
    );
    let data = json!({ "content": "AAAA", "mimeType": "application/zip", "encoding": "base64", "size": 3 });
    app.send(answer(
        &called,
        "capabilities/call-result",
        json!({ "success": true, "data": data }),
    ))
    .await;
    assert_eq!(outcome(&mut agent, "c").await["data"], data);
    // The call is first stopped from this side, and then from the other side.
    agent.send(call("d", json!({}))).await;
    let called = app.next().await;
    agent.send(cancel("x", "d")).await;
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    assert_eq!(outcome(&mut agent, "d").await["cancelled"], true);
    let cancelling = app.next().await;
    assert_eq!(cancelling["type"], "capabilities/cancel");
    assert_eq!(
        cancelling["payload"]["callId"],
        called["payload"]["options"]["callId"]
    );
    let stopped = json!({ "success": false, "cancelled": true });
    app.send(answer(&called, "capabilities/call-result", stopped.clone()))
        .await;
    // The work has ended on the other gateway. Here this is the end of an abandoned call.
    let told = agent.next().await;
    let data = &told["payload"]["data"];
    assert_eq!(
        (&told["payload"]["event"], &data["callId"]),
        (&json!("notifications/call/ended"), &json!("d"))
    );
    agent.send(call("e", json!({}))).await;
    let called = app.next().await;
    app.send(answer(&called, "capabilities/call-result", stopped.clone()))
        .await;
    assert_eq!(
        outcome(&mut agent, "e").await,
        crate::support::stopped(json!({ "success": false }), "abandoned")
    );
    assert!(closed.hub.manifest(Some("far")).is_err());
}
