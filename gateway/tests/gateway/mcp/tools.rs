//! The list of tools.

use serde_json::{Value, json};

use super::app::{called, demo, offer, succeed};
use super::client::*;
use crate::support::*;

async fn list(client: &Client, params: Value) -> Value {
    client.ask("l", "tools/list", params).await
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn the_capabilities_of_the_app_are_tools() {
    let gateway = Gateway::start().await;
    let input = json!({ "type": "object", "properties": { "html": { "type": "string" } } });
    let output = json!({ "type": "object", "properties": { "pages": { "type": "integer" } } });
    let capabilities = json!([
        { "name": "export.pdf", "description": "Makes a PDF", "inputSchema": input, "outputSchema": output },
        { "name": "plain", "inputSchema": {}, "outputSchema": { "type": "string" } },
    ]);
    let _app = offer(&gateway, "demo", capabilities).await;
    let execution = json!({ "taskSupport": "optional" });
    for path in ["/mcp", "/mcp/", "/mcp/demo"] {
        let client = Client::open(&gateway, path).await;
        let answer = list(&client, json!({})).await;
        assert_eq!(
            answer["result"],
            json!({ "tools": [
                { "name": "export_pdf", "title": "export.pdf", "description": "Makes a PDF",
                  "inputSchema": input, "outputSchema": output, "execution": execution },
                { "name": "plain", "inputSchema": { "type": "object" }, "execution": execution },
            ] }),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_client_may_want_some_tools_only() {
    let gateway = Gateway::start().await;
    let capabilities = ["export.pdf", "export.png", "open", "close"];
    let capabilities = capabilities.map(|name| json!({ "name": name }));
    let mut app = offer(&gateway, "demo", json!(capabilities)).await;
    let client = Client::open(&gateway, "/mcp/demo?tools=export_*,open").await;
    let answer = list(&client, json!({})).await;
    assert_eq!(names(&answer), ["export_pdf", "export_png", "open"]);
    let other = client
        .ask("c", "tools/call", json!({ "name": "close" }))
        .await;
    assert_eq!(other["error"]["message"], "Unknown tool: close");
    let calling = client.ask("o", "tools/call", json!({ "name": "export.pdf" }));
    let (answer, ()) = tokio::join!(calling, async {
        let call = called(&mut app).await;
        succeed(&mut app, &call, json!(1)).await;
    });
    assert_eq!(answer["result"]["content"][0]["text"], "1");
    let by_its_own_name = Client::open(&gateway, "/mcp?tools=*.pdf").await;
    let answer = list(&by_its_own_name, json!({})).await;
    assert_eq!(names(&answer), ["export_pdf"]);
}

#[tokio::test]
async fn all_tools_are_on_the_first_page() {
    let gateway = Gateway::start().await;
    let capabilities: Vec<_> = (0..300)
        .map(|it| json!({ "name": format!("tool{it}") }))
        .collect();
    let _app = offer(&gateway, "demo", json!(capabilities)).await;
    let client = Client::open(&gateway, "/mcp").await;
    let all = list(&client, json!({ "cursor": null })).await;
    assert_eq!(names(&all).len(), 300);
    assert!(all["result"].get("nextCursor").is_none());
    for cursor in [json!("nope"), json!(""), json!(5), json!({})] {
        let bad = list(&client, json!({ "cursor": cursor })).await;
        assert_eq!(bad["error"]["code"], -32602, "{cursor}: {bad}");
        let message = bad["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("Invalid cursor"), "{cursor}");
    }
}

#[tokio::test]
async fn without_an_app_there_are_no_tools_until_one_comes() {
    let gateway = Gateway::start().await;
    let client = Client::open(&gateway, "/mcp").await;
    assert_eq!(
        list(&client, json!({})).await["result"],
        json!({ "tools": [] })
    );
    let mut events = client.listen().await;
    let mut app = demo(&gateway).await;
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    assert_eq!(events.next().await, Some(changed.clone()));
    assert_eq!(
        names(&list(&client, json!({})).await),
        ["export_pdf", "echo"]
    );

    let more = json!({ "capabilities": [{ "name": "echo" }] });
    app.send(request("app/update", "u", more)).await;
    assert_eq!(events.next().await, Some(changed.clone()));
    assert_eq!(names(&list(&client, json!({})).await), ["echo"]);

    let difference = json!({ "added": [{ "name": "a" }, { "name": "z" }], "removed": ["echo"] });
    app.send(request("app/update", "u", difference)).await;
    assert_eq!(events.next().await, Some(changed.clone()));
    assert_eq!(names(&list(&client, json!({})).await), ["a", "z"]);

    drop(app);
    assert_eq!(events.next().await, Some(changed));
    assert_eq!(names(&list(&client, json!({})).await), [""; 0]);
}

#[tokio::test]
async fn another_app_changes_nothing_for_a_client_of_this_one() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp/demo").await;
    let mut events = client.listen().await;
    let _other = offer(&gateway, "other", json!([{ "name": "x" }])).await;
    app.send(request(
        "app/update",
        "u",
        json!({ "capabilities": [{ "name": "new" }] }),
    ))
    .await;
    assert_eq!(
        events.next().await.unwrap()["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(names(&list(&client, json!({})).await), ["new"]);
    let none: Result<_, _> =
        tokio::time::timeout(std::time::Duration::from_millis(300), events.next()).await;
    assert!(none.is_err(), "one change, one notification");
}

#[tokio::test]
async fn a_change_while_nobody_listens_is_told_to_who_listens_next() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    app.send(request("app/update", "u", json!({ "capabilities": [] })))
        .await;
    while !names(&list(&client, json!({})).await).is_empty() {}
    let mut events = client.listen().await;
    assert_eq!(
        events.next().await.unwrap()["method"],
        "notifications/tools/list_changed"
    );
}

async fn call(client: &Client, name: &str) -> Value {
    client.ask(1, "tools/call", json!({ "name": name })).await
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_client_may_begin_before_its_app_is_there() {
    let gateway = Gateway::start().await;
    let client = Client::open(&gateway, "/mcp/demo").await;
    let none = json!({ "tools": [] });
    assert_eq!(list(&client, json!({})).await["result"], none);
    let called = call(&client, "echo").await;
    assert_eq!(called["result"]["isError"], true);
    assert_eq!(
        text(&called),
        "DISCONNECTED: No app with id \"demo\" is connected"
    );
    let mut events = client.listen().await;
    let app = demo(&gateway).await;
    assert_eq!(
        events.next().await.unwrap()["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(
        names(&list(&client, json!({})).await),
        ["export_pdf", "echo"]
    );
    // A session outlives its app.
    drop(app);
    while !names(&list(&client, json!({})).await).is_empty() {}
    assert_eq!(
        text(&call(&client, "echo").await),
        "DISCONNECTED: No app with id \"demo\" is connected"
    );
}

#[tokio::test]
async fn an_unknown_app_is_told_with_those_connected() {
    let gateway = Gateway::start().await;
    let _one = demo(&gateway).await;
    let _two = offer(&gateway, "two", json!([{ "name": "x" }])).await;
    let client = Client::open(&gateway, "/mcp/nope").await;
    let called = call(&client, "x").await;
    let told = text(&called);
    for part in [
        "No app with id \"nope\"",
        "demo, two",
        "--app <app id>",
        "/mcp/<app id>",
    ] {
        assert!(told.contains(part), "{told}");
    }
}
