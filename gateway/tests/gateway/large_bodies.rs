//! Large request bodies, and large answers that nobody reads.

use std::time::{Duration, Instant};

use caphost_gateway::{Config, HttpLimits, Limits, McpOptions};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::hardening::{MIB, tokens};
use crate::mcp::client::{MODERN, modern};
use crate::request::bearer;
use crate::support::*;

/// A connection that has sent `request`, and whose system buffers little.
async fn sent(gateway: &Gateway, request: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(gateway.address).await.unwrap();
    // A connection that has to make room is reset.
    let _ = soon("sending", stream.write_all(request.as_bytes())).await;
    stream
}

/// Reads everything that comes.
async fn read(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = soon("the end", stream.read_to_end(&mut answer)).await;
    String::from_utf8(answer).unwrap()
}

/// The headers of a request to `/mcp`.
fn mcp_headers(token: &str, method: &str) -> String {
    let token = bearer(token);
    format!(
        "{token}Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: {MODERN}\r\n\
         Mcp-Method: {method}\r\nContent-Type: application/json\r\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_one_token_that_do_not_end_are_not_kept() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=greedy", "agent=honest", "app=c"]),
        limits: Limits {
            unfinished_bytes: 2 * MIB,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    let large = modern(1, "server/discover", json!({ "x": "x".repeat(800_000) })).to_string();
    let mut greedy = Vec::new();
    for path in ["/mcp", "/mcp", "/invoke", "/mcp", "/invoke", "/mcp"] {
        let (host, length) = (gateway.address, large.len());
        let headers = mcp_headers("greedy", "server/discover");
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\
             Content-Length: {length}\r\n\r\n{}",
            &large[1..]
        );
        greedy.push(sent(&gateway, &request).await);
        let headers = mcp_headers("honest", "server/discover");
        let answer = gateway.ask("POST", "/mcp", &headers, &large).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    // At least four requests were too much, and were refused.
    let mut refused = Vec::new();
    for stream in &mut greedy {
        let answer = tokio::time::timeout(Duration::from_secs(1), read(stream)).await;
        refused.extend(answer);
    }
    assert!(refused.len() >= 4, "{}", refused.len());
    let told = refused.iter().filter(|answer| {
        answer.starts_with("HTTP/1.1 503") && answer.to_lowercase().contains("retry-after")
    });
    assert_eq!(told.count(), refused.len(), "{refused:?}");
    let in_json_rpc = refused.iter().any(|it| it.contains("\"jsonrpc\""));
    assert!(in_json_rpc, "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_small_bodies_of_one_token_that_do_not_end_are_not_kept() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=greedy", "agent=honest", "app=c"]),
        limits: Limits {
            unfinished_bytes: MIB,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    let host = gateway.address;
    let headers = mcp_headers("greedy", "server/discover");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\
         Content-Length: 60000\r\n\r\n{}",
        " ".repeat(59_000)
    );
    let mut greedy = Vec::new();
    for _ in 0..40 {
        greedy.push(sent(&gateway, &request).await);
    }
    let small = modern(1, "server/discover", json!({ "x": "x".repeat(50_000) })).to_string();
    let headers = mcp_headers("honest", "server/discover");
    let answer = gateway.ask("POST", "/mcp", &headers, &small).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut refused = 0;
    for stream in &mut greedy {
        let answer = tokio::time::timeout(Duration::from_millis(200), read(stream)).await;
        refused += usize::from(answer.is_ok_and(|it| it.starts_with("HTTP/1.1 503")));
    }
    assert!(refused >= 25, "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_one_byte_chunks_is_read_as_any_other() {
    let gateway = Gateway::start().await;
    let discover = modern(1, "server/discover", json!({ "x": "x".repeat(50_000) })).to_string();
    let chunked: String = discover
        .chars()
        .map(|it| format!("1\r\n{it}\r\n"))
        .collect();
    let (host, headers) = (gateway.address, mcp_headers("none", "server/discover"));
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\
         Transfer-Encoding: chunked\r\n\r\n{chunked}0\r\n\r\n"
    );
    let answer = read(&mut sent(&gateway, &request).await).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// An app with the token `c` and a manifest of about a mebibyte.
async fn app_with_a_large_manifest(gateway: &Gateway) -> Peer {
    let mut app = gateway.peer("/abp/app?token=c").await;
    let mut message = register("demo");
    message["payload"]["capabilities"] =
        json!([{ "name": "a.b", "description": "d".repeat(MIB - 10_000) }]);
    app.send(message).await;
    assert_eq!(app.next().await["type"], "app/registered");
    app
}

/// A request of the token `greedy` for that manifest, whose answer is not read.
async fn unread_pull(gateway: &Gateway) -> TcpStream {
    let (host, token) = (gateway.address, bearer("greedy"));
    let request =
        format!("GET /abp.json HTTP/1.1\r\nHost: {host}\r\n{token}Connection: close\r\n\r\n");
    sent(gateway, &request).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_unread_pulls_of_a_large_manifest_stall_nobody() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=greedy", "agent=honest", "app=c"]),
        ..config()
    })
    .await;
    let mut app = app_with_a_large_manifest(&gateway).await;
    let mut agent = gateway.peer("/abp?token=honest").await;
    agent.initialize(&mut app).await;
    let mut unread = Vec::new();
    let mut times = Vec::new();
    for pull in 0..60 {
        unread.push(unread_pull(&gateway).await);
        for _ in 0..5 {
            let began = Instant::now();
            agent.call_through(&mut app).await;
            times.push(began.elapsed());
        }
        if pull % 20 == 19 {
            let answer = gateway.get("/abp.json", &bearer("honest")).await;
            assert_eq!(
                (answer.status, answer.body.len() > MIB - 10_000),
                (200, true)
            );
        }
    }
    times.sort();
    let p99 = times[times.len() * 99 / 100];
    assert!(p99 < Duration::from_millis(500), "{p99:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_one_token_does_not_read_are_not_kept() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=greedy", "agent=honest", "app=c"]),
        http_limits: HttpLimits {
            unsent_bytes: 2 * MIB,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let _app = app_with_a_large_manifest(&gateway).await;
    let mut unread = Vec::new();
    for _ in 0..10 {
        unread.push(unread_pull(&gateway).await);
        let answer = gateway.get("/abp.json", &bearer("honest")).await;
        assert_eq!(
            (answer.status, answer.body.len() > MIB - 10_000),
            (200, true)
        );
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut whole = 0;
    for stream in &mut unread {
        whole += usize::from(read(stream).await.len() >= MIB - 10_000);
    }
    assert!(whole <= 2, "{whole}");
    // Bytes that are gone do not count any more.
    let answer = gateway.get("/abp.json", &bearer("greedy")).await;
    assert_eq!(
        (answer.status, answer.body.len() > MIB - 10_000),
        (200, true)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_larger_than_all_that_may_be_kept_is_refused() {
    let gateway = Gateway::with(Config {
        http_limits: HttpLimits {
            unsent_bytes: 100_000,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app").await;
    let mut message = register("demo");
    message["payload"]["capabilities"] =
        json!([{ "name": "a.b", "description": "d".repeat(200_000) }]);
    app.send(message).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let answer = gateway.get("/abp.json", "").await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["error"]["code"], "RATE_LIMITED");
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_answer_is_open_until_it_is_read() {
    let gateway = Gateway::with(Config {
        mcp: McpOptions {
            mcp_max_open_per_token: 1,
            ..McpOptions::default()
        },
        ..config()
    })
    .await;
    let mut app = gateway.app("demo").await;
    let call = modern(1, "tools/call", json!({ "name": "a.b", "arguments": {} })).to_string();
    let headers = mcp_headers("none", "tools/call") + "Mcp-Name: a.b\r\n";
    let (host, length) = (gateway.address, call.len());
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {length}\r\n\r\n{call}"
    );
    // With an open session, the answer to the next call comes at once.
    let first = async {
        let initialize = app.next().await;
        let session = json!({ "sessionId": "s" });
        app.send(answer(&initialize, "initialize-result", session))
            .await;
        let called = app.next().await;
        let done = json!({ "success": true });
        app.send(answer(&called, "capabilities/call-result", done))
            .await;
    };
    let (answered, ()) = tokio::join!(gateway.ask("POST", "/mcp", &headers, &call), first);
    assert_eq!(answered.status, 200);
    let mut unread = sent(&gateway, &request).await;
    let called = app.next().await;
    let done = json!({ "success": true, "data": "x".repeat(400_000) });
    app.send(answer(&called, "capabilities/call-result", done))
        .await;
    // The answer is being written.
    unread.readable().await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(
        gateway.ask("POST", "/mcp", &headers, &call).await.status,
        503
    );
    let mut text = vec![0; 400_000];
    soon("it", unread.read_exact(&mut text)).await.unwrap();
    drop(unread);
    let free = async {
        let refused = async || {
            let asked = gateway.ask("POST", "/mcp", &headers, &call);
            let asked = tokio::time::timeout(Duration::from_millis(200), asked).await;
            asked.is_ok_and(|answer| answer.status == 503)
        };
        while refused().await {}
    };
    soon("room", free).await;
}
