//! WebSockets and the command line, on a worker that does not hold the app.

use serde_json::{Value, json};

use super::workers::Workers;
use crate::cli::{Running, caphost, finished};
use crate::mcp::app::{called, confirm_cancel, demo, succeed};
use crate::support::*;

fn rpc(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_rpc_lists_calls_and_cancels() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let mut client = workers.two.peer("/jsonrpc?app=demo").await;
    client
        .send(rpc(
            1,
            "_capabilities/call",
            json!({ "capability": "echo" }),
        ))
        .await;
    let call = called(&mut app).await;
    succeed(&mut app, &call, json!("done")).await;
    assert_eq!(client.next().await["result"]["data"], "done");
    client
        .send(rpc(
            2,
            "_capabilities/call",
            json!({ "capability": "echo" }),
        ))
        .await;
    let call = called(&mut app).await;
    client
        .send(
            json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 2 } }),
        )
        .await;
    confirm_cancel(&mut app, &call).await;
    let cancelled = client.next().await;
    assert_eq!(
        (&cancelled["id"], &cancelled["error"]["code"]),
        (&json!(2), &json!(-32800))
    );
    client.send(rpc(3, "_capabilities/list", json!({}))).await;
    let listed = client.next().await;
    assert_eq!(
        listed["result"]["capabilities"][1]["name"], "echo",
        "{listed}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn abp_calls_and_cancels() {
    let workers = Workers::start().await;
    let mut app = workers.one.app("demo").await;
    workers.both_have("demo").await;
    let mut agent = workers.two.agent().await;
    agent.initialize(&mut app).await;
    agent.call_through(&mut app).await;
    agent.send(call("c", "mine")).await;
    let relayed = app.next().await;
    agent.send(cancel("x", "mine")).await;
    confirm_cancel(&mut app, &relayed).await;
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    drop(agent);
    assert_eq!(app.next().await["type"], "agent/closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_lists_and_calls() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let command = caphost(&workers.two, &["call", "echo", "--json"]);
    let running = Running::start(command);
    let call = called(&mut app).await;
    succeed(&mut app, &call, json!({ "a": 1 })).await;
    let ended = running.ended().await;
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.out.contains("\"a\""), "{ended:?}");
    let listing = tokio::spawn(finished(caphost(&workers.two, &["list", "--json"])));
    loop {
        let message = app.next().await;
        if message["type"] == "initialize" {
            let who = json!({ "id": "demo", "name": "Demo", "version": "1.0.0" });
            let session = json!({ "sessionId": "s", "app": who, "capabilities": [{ "name": "echo", "available": true }] });
            app.send(answer(&message, "initialize-result", session))
                .await;
            break;
        }
    }
    let listed = listing.await.unwrap().document();
    assert_eq!(listed["app"]["id"], "demo");
    assert_eq!(listed["capabilities"][0]["name"], "echo");
}
