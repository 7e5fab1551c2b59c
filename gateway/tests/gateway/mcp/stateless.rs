//! Version 2026-07-28: there are no sessions, and every request names its version.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use caphost_gateway::{Config, McpOptions, Tokens};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::app::{called, confirm_cancel, demo, offer, progress, succeed};
use super::client::*;
use crate::support::*;

pub async fn post(client: &Client, body: &Value) -> Response {
    let name = body["params"]["name"].as_str();
    let mut request = client
        .request(reqwest::Method::POST)
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", body["method"].as_str().unwrap())
        .json(body);
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    client.send(request).await
}

pub async fn ask(client: &Client, body: &Value) -> Value {
    let response = post(client, body).await;
    assert_eq!(response.status(), 200);
    Events(response).last().await
}

pub fn call_tool(id: i64, name: &str, meta: Value) -> Value {
    modern(
        id,
        "tools/call",
        json!({ "name": name, "arguments": {}, "_meta": meta }),
    )
}

#[tokio::test]
async fn discover_tells_what_initialize_would() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let answer = ask(&client, &modern("d", "server/discover", json!({}))).await;
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"], json!(ALL_VERSIONS));
    assert_eq!(
        result["capabilities"],
        json!({
            "tools": { "listChanged": true },
            "logging": {},
            "resources": {},
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        })
    );
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test]
async fn tools_are_listed_and_called_without_a_session() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp/demo");
    let list = ask(&client, &modern(0, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["tools"][0]["name"], "export_pdf");
    assert_eq!(list["result"]["resultType"], "complete");
    let body = call_tool(1, "echo", json!({ "progressToken": 9 }));
    let (answer, ()) = tokio::join!(ask(&client, &body), async {
        let relayed = called(&mut app).await;
        progress(&mut app, &relayed, json!({ "progress": 1, "total": 2 })).await;
        succeed(&mut app, &relayed, json!({ "a": 1 })).await;
    });
    assert_eq!(answer["result"]["structuredContent"], json!({ "a": 1 }));
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test]
async fn closing_the_response_cancels_before_and_after_it_has_begun() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    // Before: the gateway has sent no message yet. The headers may have come or not, so the task's response
    // is dropped as well.
    let asking = tokio::spawn({
        let client = client.clone();
        async move { post(&client, &call_tool(1, "echo", json!({}))).await }
    });
    let relayed = called(&mut app).await;
    asking.abort();
    drop(asking.await);
    let reason = confirm_cancel(&mut app, &relayed).await;
    assert_eq!(reason, "The response stream was closed");

    // Only the headers have come.
    let response = post(&client, &call_tool(1, "echo", json!({}))).await;
    let relayed = called(&mut app).await;
    drop(response);
    let reason = confirm_cancel(&mut app, &relayed).await;
    assert_eq!(reason, "The response stream was closed");

    // After: progress has opened the stream.
    let asking = tokio::spawn({
        let client = client.clone();
        async move {
            post(
                &client,
                &call_tool(1, "echo", json!({ "progressToken": "t" })),
            )
            .await
        }
    });
    let relayed = called(&mut app).await;
    progress(&mut app, &relayed, json!({ "progress": 1 })).await;
    let mut stream = Events(asking.await.unwrap());
    assert_eq!(
        stream.next().await.unwrap()["method"],
        "notifications/progress"
    );
    drop(stream);
    confirm_cancel(&mut app, &relayed).await;
}

#[tokio::test]
async fn a_call_cancelled_by_something_else_is_answered_with_status_200() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let body = call_tool(4, "echo", json!({}));
    let (answer, ()) = tokio::join!(ask(&client, &body), async {
        let relayed = called(&mut app).await;
        let cancelled = stopped(json!({ "success": false }), "returned");
        app.send(answer(&relayed, "capabilities/call-result", cancelled))
            .await;
    });
    assert_eq!(answer["error"]["code"], -32800);
    assert_eq!(
        answer["error"]["data"],
        json!({
            "requestId": "4", "partial": false, "stop": "returned",
            "_meta": { "caphost/stop": "returned" },
        })
    );
}

#[tokio::test]
async fn a_subscription_hears_of_changes_until_it_is_closed() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let params =
        json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    let listen = modern("s", "subscriptions/listen", params);
    let mut events = Events(post(&client, &listen).await);
    let acknowledged = events.next().await.unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let accepted = &acknowledged["params"]["notifications"];
    assert_eq!(accepted, &json!({ "toolsListChanged": true }));
    app.send(request("app/update", "u", json!({ "capabilities": [] })))
        .await;
    let changed = events.next().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_notification_is_taken_and_ignored() {
    let gateway = Gateway::start().await;
    let client = Client::new(&gateway, "/mcp");
    let cancel = notification("notifications/cancelled", json!({ "requestId": 1 }));
    let request = client
        .request(reqwest::Method::POST)
        .header("mcp-protocol-version", MODERN);
    assert_eq!(client.send(request.json(&cancel)).await.status(), 202);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_has_its_status() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let unknown = post(&client, &modern(1, "nope", json!({}))).await;
    assert_eq!(unknown.status(), 404);
    assert_eq!(
        unknown.json::<Value>().await.unwrap()["error"]["code"],
        -32601
    );
    let mut future = modern(1, "tools/list", json!({}));
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2999-01-01");
    let request = client
        .request(reqwest::Method::POST)
        .header("mcp-protocol-version", "2999-01-01")
        .header("mcp-method", "tools/list");
    let refused = client.send(request.json(&future)).await;
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["supported"], json!(ALL_VERSIONS));
}

/// The next call. `sessions` counts the sessions that were opened before it.
async fn called_counting(app: &mut Peer, sessions: &mut usize) -> Value {
    loop {
        let message = app.next().await;
        match message["type"].as_str() {
            Some("initialize") => {
                *sessions += 1;
                let session = json!({ "sessionId": "s", "protocolVersion": "0.1" });
                app.send(answer(&message, "initialize-result", session))
                    .await;
            }
            Some("capabilities/call") => return message,
            other => panic!("no call but {other:?}: {message}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_are_made_in_one_session_of_the_app() {
    const CALLS: i64 = 100;
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp/demo");
    let mut asking = JoinSet::new();
    for id in 0..CALLS {
        let client = client.clone();
        asking.spawn(async move { ask(&client, &call_tool(id, "echo", json!({}))).await });
    }
    let (mut sessions, mut calls) = (0, Vec::new());
    for _ in 0..CALLS {
        calls.push(called_counting(&mut app, &mut sessions).await);
    }
    // No call is confused with another, although the clients use the same ids.
    let ids: HashSet<_> = calls
        .iter()
        .map(|call| call["payload"]["options"]["callId"].to_string())
        .collect();
    assert_eq!(ids.len(), calls.len());
    for call in &calls {
        succeed(&mut app, call, json!({})).await;
    }
    while let Some(answer) = asking.join_next().await {
        assert_eq!(answer.unwrap()["result"]["isError"], false);
    }
    assert_eq!(sessions, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_owner_has_a_session_of_its_own_whose_cancels_reach_no_other() {
    let tokens = ["agent=a", "agent=b", "app=c"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=c").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut begin = async |token: &str| {
        let client = Client {
            token: Some(token.into()),
            ..Client::new(&gateway, "/mcp/demo")
        };
        let asking =
            tokio::spawn(async move { post(&client, &call_tool(1, "a.b", json!({}))).await });
        (asking, called(&mut app).await)
    };
    let (of_a, call_of_a) = begin("a").await;
    let (of_b, call_of_b) = begin("b").await;
    let (more_of_b, another_of_b) = begin("b").await;
    assert_ne!(call_of_a["agent"], call_of_b["agent"]);
    assert_eq!(call_of_b["agent"], another_of_b["agent"]);
    of_a.abort();
    drop(of_a.await);
    confirm_cancel(&mut app, &call_of_a).await;
    more_of_b.abort();
    drop(more_of_b.await);
    confirm_cancel(&mut app, &another_of_b).await;
    succeed(&mut app, &call_of_b, json!({})).await;
    let answer = Events(of_b.await.unwrap()).last().await;
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_session_of_the_app_ends_when_it_was_not_used_for_long() {
    let mcp = McpOptions {
        mcp_session_idle: Duration::from_millis(500),
        ..McpOptions::default()
    };
    let gateway = Gateway::with(Config { mcp, ..config() }).await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp/demo");
    let mut other = offer(&gateway, "other", json!([{ "name": "echo" }])).await;
    let elsewhere = Client::new(&gateway, "/mcp/other");
    let asking = |client: Client| {
        tokio::spawn(async move {
            let answer = ask(&client, &call_tool(1, "echo", json!({}))).await;
            assert_eq!(answer["result"]["isError"], false);
            Instant::now()
        })
    };
    let long = asking(client);
    let call = called(&mut app).await;
    // A call may take longer than the idle time. A session that was used later ends first.
    let short = asking(elsewhere);
    let shorter = called(&mut other).await;
    succeed(&mut other, &shorter, json!({})).await;
    short.await.unwrap();
    assert_eq!(other.next().await["type"], "shutdown");
    succeed(&mut app, &call, json!({})).await;
    let answered = long.await.unwrap();
    assert_eq!(app.next().await["type"], "shutdown");
    assert!(answered.elapsed() >= Duration::from_millis(400));
}
