//! `capabilities/list`: an agent asks its app for its capabilities.

use serde_json::{Value, json};

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_asks_for_comes_from_the_app_as_it_is() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent
        .send(request("capabilities/list", "list-1", json!({})))
        .await;
    let asked = app.next().await;
    assert_eq!(
        (&asked["type"], &asked["payload"]),
        (&json!("capabilities/list"), &json!({}))
    );
    let payload = json!({ "capabilities": [
        { "name": "a.b", "available": true, "requirements": [1], "cancelled": true, "more": { "x": null } },
    ] });
    app.send(answer(&asked, "capabilities/list-result", payload.clone()))
        .await;
    let told = agent.next().await;
    assert_eq!(
        (&told["type"], &told["id"], &told["payload"]),
        (
            &json!("capabilities/list-result"),
            &json!("list-1"),
            &payload
        )
    );
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_cannot_be_had_is_an_error_of_its_own() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut stranger = gateway.agent().await;
    stranger
        .send(request("capabilities/list", "1", json!({})))
        .await;
    let refused = stranger.next().await;
    let typed = |message: &Value| {
        assert_eq!(message["type"], "capabilities/list-result", "{message}");
        assert!(message["payload"].get("success").is_none(), "{message}");
        code(message).to_string()
    };
    assert_eq!(typed(&refused), "NOT_INITIALIZED");
    // An app that does not know this message.
    agent
        .send(request("capabilities/list", "1", json!({})))
        .await;
    let asked = app.next().await;
    let error = json!({ "code": "NOT_IMPLEMENTED", "message": "What?", "retryable": false });
    app.send(answer(
        &asked,
        "error",
        json!({ "success": false, "error": error }),
    ))
    .await;
    assert_eq!(typed(&agent.next().await), "NOT_IMPLEMENTED");
    // An app that goes away meanwhile: the request has no outcome that could be unknown.
    agent
        .send(request("capabilities/list", "2", json!({})))
        .await;
    app.next().await;
    drop(app);
    let lost = agent.next().await;
    assert_eq!(typed(&lost), "DISCONNECTED");
    assert_eq!(lost["payload"]["error"]["message"], "The app disconnected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_goes_before_it_has_let_an_agent_in_leaves_nothing_unknown() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut agent = gateway.agent().await;
    agent.send(request("initialize", "1", json!({}))).await;
    app.next().await;
    drop(app);
    let lost = agent.next().await;
    assert_eq!(code(&lost), "DISCONNECTED");
    assert_eq!(lost["payload"]["error"]["message"], "The app disconnected");
}
