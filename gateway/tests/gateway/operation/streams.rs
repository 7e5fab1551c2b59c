//! What an HTTP client sees of a gateway that stops, using MCP as the example.

use std::time::Duration;

use caphost_gateway::{Config, Limits};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::*;

const BOTH: &str = "Accept: application/json, text/event-stream\r\n";
const STREAM: &str = "Accept: text/event-stream\r\n";

async fn gateway(drain: Duration) -> Gateway {
    let limits = Limits {
        close_timeout: Duration::from_secs(1),
        ..Limits::default()
    };
    let config = Config {
        drain,
        limits,
        ..config()
    };
    Gateway::with(config).await
}

/// The headers of a request in a new session.
async fn session(gateway: &Gateway, accept: &str) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let begun = gateway.post("/mcp", accept, &initialize.to_string()).await;
    let session = begun.header("mcp-session-id");
    let session = session.unwrap_or_else(|| panic!("{}", begun.body));
    format!("{accept}Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25\r\n")
}

/// Sends a request whose answer is read later.
async fn send(gateway: &Gateway, method: &str, headers: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    let request = format!(
        "{method} /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        gateway.address,
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// The whole answer, which must not be cut off: one message, or a stream of events.
async fn whole(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    soon("the end of the stream", stream.read_to_string(&mut answer))
        .await
        .unwrap();
    let answer = answer.to_lowercase();
    assert!(answer.starts_with("http/1.1 200"), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    match head.split_once("content-length: ") {
        Some((_, length)) => {
            let length = length.lines().next().unwrap();
            assert_eq!(body.len().to_string(), length, "{answer}");
        }
        None => assert!(body.ends_with("0\r\n\r\n"), "{answer}"),
    }
    answer
}

async fn called(app: &mut Peer) -> Value {
    let asked = app.next().await;
    let session = json!({ "sessionId": "s" });
    app.send(answer(&asked, "initialize-result", session)).await;
    let called = app.next().await;
    assert_eq!(called["type"], "capabilities/call");
    called
}

fn call_tool() -> String {
    let params = json!({ "name": "a.b", "arguments": {} });
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_waits_for_news_ends() {
    let mut gateway = gateway(Duration::ZERO).await;
    let headers = session(&gateway, BOTH).await;
    let mut stream = send(&gateway, "GET", &headers, "").await;
    let mut first = [0; 12];
    soon("the stream", stream.read_exact(&mut first))
        .await
        .unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    gateway.stop();
    let mut rest = String::new();
    soon("its end", stream.read_to_string(&mut rest))
        .await
        .unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
    gateway.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_ends_with_a_result() {
    for tools in [true, false] {
        let mut gateway = gateway(Duration::ZERO).await;
        let headers = format!(
            "{BOTH}Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
        );
        let listen = json!({ "jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": {
            "notifications": { "toolsListChanged": tools },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        } });
        let stream = send(&gateway, "POST", &headers, &listen.to_string()).await;
        soon("the stream", stream.peek(&mut [0])).await.unwrap();
        gateway.stop();
        let answer = whole(stream).await;
        assert!(answer.contains(r#""resulttype":"complete""#), "{answer}");
        assert!(answer.contains(r#""id":"s""#), "{answer}");
        gateway.stopped().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_ends_in_time_has_its_result() {
    for accept in [BOTH, STREAM] {
        let mut gateway = gateway(Duration::from_secs(60)).await;
        let mut app = gateway.app("demo").await;
        let headers = session(&gateway, accept).await;
        let stream = send(&gateway, "POST", &headers, &call_tool()).await;
        let called = called(&mut app).await;
        gateway.stop();
        let done = json!({ "success": true, "data": { "kept": "promise" } });
        app.send(answer(&called, "capabilities/call-result", done))
            .await;
        let answer = whole(stream).await;
        assert!(answer.contains("promise"), "{answer}");
        assert_eq!(app.closed().await, 1001);
        drop(app);
        gateway.stopped().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_not_is_cancelled_and_answered() {
    for accept in [BOTH, STREAM] {
        let mut gateway = gateway(Duration::ZERO).await;
        let mut app = gateway.app("demo").await;
        let headers = session(&gateway, accept).await;
        let stream = send(&gateway, "POST", &headers, &call_tool()).await;
        let called = called(&mut app).await;
        gateway.stop();
        let asked = app.next().await;
        assert_eq!(asked["type"], "capabilities/cancel");
        let confirmation =
            json!({ "callId": called["payload"]["options"]["callId"], "cancelled": true });
        app.send(answer(&asked, "capabilities/cancel-result", confirmation))
            .await;
        let response = json!({ "success": false, "cancelled": true });
        app.send(answer(&called, "capabilities/call-result", response))
            .await;
        let answer = whole(stream).await;
        assert!(answer.contains(r#""id":2"#), "{answer}");
        drop(app);
        gateway.stopped().await;
    }
}
