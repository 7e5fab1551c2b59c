//! MCP without sessions, on a worker that does not hold the app.

use serde_json::json;

use super::workers::Workers;
use crate::mcp::app::{called, confirm_cancel, demo, progress, succeed};
use crate::mcp::client::*;
use crate::mcp::stateless::{ask, call_tool, post};
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_served_by_any_worker() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::new(&workers.two, "/mcp/demo");
    let found = ask(&client, &modern("d", "server/discover", json!({}))).await;
    assert_eq!(found["result"]["supportedVersions"], json!(ALL_VERSIONS));
    let list = ask(&client, &modern(0, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["tools"][0]["name"], "export_pdf");
    let body = call_tool(1, "echo", json!({ "progressToken": 9 }));
    let (answer, ()) = tokio::join!(ask(&client, &body), async {
        let relayed = called(&mut app).await;
        progress(&mut app, &relayed, json!({ "progress": 1, "total": 2 })).await;
        succeed(&mut app, &relayed, json!({ "a": 1 })).await;
    });
    assert_eq!(answer["result"]["structuredContent"], json!({ "a": 1 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_has_the_whole_list_after_a_difference() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::new(&workers.two, "/mcp/demo");
    let list = modern(0, "tools/list", json!({}));
    let difference = json!({ "added": [{ "name": "new" }], "removed": ["export.pdf"] });
    app.send(request("app/update", "u", difference)).await;
    let told = async {
        loop {
            let tools = ask(&client, &list).await["result"]["tools"].take();
            if tools[1]["name"] == "new" {
                break tools;
            }
        }
    };
    let tools = soon("the list of the other", told).await;
    assert_eq!(
        (&tools[0]["name"], tools.as_array().unwrap().len()),
        (&json!("echo"), 2)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_the_response_cancels_the_call_at_the_other() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::new(&workers.two, "/mcp");
    let calling = tokio::spawn({
        let client = client.clone();
        async move { post(&client, &call_tool(1, "echo", json!({}))).await }
    });
    let call = called(&mut app).await;
    calling.abort();
    // This also drops the response, if it has begun.
    drop(calling);
    let reason = confirm_cancel(&mut app, &call).await;
    assert_eq!(reason, "The response stream was closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_hears_of_an_app_of_the_other() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::new(&workers.two, "/mcp/demo");
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listen = modern("s", "subscriptions/listen", params);
    let mut events = Events(post(&client, &listen).await);
    let acknowledged = events.next().await.unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    app.send(request("app/update", "u", json!({ "capabilities": [] })))
        .await;
    let changed = events.next().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
}
