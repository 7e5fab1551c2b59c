//! Calls of tools, and their results.

use serde_json::{Value, json};

use super::app::{called, demo, fail, offer, progress, succeed};
use super::client::*;
use crate::support::*;

#[tokio::test]
async fn a_call_reaches_the_app_and_its_data_comes_back() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let params = json!({ "name": "export_pdf", "arguments": { "html": "<p>" } });
    let stream = client.stream(&rpc(3, "tools/call", params)).await;
    let relayed = called(&mut app).await;
    assert_eq!(relayed["payload"]["capability"], "export.pdf");
    assert_eq!(relayed["payload"]["params"], json!({ "html": "<p>" }));
    let run = gateway.get("/api/runs", "").await.json()["runs"][0].clone();
    assert_eq!(run["dialect"], "mcp");
    assert_eq!(run["dialectId"], "3");
    assert!(run["thread"].is_string());
    assert_ne!(
        run["thread"].as_str(),
        client.session.as_deref(),
        "a list of runs does not let its readers into sessions"
    );
    let data = json!({ "pdf": "JVBERi0=", "mimeType": "application/pdf", "pageCount": 1 });
    succeed(&mut app, &relayed, data).await;
    let answer = stream.last().await;
    let result = &answer["result"];
    assert_eq!(result["isError"], false);
    let pointed = json!({ "pdf": "#/content/1/resource/blob", "mimeType": "application/pdf", "pageCount": 1 });
    let structured = result.get("structuredContent");
    assert!(structured.is_none(), "a client would show nothing else");
    assert_eq!(result["content"][1]["resource"]["blob"], "JVBERi0=");
    assert_eq!(
        result["content"][1]["resource"]["mimeType"],
        "application/pdf"
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), pointed);
    assert_eq!(result["_meta"]["caphost/run"], run["runId"]);
    assert!(result.get("resultType").is_none(), "not of this version");
}

#[tokio::test]
async fn the_app_is_told_who_calls() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let _stream = client.call_tool(1, "echo").await;
    let hello = app.next().await;
    assert_eq!(hello["type"], "initialize");
    assert_eq!(
        hello["payload"]["agent"],
        json!({ "name": "test", "version": "1" })
    );
}

#[tokio::test]
async fn progress_comes_before_the_result_and_only_to_who_asked() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let params = json!({ "name": "echo", "_meta": { "progressToken": "t" } });
    let mut stream = client.stream(&rpc(1, "tools/call", params)).await;
    let relayed = called(&mut app).await;
    for percent in [10, 60, 60] {
        let info = json!({ "progress": percent, "total": 100, "status": format!("{percent} %") });
        progress(&mut app, &relayed, info).await;
    }
    let told = stream.next().await.unwrap();
    assert_eq!(
        told,
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": "t", "progress": 10.0, "total": 100.0, "message": "10 %",
        } })
    );
    succeed(&mut app, &relayed, json!(null)).await;
    let mut rest = Vec::new();
    while let Some(message) = stream.next().await {
        rest.push(message);
    }
    assert_eq!(
        rest.len(),
        2,
        "what does not increase is not told: {rest:?}"
    );
    assert_eq!(rest[0]["params"]["progress"], 60.0);
    assert_eq!(rest[1]["result"]["content"], json!([]));

    let mut silent = client.call_tool(2, "echo").await;
    let relayed = called(&mut app).await;
    assert!(relayed["payload"]["options"].get("progressToken").is_none());
    succeed(&mut app, &relayed, json!(1)).await;
    assert_eq!(silent.next().await.unwrap()["id"], 2);
}

#[tokio::test]
async fn a_failure_is_a_result_that_reads_as_code_and_message() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let stream = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    let error = json!({ "code": "INVALID_PARAMS", "message": "html is missing", "retryable": false,
                        "details": { "path": "html" } });
    fail(&mut app, &relayed, error.clone()).await;
    let result = stream.last().await["result"].take();
    assert_eq!(result["isError"], true);
    assert_eq!(
        result["content"],
        json!([{ "type": "text", "text": "INVALID_PARAMS: html is missing" }])
    );
    assert_eq!(result["_meta"]["caphost/error"], error);
}

#[tokio::test]
async fn an_app_that_goes_leaves_an_error_to_read() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let stream = client.call_tool(1, "echo").await;
    called(&mut app).await;
    drop(app);
    let result = stream.last().await["result"].take();
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("DISCONNECTED: "), "{text}");
    // The next connection of the app serves the same session.
    let mut app = demo(&gateway).await;
    let stream = client.call_tool(2, "echo").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("back")).await;
    assert_eq!(stream.last().await["result"]["content"][0]["text"], "back");
}

#[tokio::test]
async fn what_is_no_tool_is_an_error_of_the_request() {
    let gateway = Gateway::start().await;
    let _app = offer(
        &gateway,
        "demo",
        json!([{ "name": "x.y" }, { "name": "x/y" }]),
    )
    .await;
    let client = Client::open(&gateway, "/mcp").await;
    for (params, message) in [
        (json!({ "name": "nope" }), "Unknown tool: nope"),
        (json!({ "name": "" }), "Unknown tool: "),
        (json!({ "name": "x_y" }), "Unknown tool: x_y"),
        (json!({}), "Invalid parameters for tools/call"),
        (json!({ "name": 7 }), "Invalid parameters for tools/call"),
        (
            json!({ "name": "x.y", "arguments": [] }),
            "Invalid parameters for tools/call",
        ),
    ] {
        let answer = client.ask("id", "tools/call", params.clone()).await;
        assert_eq!(answer["id"], "id");
        assert_eq!(answer["error"]["code"], -32602, "{params}");
        assert_eq!(answer["error"]["message"], message, "{params}");
    }
}

#[tokio::test]
async fn what_is_not_offered_is_not_found() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    for method in [
        "nope",
        "tools/nope",
        "prompts/list",
        "prompts/get",
        "resources/subscribe",
        "completion/complete",
        "$/nope",
        "",
    ] {
        let answer = client.ask(1, method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    // A message that is not a request is not answered.
    let ignored = client
        .post(&notification("notifications/nope", json!({})))
        .await;
    assert_eq!(ignored.status(), 202);
}

#[tokio::test]
async fn a_large_result_comes_whole() {
    let gateway = Gateway::without_links().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let stream = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    let image = "QUJD".repeat(1_000_000);
    let data = json!({ "image": image, "mimeType": "image/png", "encoding": "base64" });
    succeed(&mut app, &relayed, data).await;
    let result = stream.last().await["result"].take();
    assert_eq!(
        result["content"][1]["data"].as_str().unwrap().len(),
        4_000_000
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("#/content/1/data"), "{text}");
}
