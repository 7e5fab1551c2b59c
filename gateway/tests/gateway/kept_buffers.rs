//! Connections that have carried one large message and stay open: the memory for the message is given back.

#![cfg(target_os = "linux")]

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::binary::{caphost, port_of, serve};
use crate::hardening::{MIB, memory};
use crate::support::*;

async fn peer(port: u16, path: &str) -> Peer {
    let url = format!("ws://127.0.0.1:{port}{path}");
    Peer::open(url.into_client_request().unwrap())
        .await
        .unwrap()
}

/// A gateway that does not treat a peer as gone because a busy machine does not read for a while.
const PATIENT: [&str; 5] = ["serve", "--port", "0", "--dead-peer-timeout", "10m"];

/// How much the memory of the process has grown, after it had time to give memory back.
async fn grown(pid: u32, before: usize) -> usize {
    tokio::time::sleep(Duration::from_secs(1)).await;
    memory(pid).saturating_sub(before) / MIB
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_messages_that_were_read_leave_no_memory_with_their_connections() {
    let (mut child, ready) = serve(caphost(&PATIENT)).await;
    let (port, pid) = (port_of(&ready), child.id().unwrap());
    let mut peers = vec![peer(port, "/abp").await];
    let before = memory(pid);
    // The message is too large to be accepted, but is read to its end.
    let message = request("x", "1", json!({ "x": "x".repeat(20 * MIB) })).to_string();
    for _ in 0..15 {
        let mut agent = peer(port, "/abp").await;
        agent.text(message.clone()).await;
        let refused = agent.next().await;
        let details = &refused["payload"]["error"]["details"];
        assert_eq!(details["limit"], "messageBytes");
        peers.push(agent);
    }
    let mut apps = Vec::new();
    for number in 0..30 {
        let mut app = peer(port, "/abp/app").await;
        let mut message = register(&format!("app-{number}"));
        message["payload"]["capabilities"][0]["description"] = "d".repeat(900_000).into();
        app.send(message).await;
        assert_eq!(app.next().await["type"], "app/registered");
        apps.push(app);
    }
    // The offers of the apps are kept once, and the allocator keeps some memory for the next ones. If the
    // connections kept their buffers, it would be 380 MiB.
    let grown = grown(pid, before).await;
    assert!(grown < 150, "{grown} MiB");
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_messages_that_were_written_leave_no_memory_with_their_connections() {
    let (mut child, ready) = serve(caphost(&PATIENT)).await;
    let (port, pid) = (port_of(&ready), child.id().unwrap());
    let mut app = peer(port, "/abp/app").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut agents = Vec::new();
    for _ in 0..15 {
        let mut agent = peer(port, "/abp").await;
        agent.initialize(&mut app).await;
        agents.push(agent);
    }
    let before = memory(pid);
    let large = "é".repeat(6 * MIB);
    for agent in &mut agents {
        agent.send(call("1", "1")).await;
        let called = app.next().await;
        let done = json!({ "success": true, "data": large });
        app.send(answer(&called, "capabilities/call-result", done))
            .await;
        let result = agent.next().await;
        assert_eq!(result["payload"]["data"].as_str(), Some(&*large));
    }
    // If the connections kept their buffers, it would be 220 MiB.
    let grown = grown(pid, before).await;
    assert!(grown < 120, "{grown} MiB");
    child.kill().await.unwrap();
}

/// The highest memory use of a process.
fn most_memory(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().nth(1));
    kibibytes.unwrap().parse::<usize>().unwrap() << 10
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_messages_that_end_on_many_connections_count_until_they_are_handled() {
    let mut serving = caphost(&["serve", "--port", "0", "--max-unfinished-bytes", "32MiB"]);
    // The honest peer does not read pings meanwhile, and a busy machine is slow.
    serving.args(["--dead-peer-timeout", "10m"]);
    let (mut child, ready) = serve(serving).await;
    let (port, pid) = (port_of(&ready), child.id().unwrap());
    let mut honest = peer(port, "/abp").await;
    let before = memory(pid);
    // The message is deeply structured, so that reading it takes time.
    let nested = format!(
        r#"{{"type":"x","id":"1","payload":[{}[]]}}"#,
        "[],".repeat(5 * MIB)
    );
    let mut attackers = JoinSet::new();
    for _ in 0..24 {
        let mut attacker = peer(port, "/abp").await;
        let text = nested.clone();
        attackers.spawn(async move {
            for _ in 0..2 {
                // A connection that has to make room is closed.
                if attacker.socket.send(Message::text(&*text)).await.is_err() {
                    break;
                }
            }
            let _ = attacker.socket.close(None).await;
            while let Some(Ok(_)) = attacker.socket.next().await {}
        });
    }
    let ended = async { while attackers.join_next().await.is_some() {} };
    tokio::time::timeout(Duration::from_secs(300), ended)
        .await
        .unwrap();
    let grown = (most_memory(pid) - before) / MIB;
    // This includes memory that closed connections leave behind. Without counting it would be twice as much.
    assert!(grown < 340, "{grown} MiB");
    honest.send(request("x", "1", json!({}))).await;
    assert_eq!(honest.next().await["type"], "error");
    child.kill().await.unwrap();
}

/// Sends three requests of more than 15 MB at once. They consist mostly of the smallest possible values.
async fn most_grown(what: &str) -> usize {
    let bound = ["serve", "--port", "0"];
    let (mut child, ready) = serve(caphost(&bound)).await;
    let (port, pid) = (port_of(&ready), child.id().unwrap());
    let mut app = peer(port, "/abp/app").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let tiny = format!("[{}[]]", "[],".repeat(5_200_000));
    let with = |message: serde_json::Value| message.to_string().replace("\"tiny\"", &tiny);
    let before = memory(pid);
    let mut requests = JoinSet::new();
    for number in 0..3 {
        let rpc = |method: &str, params| {
            with(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
        };
        let (path, body, status) = match what {
            "_meta" => {
                let params = json!({ "_meta": { "a": "tiny" } });
                ("/mcp", rpc("tools/list", params), 400)
            }
            "capabilities" => {
                let info = json!({ "name": "n", "version": "1" });
                let capabilities = json!({ "a": "tiny" });
                let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
                ("/mcp", rpc("initialize", params), 200)
            }
            "arguments" => {
                let body = json!({
                    "operation": "a_b", "arguments": { "a": "tiny" }, "id": number.to_string(),
                    "group_id": "g", "callback_url": "http://127.0.0.1:9/",
                });
                ("/invoke", with(body), 200)
            }
            method => {
                let params = json!({ "capability": "a.b", "params": { "a": "tiny" } });
                ("/jsonrpc", rpc(method, params), 0)
            }
        };
        requests.spawn(async move {
            if status == 0 {
                let mut client = peer(port, path).await;
                client.text(body).await;
                // The call waits for its app.
                let _ = tokio::time::timeout(Duration::from_secs(3), client.next()).await;
                return;
            }
            let url = format!("http://127.0.0.1:{port}{path}");
            let request = http().build().unwrap().post(url);
            let request = request.header("content-type", "application/json");
            let request = request.header("accept", "application/json, text/event-stream");
            let answer = request.body(body).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), status);
        });
    }
    while let Some(done) = requests.join_next().await {
        done.unwrap();
    }
    let grown = (most_memory(pid) - before) / MIB;
    child.kill().await.unwrap();
    grown
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_millions_of_tiny_values_take_little_more_than_their_text() {
    let mut grown = Vec::new();
    for what in [
        "_meta",
        "capabilities",
        "arguments",
        "x",
        "_capabilities/call",
    ] {
        grown.push((what, most_grown(what).await));
    }
    // As parsed values, three requests would take 800 MiB.
    assert!(grown.iter().all(|(_, it)| *it < 250), "{grown:?} MiB");
}
