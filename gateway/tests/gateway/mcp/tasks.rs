//! Tasks in sessions of 2025-11-25, where the client asks for them.

use std::time::Duration;

use caphost_gateway::{Config, Limits, McpOptions, Tokens};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::app::{called, confirm_cancel, demo, progress, succeed};
use super::client::*;
use crate::stops::ended;
use crate::support::*;

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A gateway with an app, and a client with a session.
async fn opened(config: Config) -> (Gateway, Peer, Client) {
    let gateway = Gateway::with(config).await;
    let app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    (gateway, app, client)
}

/// Asks for a task, and returns the answer.
async fn wanted(client: &Client, id: i64, task: Value) -> Value {
    let params = json!({ "name": "echo", "arguments": { "a": 1 }, "task": task });
    client.ask(id, "tools/call", params).await
}

/// Makes a task, and returns it with the call that the app gets.
async fn begun(client: &Client, app: &mut Peer, id: i64) -> (Value, Value) {
    let (answer, call) = tokio::join!(wanted(client, id, json!({})), called(app));
    (answer["result"]["task"].clone(), call)
}

async fn about(client: &Client, method: &str, task: &Value) -> Value {
    static NEXT: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(1_000);
    let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    client
        .ask(id, method, json!({ "taskId": task["taskId"] }))
        .await
}

async fn got(client: &Client, task: &Value) -> Value {
    about(client, "tasks/get", task).await["result"].clone()
}

#[tokio::test]
async fn a_call_is_a_task_from_its_beginning_and_is_kept_after_its_end() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let mut client = Client::new(&gateway, "/mcp");
    let hello = client.initialize().await;
    let tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
    assert_eq!(hello["result"]["capabilities"]["tasks"], tasks);
    let tools = client.ask(1, "tools/list", json!({})).await;
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["execution"], json!({ "taskSupport": "optional" }));
    }

    let (task, call) = begun(&client, &mut app, 2).await;
    assert_eq!(task["status"], "working");
    assert_eq!(
        (&task["ttl"], &task["pollInterval"]),
        (&json!(3_600_000), &json!(1_000))
    );
    let id = task["taskId"].as_str().unwrap();
    assert_eq!(gateway.run_once("running").await["runId"], id);
    // Progress is told in words.
    progress(&mut app, &call, json!({ "progress": 3, "total": 4 })).await;
    while got(&client, &task).await["statusMessage"] != "3 of 4" {
        sleep(Duration::from_millis(5)).await;
    }
    // A request for the result waits. Closing the response leaves the task as it is.
    let asked = rpc(3, "tasks/result", json!({ "taskId": id }));
    drop(client.stream(&asked).await);
    let mut waiting = client
        .stream(&rpc(4, "tasks/result", json!({ "taskId": id })))
        .await;
    // So does the cancel of a request for the result, and a cancel of the request that made the task.
    client.cancel(2, "not this way").await;
    let cancelled = client
        .stream(&rpc(5, "tasks/result", json!({ "taskId": id })))
        .await;
    client.cancel(5, "no").await;
    assert_eq!(cancelled.0.text().await.unwrap(), "");
    assert_eq!(got(&client, &task).await["status"], "working");
    succeed(&mut app, &call, json!({ "b": 2 })).await;
    let answer = waiting.next().await.unwrap();
    assert_eq!(answer["id"], 4);
    assert_eq!(answer["result"]["structuredContent"], json!({ "b": 2 }));
    assert_eq!(answer["result"]["_meta"][RELATED], json!({ "taskId": id }));
    assert_eq!(answer["result"]["_meta"]["caphost/run"], id);

    // The task outlives its session.
    let left = client.send(client.request(reqwest::Method::DELETE)).await;
    assert_eq!(left.status(), 204);
    let client = Client::open(&gateway, "/mcp").await;
    let after = got(&client, &task).await;
    assert_eq!(after["status"], "completed");
    assert_eq!(after["createdAt"], task["createdAt"]);
    let again = about(&client, "tasks/result", &task).await;
    assert_eq!(again["result"], answer["result"]);
    // Nobody may list tasks where there are no tokens.
    let listed = client.ask(9, "tasks/list", json!({})).await;
    assert_eq!(listed["error"]["code"], -32601);
}

#[tokio::test]
async fn a_task_that_runs_outlives_its_session_and_connection() {
    let (gateway, mut app, mut client) = opened(config()).await;
    let (task, call) = begun(&client, &mut app, 1).await;
    let left = client.send(client.request(reqwest::Method::DELETE)).await;
    assert_eq!(left.status(), 204);
    client = Client::open(&gateway, "/mcp").await;
    assert_eq!(got(&client, &task).await["status"], "working");
    succeed(&mut app, &call, json!("done")).await;
    let answer = about(&client, "tasks/result", &task).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn cancelled_is_said_when_the_app_has_confirmed() {
    let (_gateway, mut app, client) = opened(config()).await;
    let (task, call) = begun(&client, &mut app, 1).await;
    let cancelling = tokio::spawn({
        let (client, task) = (client.clone(), task.clone());
        async move { about(&client, "tasks/cancel", &task).await }
    });
    let cancel = app.next().await;
    assert_eq!(cancel["type"], "capabilities/cancel");
    // The app has not confirmed.
    let pending = got(&client, &task).await;
    assert_eq!(pending["status"], "working");
    assert_eq!(
        pending["statusMessage"],
        "The app was asked to cancel the call, and has not confirmed"
    );
    let id = &call["payload"]["options"]["callId"];
    let metadata = json!({ "stop": "returned" });
    let confirmed = json!({ "callId": id, "cancelled": true, "metadata": metadata });
    app.send(answer(&cancel, "capabilities/cancel-result", confirmed))
        .await;
    let ended = json!({ "success": false, "cancelled": true, "metadata": metadata });
    app.send(answer(&call, "capabilities/call-result", ended))
        .await;
    let cancelled = cancelling.await.unwrap()["result"].clone();
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(
        cancelled["statusMessage"],
        "Cancelled (returned); the work has ended"
    );
    assert_eq!(cancelled["taskId"], task["taskId"]);
    assert_eq!(got(&client, &task).await, cancelled);
    let error = about(&client, "tasks/result", &task).await["error"].clone();
    assert_eq!(
        (&error["code"], &error["data"]["stop"]),
        (&json!(-32800), &json!("returned"))
    );
    assert_eq!(error["data"]["requestId"], "1");
    assert_eq!(error["data"]["_meta"][RELATED]["taskId"], task["taskId"]);
    let again = about(&client, "tasks/cancel", &task).await;
    assert_eq!(again["error"]["code"], -32602);
    assert_eq!(
        again["error"]["message"],
        "Cannot cancel task: already in terminal status 'cancelled'"
    );
}

#[tokio::test]
async fn a_stop_that_was_not_seen_is_told_and_so_is_its_late_end() {
    let (_gateway, mut app, client) = opened(config()).await;
    let (task, call) = begun(&client, &mut app, 1).await;
    let (cancelled, _) = tokio::join!(
        about(&client, "tasks/cancel", &task),
        confirm_cancel(&mut app, &call)
    );
    assert_eq!(cancelled["result"]["status"], "cancelled");
    assert_eq!(
        cancelled["result"]["statusMessage"],
        "Cancelled (abandoned), but the work was not seen to stop; it may still go on"
    );
    let call_id = &call["payload"]["options"]["callId"];
    app.send(ended(&call, call_id, true, 1_200.0)).await;
    let told = async {
        loop {
            let said = got(&client, &task).await;
            assert_eq!(said["status"], "cancelled");
            if said["statusMessage"]
                .as_str()
                .unwrap()
                .ends_with("it ended 1.2 s later, complete")
            {
                return;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the late end", told).await;
}

#[tokio::test]
async fn a_cancel_that_is_not_confirmed_leaves_the_task_working() {
    let limits = Limits {
        confirm_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let (_gateway, mut app, client) = opened(Config { limits, ..config() }).await;
    let (task, call) = begun(&client, &mut app, 1).await;
    let said = about(&client, "tasks/cancel", &task).await["result"].clone();
    assert_eq!(said["status"], "working");
    assert_eq!(
        said["statusMessage"],
        "The app was asked to cancel the call, and has not confirmed"
    );
    // The call completes after all.
    succeed(&mut app, &call, json!({ "b": 2 })).await;
    let answer = about(&client, "tasks/result", &task).await;
    assert_eq!(answer["result"]["structuredContent"], json!({ "b": 2 }));
    assert_eq!(got(&client, &task).await["status"], "completed");
}

#[tokio::test]
async fn a_call_that_completes_before_its_cancel_is_completed() {
    let (_gateway, mut app, client) = opened(config()).await;
    let (task, call) = begun(&client, &mut app, 1).await;
    let (said, ()) = tokio::join!(about(&client, "tasks/cancel", &task), async {
        let cancel = app.next().await;
        succeed(&mut app, &call, json!({ "b": 2 })).await;
        let refused = json!({ "callId": cancel["payload"]["callId"], "cancelled": false, "reason": "Operation already completed" });
        app.send(answer(&cancel, "capabilities/cancel-result", refused))
            .await;
    });
    assert_eq!(said["result"]["status"], "completed");
    let answer = about(&client, "tasks/result", &task).await;
    assert_eq!(answer["result"]["structuredContent"], json!({ "b": 2 }));
}

#[tokio::test]
async fn a_task_whose_call_fails_has_failed() {
    let (_gateway, mut app, client) = opened(config()).await;
    let (task, call) = begun(&client, &mut app, 1).await;
    super::app::fail(
        &mut app,
        &call,
        json!({ "code": "OPERATION_FAILED", "message": "No ink" }),
    )
    .await;
    let answer = about(&client, "tasks/result", &task).await;
    assert_eq!(answer["result"]["isError"], true);
    let said = got(&client, &task).await;
    assert_eq!(
        (&said["status"], &said["statusMessage"]),
        (&json!("failed"), &json!("No ink"))
    );
    // The outcome of a call whose app goes away is not known.
    let (task, _call) = begun(&client, &mut app, 2).await;
    drop(app);
    let answer = about(&client, "tasks/result", &task).await;
    assert_eq!(
        answer["result"]["_meta"]["caphost/error"]["code"],
        "DISCONNECTED"
    );
    assert_eq!(got(&client, &task).await["status"], "failed");
}

#[tokio::test]
async fn a_listening_session_is_told_of_changes_and_progress() {
    let (_gateway, mut app, client) = opened(config()).await;
    let mut listening = client.listen().await;
    let params = json!({ "name": "echo", "task": {}, "_meta": { "progressToken": "p" } });
    let (made, call) = tokio::join!(client.ask(1, "tools/call", params), called(&mut app));
    let id = made["result"]["task"]["taskId"].clone();
    progress(&mut app, &call, json!({ "progress": 1, "total": 2 })).await;
    let said = listening.next().await.unwrap();
    assert_eq!(said["method"], "notifications/progress");
    assert_eq!(said["params"]["progressToken"], "p");
    assert_eq!(said["params"]["_meta"][RELATED]["taskId"], id);
    succeed(&mut app, &call, json!(1)).await;
    let said = listening.next().await.unwrap();
    assert_eq!(said["method"], "notifications/tasks/status");
    assert_eq!(
        (&said["params"]["taskId"], &said["params"]["status"]),
        (&id, &json!("completed"))
    );
}

#[tokio::test]
async fn a_time_to_live_ends_a_task_and_its_call() {
    let mcp = McpOptions {
        mcp_task_ttl: Duration::from_secs(2),
        ..McpOptions::default()
    };
    let (_gateway, mut app, client) = opened(Config { mcp, ..config() }).await;
    let (long, call) = tokio::join!(wanted(&client, 1, json!({ "ttl": 1e12 })), called(&mut app));
    assert_eq!(long["result"]["task"]["ttl"], 2_000);
    let (short, ended) = tokio::join!(wanted(&client, 2, json!({ "ttl": 0 })), called(&mut app));
    let (long, short) = (&long["result"]["task"], &short["result"]["task"]);
    assert_eq!(short["ttl"], 1_000);
    succeed(&mut app, &ended, json!(1)).await;
    assert_eq!(
        confirm_cancel(&mut app, &call).await,
        "The time to live of the task is over"
    );
    for task in [long, short] {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            let answer = about(&client, method, task).await;
            assert_eq!(answer["error"]["code"], -32602, "{method}");
        }
    }
    for wrong in [
        json!(1),
        json!({ "ttl": "1" }),
        json!({ "ttl": -1 }),
        json!([]),
    ] {
        let refused = wanted(&client, 3, wrong).await;
        assert_eq!(refused["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn tasks_and_their_bytes_have_bounds() {
    let mcp = McpOptions {
        mcp_max_tasks: 2,
        mcp_max_task_bytes: 4_000,
        ..McpOptions::default()
    };
    let (_gateway, mut app, client) = opened(Config { mcp, ..config() }).await;
    let (task, call) = begun(&client, &mut app, 1).await;
    succeed(&mut app, &call, json!("x".repeat(4_000))).await;
    let answer = about(&client, "tasks/result", &task).await;
    assert_eq!(answer["error"]["code"], -32603);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("--mcp-max-task-bytes"), "{message}");
    assert_eq!(got(&client, &task).await["status"], "failed");
    let (_task, _call) = begun(&client, &mut app, 2).await;
    let refused = wanted(&client, 3, json!({})).await;
    assert_eq!(refused["error"]["data"]["code"], "RATE_LIMITED");
}

#[tokio::test]
async fn a_task_is_its_owners_alone() {
    let tokens = ["app=p", "agent=a", "agent=b"].map(|it| it.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut clients = Vec::new();
    for token in ["a", "b"] {
        let mut client = Client {
            token: Some(token.into()),
            ..Client::new(&gateway, "/mcp")
        };
        let hello = client.initialize().await;
        assert_eq!(hello["result"]["capabilities"]["tasks"]["list"], json!({}));
        clients.push(client);
    }
    let params = json!({ "name": "a.b", "task": {} });
    let (made, call) = tokio::join!(clients[0].ask(1, "tools/call", params), called(&mut app));
    let task = &made["result"]["task"];
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let answer = about(&clients[1], method, task).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("Task not found"), "{message}");
    }
    for (client, count) in [(&clients[0], 1), (&clients[1], 0)] {
        let listed = client.ask(7, "tasks/list", json!({})).await;
        assert_eq!(listed["result"]["tasks"].as_array().unwrap().len(), count);
    }
    let cursor = clients[0]
        .ask(8, "tasks/list", json!({ "cursor": "x" }))
        .await;
    assert_eq!(cursor["error"]["code"], -32602);
    succeed(&mut app, &call, json!(1)).await;
}

#[tokio::test]
async fn an_unknown_task_is_an_error_that_says_where_the_task_may_be() {
    let (_gateway, _app, client) = opened(config()).await;
    let (other, mut there, of_other) = opened(config()).await;
    let (task, _call) = begun(&of_other, &mut there, 1).await;
    let answer = about(&client, "tasks/get", &task).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("another worker"), "{message}");
    for id in [
        json!(null),
        json!(1),
        json!("x"),
        json!("786512e2-9e0d-44bd-8f29-789f320fe840"),
    ] {
        let answer = about(&client, "tasks/get", &json!({ "taskId": id })).await;
        assert_eq!(answer["error"]["code"], -32602, "{id}");
    }
    drop(other);
}

#[tokio::test]
async fn a_task_that_cannot_begin_is_an_error() {
    let gateway = Gateway::start().await;
    let client = Client::open(&gateway, "/mcp").await;
    let answer = wanted(&client, 1, json!({})).await;
    assert_eq!(answer["error"]["data"]["code"], "DISCONNECTED");
    let _app = demo(&gateway).await;
    let params = json!({ "name": "none", "task": {} });
    let answer = client.ask(2, "tools/call", params).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn older_versions_have_no_tasks() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let mut client = Client::new(&gateway, "/mcp");
    let response = client.post(&initialize("2025-06-18")).await;
    client.session = Some(
        response.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .into(),
    );
    let hello = Events(response).last().await;
    assert_eq!(hello["result"]["capabilities"]["tasks"], json!(null));
    let (answer, ()) = tokio::join!(wanted(&client, 1, json!({})), async {
        let call = called(&mut app).await;
        succeed(&mut app, &call, json!({ "b": 2 })).await;
    });
    assert_eq!(answer["result"]["structuredContent"], json!({ "b": 2 }));
    let answer = client.ask(2, "tasks/get", json!({ "taskId": "x" })).await;
    assert_eq!(answer["error"]["code"], -32601);
}
