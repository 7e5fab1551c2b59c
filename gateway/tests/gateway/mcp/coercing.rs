//! Arguments that a model has written as texts.

use caphost_gateway::Config;
use serde_json::{Value, json};

use super::app::{called, offer, succeed};
use super::client::*;
use crate::rap_server::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

async fn app(gateway: &Gateway) -> Peer {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer" }, "text": { "type": "string" }, "list": { "type": "array" } },
    });
    offer(
        gateway,
        "demo",
        json!([{ "name": "echo", "inputSchema": schema }]),
    )
    .await
}

/// The parameters that reach the app for those arguments.
async fn params(client: &Client, app: &mut Peer, arguments: Value) -> Value {
    let params = json!({ "name": "echo", "arguments": arguments });
    let stream = client.stream(&rpc(1, "tools/call", params)).await;
    let relayed = called(app).await;
    succeed(app, &relayed, json!(null)).await;
    stream.last().await;
    relayed["payload"]["params"].clone()
}

#[tokio::test]
async fn texts_stay_texts_unless_somebody_asks() {
    let gateway = Gateway::start().await;
    let mut app = app(&gateway).await;
    let given = json!({ "n": "2", "text": "3" });
    let client = Client::open(&gateway, "/mcp").await;
    assert_eq!(params(&client, &mut app, given.clone()).await, given);
    let client = Client::open(&gateway, "/mcp").await;
    let call = json!({ "name": "echo", "arguments": "{}" });
    let refused = client.ask(1, "tools/call", call).await;
    assert_eq!(refused["error"]["code"], -32602);
}

#[tokio::test]
async fn a_client_that_asks_has_its_texts_read_as_the_schema_wants() {
    let gateway = Gateway::start().await;
    let mut app = app(&gateway).await;
    let given = json!({ "n": "2", "text": "3", "list": "[1, \"4\"]", "other": "5" });
    let meant = json!({ "n": 2, "text": "3", "list": [1, "4"], "other": "5" });
    for arguments in [given.clone(), given.to_string().into()] {
        let client = Client::open(&gateway, "/mcp/demo?coerce=true").await;
        assert_eq!(params(&client, &mut app, arguments).await, meant);
    }
}

#[tokio::test]
async fn a_gateway_that_coerces_does_so_for_every_client_of_mcp_and_rap() {
    let mut config = Config {
        coerce: true,
        ..config()
    };
    config.limits.depth = 20;
    let gateway = Gateway::with(config).await;
    let mut app = app(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    assert_eq!(
        params(&client, &mut app, json!({ "n": "-7" })).await,
        json!({ "n": -7 })
    );
    // A value that is inside a text may be as deep as any other.
    let deep = format!("{}{}", "[".repeat(20), "]".repeat(20));
    let call = json!({ "name": "echo", "arguments": { "list": deep } });
    let refused = client.ask(2, "tools/call", call).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");

    let receiver = Receiver::start().await;
    let message = invocation(
        &receiver.url("/ok"),
        "echo",
        "thread",
        "call_1",
        json!({ "n": "8" }),
    );
    assert_eq!(
        Runtime::new(&gateway, "").post("/invoke", &message).await.0,
        200
    );
    let relayed = called(&mut app).await;
    assert_eq!(relayed["payload"]["params"], json!({ "n": 8 }));
}
