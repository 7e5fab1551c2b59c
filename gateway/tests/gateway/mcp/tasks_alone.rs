//! Tasks without sessions, the extension of 2026-07-28: the gateway decides which calls become tasks.

use std::time::Duration;

use caphost_gateway::{Config, McpOptions};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::app::{called, confirm_cancel, demo, progress, succeed};
use super::client::*;
use super::stateless;
use crate::support::*;

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A request of a client that takes tasks.
fn taking(id: i64, method: &str, params: Value) -> Value {
    let mut body = modern(id, method, params);
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { TASKS: {} } });
    body
}

async fn post(client: &Client, body: &Value, name: &str) -> Response {
    let request = client
        .request(Method::POST)
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", body["method"].as_str().unwrap())
        .header("mcp-name", name);
    client.send(request.json(body)).await
}

async fn call(client: &Client, id: i64) -> Value {
    let body = taking(id, "tools/call", json!({ "name": "echo", "arguments": {} }));
    Events(post(client, &body, "echo").await).last().await["result"].clone()
}

/// A call that has become a task, and the call that the app gets.
async fn begun(client: &Client, app: &mut Peer) -> (String, Value) {
    let (task, call) = tokio::join!(call(client, 1), called(app));
    assert_eq!(task["resultType"], "task");
    (task["taskId"].as_str().unwrap().into(), call)
}

async fn about(client: &Client, method: &str, task: &str) -> Value {
    let body = taking(5, method, json!({ "taskId": task }));
    Events(post(client, &body, task).await).last().await
}

async fn got(client: &Client, task: &str) -> Value {
    about(client, "tasks/get", task).await["result"].clone()
}

#[tokio::test]
async fn a_call_that_takes_long_becomes_a_task() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let found = stateless::ask(&client, &modern(0, "server/discover", json!({}))).await;
    assert_eq!(
        found["result"]["capabilities"]["extensions"],
        json!({ TASKS: {} })
    );
    assert_eq!(found["result"]["capabilities"]["tasks"], json!(null));
    // A short one does not.
    let (result, ()) = tokio::join!(call(&client, 1), async {
        let call = called(&mut app).await;
        succeed(&mut app, &call, json!("quick")).await;
    });
    assert_eq!(
        (&result["resultType"], &result["taskId"]),
        (&json!("complete"), &json!(null))
    );

    let (made, relayed) = tokio::join!(call(&client, 2), called(&mut app));
    let id = made["taskId"].as_str().unwrap();
    assert_eq!(
        (&made["resultType"], &made["status"]),
        (&json!("task"), &json!("working"))
    );
    assert_eq!(
        (&made["ttlMs"], &made["pollIntervalMs"]),
        (&json!(3_600_000), &json!(1_000))
    );
    progress(
        &mut app,
        &relayed,
        json!({ "percentage": 40, "stage": "layout" }),
    )
    .await;
    while got(&client, id).await["statusMessage"] != "layout" {
        sleep(Duration::from_millis(5)).await;
    }
    succeed(&mut app, &relayed, json!({ "b": 2 })).await;
    let mut after = got(&client, id).await;
    while after["status"] == "working" {
        after = got(&client, id).await;
    }
    assert_eq!(
        (&after["resultType"], &after["status"]),
        (&json!("complete"), &json!("completed"))
    );
    assert_eq!(after["result"]["structuredContent"], json!({ "b": 2 }));
    assert_eq!(
        after["result"]["_meta"].get("io.modelcontextprotocol/related-task"),
        None
    );
    for removed in ["tasks/result", "tasks/list"] {
        let body = taking(7, removed, json!({ "taskId": id }));
        let response = post(&client, &body, id).await;
        assert_eq!(response.status(), 404);
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["error"]["code"], -32601, "{removed}");
    }
}

#[tokio::test]
async fn a_call_of_a_client_that_takes_no_tasks_becomes_none() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let body = stateless::call_tool(1, "echo", json!({}));
    let (answer, ()) = tokio::join!(stateless::ask(&client, &body), async {
        let call = called(&mut app).await;
        sleep(Duration::from_millis(700)).await;
        succeed(&mut app, &call, json!("slow")).await;
    });
    assert_eq!(answer["result"]["resultType"], "complete");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let body = modern(2, method, json!({ "taskId": "x", "inputResponses": {} }));
        let response = post(&client, &body, "x").await;
        assert_eq!(response.status(), 400);
        let error = response.json::<Value>().await.unwrap()["error"].clone();
        assert_eq!(error["code"], -32021, "{method}");
        let missing = json!({ "requiredCapabilities": { "extensions": { TASKS: {} } } });
        assert_eq!(error["data"], missing);
    }
    let wanted = json!({ "notifications": { "taskIds": ["x"] } });
    let response = post(&client, &modern(3, "subscriptions/listen", wanted), "x").await;
    assert_eq!(
        response.json::<Value>().await.unwrap()["error"]["code"],
        -32021
    );
}

#[tokio::test]
async fn the_header_names_the_task() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let (id, _call) = begun(&client, &mut app).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let body = taking(2, method, json!({ "taskId": id, "inputResponses": {} }));
        let response = post(&client, &body, "another").await;
        assert_eq!(response.status(), 400);
        assert_eq!(
            response.json::<Value>().await.unwrap()["error"]["code"],
            -32020
        );
    }
    assert_eq!(got(&client, &id).await["status"], "working");
    assert_eq!(
        about(&client, "tasks/get", "none").await["error"]["code"],
        -32602
    );
}

#[tokio::test]
async fn a_cancel_is_acknowledged_and_the_state_says_what_became_of_the_call() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let (id, relayed) = begun(&client, &mut app).await;
    let (answer, reason) = tokio::join!(
        about(&client, "tasks/cancel", &id),
        confirm_cancel(&mut app, &relayed)
    );
    assert_eq!(reason, "The client cancelled the task");
    assert_eq!(answer["result"], json!({ "resultType": "complete" }));
    let said = got(&client, &id).await;
    assert_eq!(said["status"], "cancelled");
    assert!(
        said["statusMessage"]
            .as_str()
            .unwrap()
            .starts_with("Cancelled (abandoned)")
    );
    assert_eq!(
        (&said["result"], &said["error"]),
        (&json!(null), &json!(null))
    );
    let again = about(&client, "tasks/cancel", &id).await;
    assert_eq!(again["result"], json!({ "resultType": "complete" }));
}

#[tokio::test]
async fn a_closed_response_cancels_a_call_until_it_is_a_task() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let body = taking(1, "tools/call", json!({ "name": "echo", "arguments": {} }));
    let (response, relayed) = tokio::join!(post(&client, &body, "echo"), called(&mut app));
    drop(response);
    let reason = confirm_cancel(&mut app, &relayed).await;
    assert_eq!(reason, "The response stream was closed");
    // The client has the connection, and nothing else of its task.
    let (id, _relayed) = begun(&client, &mut app).await;
    drop(client);
    assert!(
        timeout(Duration::from_millis(300), app.next())
            .await
            .is_err()
    );
    let client = Client::new(&gateway, "/mcp");
    assert_eq!(got(&client, &id).await["status"], "working");
}

#[tokio::test]
async fn a_call_without_a_place_is_answered_when_it_ends() {
    let mcp = McpOptions {
        mcp_max_tasks: 1,
        mcp_max_task_bytes: 2_000,
        ..McpOptions::default()
    };
    let gateway = Gateway::with(Config { mcp, ..config() }).await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let (id, relayed) = begun(&client, &mut app).await;
    let (result, ()) = tokio::join!(call(&client, 2), async {
        let call = called(&mut app).await;
        sleep(Duration::from_millis(700)).await;
        succeed(&mut app, &call, json!("slow")).await;
    });
    assert_eq!(result["resultType"], "complete");
    // A result that finds no room is an error of the protocol.
    succeed(&mut app, &relayed, json!("x".repeat(2_000))).await;
    let mut said = got(&client, &id).await;
    while said["status"] == "working" {
        said = got(&client, &id).await;
    }
    assert_eq!(
        (&said["status"], &said["error"]["code"]),
        (&json!("failed"), &json!(-32603))
    );
    assert_eq!(said["result"], json!(null));
}

#[tokio::test]
async fn a_subscription_tells_of_the_tasks_it_names() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let (id, relayed) = begun(&client, &mut app).await;
    let wanted = json!({ "notifications": { "taskIds": [id, "unknown"] } });
    let body = taking(9, "subscriptions/listen", wanted);
    let mut events = Events(post(&client, &body, "x").await);
    let first = events.next().await.unwrap();
    assert_eq!(first["params"]["notifications"], json!({ "taskIds": [id] }));
    let now = events.next().await.unwrap();
    assert_eq!(now["method"], "notifications/tasks");
    assert_eq!(
        (&now["params"]["taskId"], &now["params"]["status"]),
        (&json!(id), &json!("working"))
    );
    assert_eq!(
        now["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        9
    );
    succeed(&mut app, &relayed, json!({ "b": 2 })).await;
    let last = events.next().await.unwrap();
    assert_eq!(last["params"]["status"], "completed");
    assert_eq!(
        last["params"]["result"]["structuredContent"],
        json!({ "b": 2 })
    );
}
