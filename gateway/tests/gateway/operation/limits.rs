use std::time::Duration;

use caphost_gateway::{Config, HttpLimits, Limits, Tokens};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::request::bearer;
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_http_requests_are_told_when_to_come_back() {
    let tokens = ["agent=a", "app=b", "admin=c"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        http_limits: HttpLimits {
            requests_per_second: 3.0,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    // Each token has its own rate, and so has the address of clients without a token.
    for header in [bearer("a"), bearer("b"), bearer("c"), String::new()] {
        let mut refused = None;
        for _ in 0..30 {
            let answer = gateway.get("/", &header).await;
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            assert_eq!(answer.status, 200, "{header}");
        }
        let refused = refused.expect("a rate of 3 in a second is soon over");
        assert_eq!(refused.header("retry-after"), Some("1"));
        let error = &refused.json()["error"];
        assert_eq!(error["code"], "RATE_LIMITED");
        assert_eq!(error["details"]["limit"], "httpRequestsPerSecond");
        let wait = error["retryAfter"].as_f64().unwrap();
        assert!(wait > 0.0 && wait <= 1_000.0, "{wait}");
    }
    // An unknown token has no rate of its own.
    let answer = gateway.get("/", &bearer("made-up")).await;
    assert_eq!(answer.status, 429);
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    assert_eq!(gateway.get("/", &bearer("a")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_has_at_most_32_kib() {
    let gateway = Gateway::start().await;
    let upgrade = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (path, headers) in [("/readyz", ""), ("/abp", upgrade)] {
        for (bytes, fits) in [(32_000, true), (33_000, false), (60_000, false)] {
            let long = format!("{headers}X-Long: {}\r\n", "x".repeat(bytes));
            let status = gateway.get(path, &long).await.status;
            assert_eq!(status != 431, fits, "{path} {bytes}: {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_unread_is_said_in_the_dialect_of_its_path() {
    let gateway = Gateway::with(Config {
        http_limits: HttpLimits {
            requests_per_second: 10.0,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let foreign = "Origin: https://evil.example\r\n";
    let said = async |path: &str, status: u16| loop {
        let answer = gateway.post(path, foreign, "").await;
        if answer.status == status {
            return answer.json();
        }
    };
    for status in [403, 429] {
        let abp = said("/api/runs/none/cancel", status).await;
        assert!(abp["error"]["code"].is_string(), "{abp}");
        let mcp = said("/mcp", status).await;
        let (version, error) = (&mcp["jsonrpc"], &mcp["error"]);
        assert_eq!((version, &mcp["id"]), (&json!("2.0"), &json!(null)));
        assert_eq!(error["code"], -32600, "{mcp}");
        if status == 429 {
            assert_eq!(error["data"]["details"]["limit"], "httpRequestsPerSecond");
        }
        for path in ["/cancellation/cancel", "/v1/cancellation/status/x"] {
            let fast_api = said(path, status).await;
            assert!(fast_api["detail"].is_string(), "{fast_api}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_past_the_message_limit_is_refused_unread() {
    let gateway = Gateway::limited(Limits {
        message_bytes: 10_000,
        ..Limits::default()
    })
    .await;
    for path in [
        "/readyz",
        "/cancellation/cancel",
        "/v1/cancellation/cancel",
        "/api/runs/none/cancel",
        "/mcp",
        "/cancel_tool_call",
        "/rap/demo/close_thread",
    ] {
        let answer = gateway.post(path, "", &"x".repeat(10_001)).await;
        assert_eq!(answer.status, 413, "{path}");
        let said = answer.json();
        match path {
            "/mcp" => assert_eq!(said["error"]["data"]["limit"], "messageBytes"),
            _ if path.contains("cancellation") => assert!(said["detail"].is_string(), "{said}"),
            _ => assert_eq!(said["error"]["details"]["limit"], "messageBytes"),
        }
        let answer = gateway.post(path, "", &"x".repeat(10_000)).await;
        assert_ne!(answer.status, 413, "{path}");
    }
    // The gateway refuses an announced length before any of the body has come.
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    let head = format!(
        "POST /cancellation/cancel HTTP/1.1\r\nHost: {}\r\nContent-Length: 99999999999\r\n\r\n",
        gateway.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    soon("a refusal", stream.read_exact(&mut start))
        .await
        .unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_grows_past_the_limit_is_refused_as_well() {
    let gateway = Gateway::limited(Limits {
        message_bytes: 10_000,
        ..Limits::default()
    })
    .await;
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    let mut request = format!(
        "POST /cancellation/cancel HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
        gateway.address
    );
    for _ in 0..20 {
        request += &format!("400\r\n{}\r\n", "x".repeat(1_024));
    }
    request += "0\r\n\r\n";
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = soon("an answer", stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn depth_and_the_length_of_an_id_are_bounded() {
    let gateway = Gateway::limited(Limits {
        depth: 8,
        id_bytes: 20,
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    // The message, its payload and its params are three levels.
    for (levels, accepted) in [(5, true), (6, false)] {
        let params = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        agent
            .text(format!(
                r#"{{"type":"capabilities/call","id":"{levels}","timestamp":1,
                    "payload":{{"capability":"a.b","params":{{"x":{params}}}}}}}"#
            ))
            .await;
        if accepted {
            let relayed = app.next().await;
            let done = json!({ "success": true });
            app.send(answer(&relayed, "capabilities/call-result", done))
                .await;
            assert_eq!(agent.next().await["payload"]["success"], true);
        } else {
            let got = agent.next().await;
            assert_eq!((&got["id"], code(&got)), (&json!("6"), "INVALID_PARAMS"));
            assert_eq!(got["payload"]["error"]["details"]["limit"], "depth");
        }
    }
    // With its quotes, an id of 18 characters has 20 bytes.
    agent.send(call(&"i".repeat(19), "c")).await;
    assert_eq!(code(&agent.next().await), "INVALID_PARAMS");
    agent.send(call(&"i".repeat(18), "c")).await;
    assert_eq!(app.next().await["payload"]["options"]["callId"], "c");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn apps_are_bounded_in_number() {
    let gateway = Gateway::limited(Limits {
        apps: 1,
        ..Limits::default()
    })
    .await;
    let first = gateway.app("first").await;
    let mut second = gateway.peer("/abp/app").await;
    second.send(register("second")).await;
    assert_eq!(code(&second.next().await), "RATE_LIMITED");
    assert_eq!(second.closed().await, 1013);
    drop(first);
    let room = async {
        loop {
            let mut third = gateway.peer("/abp/app").await;
            third.send(register("third")).await;
            if third.next().await["type"] == "app/registered" {
                break;
            }
        }
    };
    soon("room for another", room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_without_a_request_is_closed() {
    let gateway = Gateway::with(Config {
        http_limits: HttpLimits {
            idle_timeout: Duration::from_millis(500),
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n", gateway.address);
    for (sent, answers) in [
        (String::new(), 0),
        (head.clone(), 0),
        (format!("{head}\r\n"), 1),
        (format!("{head}\r\n{head}\r\n{head}"), 2),
    ] {
        let mut stream = TcpStream::connect(gateway.address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon("the end", stream.read_to_string(&mut answer))
            .await
            .unwrap();
        assert_eq!(answer.matches("HTTP/1.1 200").count(), answers, "{sent}");
    }
    // A WebSocket that was quiet for the same time stays open.
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_come_in_time_is_answered_408() {
    let gateway = Gateway::with(Config {
        http_limits: HttpLimits {
            body_timeout: Duration::from_millis(500),
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let _app = gateway.app("demo").await;
    let head = |path: &str, length: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{length}\r\n\r\n",
            gateway.address
        )
    };
    for path in [
        "/mcp",
        "/mcp/demo",
        "/cancellation/cancel",
        "/v1/cancellation/cancel",
        "/invoke",
        "/cancel_tool_call",
        "/rap/demo/close_thread",
    ] {
        // Either nothing comes, or a little comes now and then, forever.
        for (length, some) in [
            ("Content-Length: 1000", ""),
            ("Content-Length: 1000", " "),
            ("Transfer-Encoding: chunked", "1\r\n \r\n"),
        ] {
            let stream = TcpStream::connect(gateway.address).await.unwrap();
            let (mut reading, mut writing) = stream.into_split();
            let start = head(path, length);
            let dripping = tokio::spawn(async move {
                writing.write_all(start.as_bytes()).await.unwrap();
                while writing.write_all(some.as_bytes()).await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            });
            let mut answer = Vec::new();
            let _ = soon("an answer", reading.read_to_end(&mut answer)).await;
            dripping.abort();
            let answer = String::from_utf8(answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 408"), "{path}: {answer}");
            assert!(answer.contains("connection: close"), "{answer}");
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let error = &serde_json::from_str::<serde_json::Value>(body).unwrap()["error"];
            assert_eq!(error["details"]["limit"], "httpBodyTimeout");
            assert_eq!(
                (&error["code"], &error["retryable"]),
                (&json!("TRANSPORT_ERROR"), &json!(true))
            );
        }
    }
    // A slow body that comes in time is accepted, and its answer may take longer.
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    let start = head("/cancellation/cancel", "Content-Length: 20");
    stream.write_all(start.as_bytes()).await.unwrap();
    for part in [r#"{"requestId""#, r#":"nope"}"#] {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stream.write_all(part.as_bytes()).await.unwrap();
    }
    let mut start = [0; 12];
    soon("an answer", stream.read_exact(&mut start))
        .await
        .unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
}
