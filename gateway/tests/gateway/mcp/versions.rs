//! Clients of every version. Each gets messages in its own version only, with nothing that it cannot read.

use reqwest::Method;
use serde_json::{Value, json};

use super::app::{called, offer, succeed};
use super::client::*;
use crate::support::*;

const CAPABILITIES: &str = r#"[{
    "name": "count.words", "description": "Counts",
    "inputSchema": { "anyOf": [{ "required": ["text"] }], "properties": { "list": { "type": "array" } } },
    "outputSchema": { "type": "object" }
}]"#;

fn capabilities() -> Value {
    serde_json::from_str(CAPABILITIES).unwrap()
}

/// A client that has asked for that version, and the answer to it.
async fn of_version(gateway: &Gateway, version: &str) -> (Client, Value) {
    let mut client = Client::new(gateway, "/mcp");
    let response = client.post(&initialize(version)).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap();
    client.session = Some(session.to_string());
    let answer = Events(response).last().await;
    (client, answer)
}

/// A request in a session, with those headers.
async fn post_as(client: &Client, accept: &str, version: &str, body: &Value) -> reqwest::Response {
    let request = client.http.post(&client.url).json(body);
    let request = request
        .header("accept", accept)
        .header("mcp-protocol-version", version)
        .header("mcp-session-id", client.session.clone().unwrap());
    client.send(request).await
}

#[tokio::test]
async fn a_client_of_each_version_is_told_what_it_can_read() {
    let gateway = Gateway::start().await;
    let mut app = offer(&gateway, "demo", capabilities()).await;
    for (version, structure) in [
        ("2024-11-05", false),
        ("2025-03-26", false),
        ("2025-06-18", true),
        (LEGACY, true),
    ] {
        let (client, hello) = of_version(&gateway, version).await;
        assert_eq!(hello["result"]["protocolVersion"], version);
        let titled = hello["result"]["serverInfo"].get("title").is_some();
        assert_eq!(titled, structure, "{version}");
        let listed = client.ask(1, "tools/list", json!({})).await;
        let tool = &listed["result"]["tools"][0];
        assert_eq!(tool["name"], "count_words");
        for member in ["title", "outputSchema"] {
            assert_eq!(tool.get(member).is_some(), structure, "{version}: {member}");
        }
        let params =
            json!({ "name": "count_words", "arguments": {}, "_meta": { "progressToken": 7 } });
        let mut stream = client.stream(&rpc(2, "tools/call", params)).await;
        let relayed = called(&mut app).await;
        let token = &relayed["payload"]["options"]["progressToken"];
        let info = json!({ "operationId": token, "progress": 1, "status": "reading" });
        app.send(json!({ "type": "progress", "agent": relayed["agent"], "timestamp": 1, "payload": info }))
            .await;
        let progress = stream.next().await.unwrap();
        let worded = progress["params"].get("message").is_some();
        assert_eq!(worded, version > "2024-11-05", "{version}: {progress}");
        succeed(&mut app, &relayed, json!({ "words": 2 })).await;
        let result = stream.last().await["result"].take();
        let structured = result.get("structuredContent").is_some();
        assert_eq!(structured, structure, "{version}");
        assert_eq!(result["content"][0]["text"], r#"{"words":2}"#);
    }
}

#[tokio::test]
async fn only_2025_03_26_has_batches() {
    let gateway = Gateway::start().await;
    let mut app = offer(&gateway, "demo", capabilities()).await;
    let call = rpc(
        2,
        "tools/call",
        json!({ "name": "count_words", "arguments": {} }),
    );
    let batch = json!([
        rpc(1, "ping", json!({})),
        notification("notifications/initialized", json!({})),
        call,
        rpc(3, "nope", json!({})),
        7,
    ]);
    for version in ["2024-11-05", "2025-06-18", LEGACY] {
        let (client, _) = of_version(&gateway, version).await;
        let refused = post_as(&client, "*/*", version, &batch).await;
        assert_eq!(refused.status(), 400, "{version}");
    }
    let (client, _) = of_version(&gateway, "2025-03-26").await;
    for accept in ["text/event-stream, application/json", "application/json"] {
        let asked = post_as(&client, accept, "2025-03-26", &batch);
        let answered = async {
            let relayed = called(&mut app).await;
            succeed(&mut app, &relayed, json!({ "words": 2 })).await;
        };
        let (response, ()) = tokio::join!(asked, answered);
        let mut events = Events(response);
        let mut said = Vec::new();
        while let Some(message) = events.next().await {
            match message {
                Value::Array(messages) => said.extend(messages),
                message => said.push(message),
            }
            if accept == "application/json" {
                break;
            }
        }
        assert_eq!(said.len(), 4, "{said:?}");
        let of = |id: Value| said.iter().find(|it| it["id"] == id).unwrap();
        assert_eq!(of(json!(1))["result"], json!({}));
        assert_eq!(of(json!(2))["result"]["isError"], false);
        assert_eq!(of(json!(3))["error"]["code"], -32601);
        assert_eq!(of(json!(null))["error"]["code"], -32600);
    }
    let told = json!([notification("notifications/initialized", json!({}))]);
    let told = post_as(&client, "*/*", "2025-03-26", &told).await;
    assert_eq!(told.status(), 202);
    let many: Vec<_> = (0..33).map(|id| rpc(id, "ping", json!({}))).collect();
    for bad in [json!([]), json!(many)] {
        let refused = post_as(&client, "*/*", "2025-03-26", &bad).await;
        assert_eq!(refused.status(), 400);
    }
}

#[tokio::test]
async fn an_answer_is_one_json_where_that_is_accepted() {
    let gateway = Gateway::start().await;
    let mut app = offer(&gateway, "demo", capabilities()).await;
    let (client, _) = of_version(&gateway, LEGACY).await;
    let params = json!({ "name": "count_words", "arguments": {}, "_meta": { "progressToken": 7 } });
    // The text is larger than some clients read in one event.
    let large = "\u{2028}x".repeat(1 << 20);
    for (accept, progresses, kind) in [
        (
            "application/json, text/event-stream",
            false,
            "application/json",
        ),
        (
            "application/json, text/event-stream",
            true,
            "text/event-stream",
        ),
        ("application/json", true, "application/json"),
        ("text/event-stream", false, "text/event-stream"),
        // The request of the Rust SDK.
        (
            "text/event-stream, application/json",
            false,
            "text/event-stream",
        ),
    ] {
        let body = rpc(2, "tools/call", params.clone());
        let asked = post_as(&client, accept, LEGACY, &body);
        let answered = async {
            let relayed = called(&mut app).await;
            // This is longer than an app takes to write a large answer.
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            if progresses {
                let token = &relayed["payload"]["options"]["progressToken"];
                let info = json!({ "operationId": token, "progress": 1 });
                app.send(json!({ "type": "progress", "agent": relayed["agent"], "timestamp": 1, "payload": info }))
                    .await;
            }
            succeed(&mut app, &relayed, json!({ "text": large })).await;
        };
        let (response, ()) = tokio::join!(asked, answered);
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], kind, "{accept}");
        let text = soon("an answer", response.text()).await.unwrap();
        assert!(
            !text.contains('\u{2028}') && text.contains("\\u2028"),
            "in one line"
        );
        assert!(text.contains("structuredContent"));
    }
    let listening = post_as(
        &client,
        "application/json",
        LEGACY,
        &rpc(3, "ping", json!({})),
    )
    .await;
    assert_eq!(
        listening.json::<Value>().await.unwrap()["result"],
        json!({})
    );
}

#[tokio::test]
async fn the_end_of_a_session_has_no_content() {
    let gateway = Gateway::start().await;
    let (client, _) = of_version(&gateway, LEGACY).await;
    let ended = client.send(client.request(Method::DELETE)).await;
    assert_eq!(ended.status(), 204);
}

#[tokio::test]
async fn what_2026_07_28_does_not_have_is_not_found() {
    let gateway = Gateway::start().await;
    let client = Client::new(&gateway, "/mcp");
    for method in ["initialize", "logging/setLevel", "ping"] {
        let params = json!({
            "protocolVersion": MODERN, "capabilities": {}, "clientInfo": { "name": "a", "version": "1" },
            "level": "info",
        });
        let request = client
            .request(Method::POST)
            .json(&modern(1, method, params));
        let request = request
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", method);
        let answer = client.send(request).await;
        assert_eq!(answer.status(), 404, "{method}");
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
}
