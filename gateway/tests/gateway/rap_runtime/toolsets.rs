//! Tool servers that come, change and go.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_toolset_that_changes_is_told_and_a_server_that_is_gone_leaves() {
    let mut tools = Tools::start("t").await;
    let limits = RuntimeLimits {
        gone_after: Duration::from_millis(100),
        ..quick()
    };
    let (gateway, _) = gateway(&[&tools.base], limits).await;
    let mut agent = agent(&gateway, "t").await;
    *tools.wishes.toolset.lock().unwrap() = toolset("t", &tools.base, &["play", "rest"]);
    let told = agent.next().await;
    let data = json!({ "added": ["play", "rest"], "removed": ["work"], "changed": [] });
    assert_eq!(
        told["payload"],
        json!({ "event": "notifications/capabilities/list_changed", "data": data })
    );
    let manifest = gateway.hub.manifest(Some("t")).unwrap();
    let manifest = String::from_utf8_lossy(&manifest);
    assert!(manifest.contains("rest") && !manifest.contains("work"));
    agent
        .send(request(
            "capabilities/call",
            "1",
            json!({ "capability": "play" }),
        ))
        .await;
    assert_eq!(tools.invoked().await.0["operation"], "play");
    // One invalid tool makes the whole toolset invalid. The former toolset stays for a while.
    let address = tools
        .base
        .trim_start_matches("http://")
        .trim_end_matches("/base")
        .to_string();
    tools.stop().await;
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(agent.closed().await, 4001);
    assert!(gateway.hub.manifest(Some("t")).is_err());
    let mut back = Tools::at("t", &address).await;
    let mut agent = self::agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    // Earlier notifications may still be on their way.
    let invoked = loop {
        let received = soon("the invocation", back.received.recv()).await.unwrap();
        if received.path == "/base/invoke" {
            break Invoked(received.body);
        }
    };
    invoked.answer(json!({ "text": "back" })).await;
    assert_eq!(outcome(&mut agent, "c").await["data"], "back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_toolset_is_not_offered_and_names_that_clash_get_numbers() {
    let bad = Tools::start("bad").await;
    bad.wishes.toolset.lock().unwrap()["tools"][0]["name"] = "a b".into();
    let (one, two) = (Tools::start("same").await, Tools::start("same").await);
    let (gateway, _) = gateway(&[&bad.base, &one.base, &two.base], quick()).await;
    agent(&gateway, "same").await;
    agent(&gateway, "same-2").await;
    assert!(gateway.hub.manifest(Some("bad")).is_err());
    *bad.wishes.toolset.lock().unwrap() = toolset("bad", &bad.base, &["work"]);
    agent(&gateway, "bad").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_told_what_there_is_to_be_called() {
    let tools = Tools::start("demo tools").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut stranger = gateway.peer("/abp?app=demo-tools").await;
    stranger
        .send(request("capabilities/list", "1", json!({})))
        .await;
    assert_eq!(code(&stranger.next().await), "NOT_INITIALIZED");
    let mut agent = agent(&gateway, "demo-tools").await;
    agent
        .send(request("capabilities/list", "1", json!({})))
        .await;
    let told = agent.next().await;
    assert_eq!(told["type"], "capabilities/list-result");
    let expected = json!({
        "name": "work", "description": "d", "available": true, "requirements": [], "features": {},
        "inputSchema": { "type": "object" }, "outputSchema": {},
    });
    assert_eq!(told["payload"]["capabilities"], json!([expected]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_toolset_of_many_tiny_tools_is_offered() {
    let tools = Tools::start("t").await;
    let tiny = (0..10_000).map(|name| json!({ "name": name.to_string(), "inputSchema": {} }));
    let mut many = toolset("t", &tools.base, &[]);
    many["tools"] = tiny.collect();
    *tools.wishes.toolset.lock().unwrap() = many;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent
        .send(request("capabilities/list", "1", json!({})))
        .await;
    let told = agent.next().await;
    let capabilities = told["payload"]["capabilities"].as_array().unwrap();
    assert_eq!(capabilities.len(), 10_000);
    assert_eq!(capabilities[0]["description"], "");
}
