//! Input that is not a valid MCP request.

use caphost_gateway::{Config, Limits};
use reqwest::Method;
use serde_json::{Value, json};

use super::app::demo;
use super::client::*;
use crate::support::*;

async fn refused(client: &Client, body: &str) -> (u16, Value) {
    let answer = client.post_text(body.to_string()).await;
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or(Value::Null))
}

#[tokio::test]
async fn bodies_that_are_no_message_are_refused_in_json_rpc() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    for (body, code, id) in [
        ("", -32700, Value::Null),
        ("{\"jsonrpc\"", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            Value::Null,
        ),
        ("null", -32600, Value::Null),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
            -32600,
            Value::Null,
        ),
        (r#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":7}"#,
            -32600,
            json!(1),
        ),
        (&deep, -32600, json!(1)),
    ] {
        let shown = &body[..body.len().min(80)];
        let (status, answer) = refused(&client, body).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (400, &json!(code)),
            "{shown}: {answer}"
        );
        assert_eq!(
            (&answer["jsonrpc"], &answer["id"]),
            (&json!("2.0"), &id),
            "{shown}"
        );
    }
    // The session still works.
    assert_eq!(client.ask(1, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_byte_order_mark_before_a_body_is_skipped() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    for body in [
        format!("\u{feff}{}", initialize(LEGACY)),
        format!("\u{feff}\n{}", initialize(LEGACY)),
    ] {
        assert_eq!(client.post_text(body).await.status(), 200);
    }
    // Elsewhere the mark is no part of JSON.
    let body = format!("\u{feff}\u{feff}{}", initialize(LEGACY));
    assert_eq!(refused(&client, &body).await.0, 400);
}

#[tokio::test]
async fn headers_are_those_the_protocol_wants() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let client = Client::new(&gateway, "/mcp");
    let http = http().build().unwrap();
    let body = initialize(LEGACY).to_string();
    let ask = |headers: &[(&'static str, &'static str)]| {
        let mut request = http.post(&client.url).body(body.clone());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        client.send(request)
    };
    let (json_type, both) = (
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    );
    for (headers, status) in [
        (vec![json_type, ("accept", "text/html")], 406),
        (vec![json_type, ("accept", "*/*;q=0")], 406),
        (vec![both], 415),
        (vec![both, ("content-type", "text/plain")], 415),
        (
            vec![json_type, both, ("mcp-protocol-version", "2025-06-18")],
            400,
        ),
        (vec![json_type, both, ("host", "evil.example")], 403),
        (
            vec![json_type, both, ("origin", "https://evil.example")],
            403,
        ),
        (vec![json_type, both], 200),
        (vec![json_type], 200),
        (vec![json_type, ("accept", "*/*")], 200),
        (vec![json_type, ("accept", "application/*, text/*")], 200),
        (vec![json_type, ("accept", "text/event-stream")], 200),
        (vec![json_type, ("accept", "application/json")], 200),
        (
            vec![("content-type", "application/json; charset=utf-8"), both],
            200,
        ),
    ] {
        let answer = ask(&headers).await;
        assert_eq!(answer.status(), status, "{headers:?}");
        if status != 200 {
            let answer: Value = answer.json().await.unwrap();
            assert!(answer["error"].is_object(), "{headers:?}: {answer}");
        }
    }
    let silent = gateway.post("/mcp", "", &body).await;
    assert_eq!(silent.status, 200, "without Accept");
    let event_stream = client.send(http.get(&client.url)).await;
    assert!(event_stream.status().is_client_error());
    for method in [Method::PUT, Method::PATCH] {
        let answer = client.send(client.request(method)).await;
        assert_eq!(answer.status(), 405);
        assert_eq!(answer.headers()["allow"], "GET, POST, DELETE");
    }
}

#[tokio::test]
async fn an_id_past_the_limit_is_refused() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let ping = |length: usize| {
        let mut message = rpc(1, "ping", json!({}));
        message["id"] = "x".repeat(length).into();
        message
    };
    let (status, answer) = refused(&client, &ping(255).to_string()).await;
    assert_eq!(
        (status, &answer["error"]["code"], &answer["id"]),
        (400, &json!(-32600), &Value::Null)
    );
    let answer = client.post(&ping(254)).await;
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn a_body_past_the_limit_is_too_large() {
    let limits = Limits {
        message_bytes: 10_000,
        ..Limits::default()
    };
    let gateway = Gateway::with(Config { limits, ..config() }).await;
    let _app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let large = rpc(1, "ping", json!({ "x": "y".repeat(20_000) })).to_string();
    assert_eq!(refused(&client, &large).await.0, 413);
    // The same body without an announced length.
    let chunks = [large.clone().into_bytes()].map(Ok::<_, std::io::Error>);
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
    let request = client
        .request(Method::POST)
        .header("content-type", "application/json");
    assert_eq!(client.send(request.body(body)).await.status(), 413);
    assert_eq!(client.ask(1, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_path_that_names_no_app_is_refused() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let long = format!("/mcp/{}", "x".repeat(10_000));
    for path in [
        "/mcp/a/b",
        "/mcp/a%2Fb",
        "/mcp/..",
        "/mcp/%2e%2e",
        "/mcp/a%00b",
        "/mcp/a%0Ab",
        "/mcp/%ff",
        &long,
    ] {
        // The path is sent unchanged, because an HTTP library may resolve `..`.
        let accept = "Accept: application/json, text/event-stream\r\n";
        for body in [initialize(LEGACY), modern(1, "server/discover", json!({}))] {
            let answer = gateway.post(path, accept, &body.to_string()).await;
            let shown = &path[..path.len().min(40)];
            assert!(
                (400..500).contains(&answer.status),
                "{shown}: {}",
                answer.status
            );
            assert_eq!(answer.json()["error"]["code"], -32600, "{shown}");
        }
    }
}

#[tokio::test]
async fn initialize_needs_its_parameters() {
    let gateway = Gateway::start().await;
    let client = Client::new(&gateway, "/mcp");
    for params in [
        json!({}),
        json!({ "protocolVersion": 7 }),
        json!({ "protocolVersion": LEGACY }),
    ] {
        let answer = client.post(&rpc(0, "initialize", params)).await;
        assert_eq!(answer.status(), 400);
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(0), &json!(-32602))
        );
    }
}

#[tokio::test]
async fn a_log_level_is_one_of_those_there_are() {
    let gateway = Gateway::start().await;
    let client = Client::open(&gateway, "/mcp").await;
    for params in [
        json!({}),
        json!({ "level": "loud" }),
        json!({ "level": 3 }),
        json!({ "level": null }),
    ] {
        let answer = client.ask(1, "logging/setLevel", params.clone()).await;
        let error = &answer["error"];
        assert_eq!(error["code"], -32602, "{params}: {answer}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("`level` must be one of debug, info,"),
            "{params}: {message}"
        );
    }
}
