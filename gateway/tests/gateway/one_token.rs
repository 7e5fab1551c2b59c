//! The use of one token, with any number of connections, does not cost other tokens anything.

use std::time::Duration;

use caphost_gateway::{Config, HttpLimits, Limits, Tokens};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::header::SEC_WEBSOCKET_PROTOCOL;

use crate::hardening::half;
use crate::mcp::client::{Client, MODERN, modern};
use crate::request::bearer;
use crate::support::*;

const QUEUED_BYTES: usize = 1 << 20;

async fn gateway(limits: Limits) -> Gateway {
    let tokens = ["app=app", "agent=greedy", "agent=modest", "admin=admin"];
    Gateway::with(Config {
        tokens: Tokens::new(tokens.iter().map(|text| text.parse().unwrap()).collect()),
        limits,
        ..config()
    })
    .await
}

async fn app(gateway: &Gateway) -> Peer {
    let mut app = gateway.peer("/abp/app?token=app").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    app
}

async fn agent(gateway: &Gateway, token: &str) -> Peer {
    gateway.peer(&format!("/abp?token={token}")).await
}

/// A call with `bytes` bytes of parameters.
fn large_call(id: &str, bytes: usize) -> Value {
    let mut message = call(id, id);
    message["payload"]["params"] = json!({ "text": "x".repeat(bytes) });
    message
}

/// A message that has come by now, or that comes a little later.
async fn told(peer: &mut Peer) -> Option<Value> {
    let next = tokio::time::timeout(Duration::from_millis(2), peer.socket.next());
    match next.await {
        Ok(Some(Ok(Message::Text(text)))) => Some(serde_json::from_str(&text).unwrap()),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_reconnects_again_and_again_does_not_end_the_app_of_all() {
    let gateway = gateway(Limits {
        queued_bytes: QUEUED_BYTES,
        ..Limits::default()
    })
    .await;
    let mut app = app(&gateway).await;
    let mut modest = agent(&gateway, "modest").await;
    modest.initialize(&mut app).await;
    modest.send(call("1", "1")).await;
    let waiting = app.next().await;
    let mut attackers = Vec::new();
    for _ in 0..20 {
        let mut attacker = agent(&gateway, "greedy").await;
        attacker.initialize(&mut app).await;
        attackers.push(attacker);
    }
    // The app does not read for a while.
    for (number, mut attacker) in attackers.into_iter().enumerate() {
        for sent in 0..if number == 0 { 4_096 } else { 32 } {
            attacker.send(large_call(&sent.to_string(), 64 << 10)).await;
            if number == 0 && told(&mut attacker).await.is_some() {
                break;
            }
        }
        // If the connection is closed, the bytes that it is accountable for go with it.
        told(&mut attacker).await;
    }
    assert_eq!(gateway.hub.peers().1, 1, "the app is still there");
    let next = async |app: &mut Peer, kind: &str| loop {
        let message = app.next().await;
        if message["type"] == kind {
            break message;
        }
    };
    modest.send(cancel("2", "1")).await;
    let cancelling = next(&mut app, "capabilities/cancel").await;
    assert_eq!(cancelling["agent"], waiting["agent"]);
    app.send(answer(
        &waiting,
        "capabilities/call-result",
        json!({ "success": true }),
    ))
    .await;
    assert_eq!(modest.next().await["payload"]["success"], true);
    until_called(&mut modest, &mut app).await;
}

/// Makes calls until the app has read enough to accept a call again.
async fn until_called(agent: &mut Peer, app: &mut Peer) {
    for number in 0..1_000 {
        let id = format!("after-{number}");
        agent.send(call(&id, &id)).await;
        match told(agent).await {
            Some(answered) => assert_eq!(code(&answered), "RATE_LIMITED", "{answered}"),
            None => {
                while app.next().await["payload"]["options"]["callId"] != *id {}
                return;
            }
        }
        while told(app).await.is_some() {}
    }
    panic!("no call is taken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_guesses_in_one_request_are_none() {
    let gateway = gateway(Limits::default()).await;
    let open = async |offered: String| {
        let url = format!("ws://{}/abp", gateway.address);
        let mut request = url.into_client_request().unwrap();
        let offered = offered.parse().unwrap();
        request
            .headers_mut()
            .insert(SEC_WEBSOCKET_PROTOCOL, offered);
        Peer::open(request).await
    };
    open("abp, caphost.token.greedy".into()).await.unwrap();
    let guesses: String = (0..500).map(|it| format!("caphost.token.{it}, ")).collect();
    assert!(
        open(format!("abp, {guesses}caphost.token.greedy"))
            .await
            .is_err()
    );
    let header = "Authorization: Bearer wrong\r\nAuthorization: Bearer admin\r\n";
    assert_eq!(gateway.get("/api/runs", header).await.status, 401);
    let twice = gateway.get("/api/runs?token=wrong&token=admin", "").await;
    assert_eq!(twice.status, 401);
    assert_eq!(gateway.get("/api/runs", &bearer("admin")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_reasons_and_one_id_for_all_runs_make_no_long_answer() {
    const RUNS: usize = 2_500;
    let gateway = gateway(Limits::default()).await;
    let mut app = app(&gateway).await;
    let reason = "x".repeat(4_096);
    let mut agents = Vec::new();
    for _ in 0..20 {
        let mut agent = agent(&gateway, "greedy").await;
        agent.initialize(&mut app).await;
        agents.push(agent);
    }
    for agent in &mut agents {
        agent.send(call("1", "same")).await;
        app.next().await;
    }
    for number in 0..RUNS {
        let agent = &mut agents[number % 20];
        let (call_id, id) = (format!("c{number}"), format!("x{number}"));
        agent.send(call(&id, &call_id)).await;
        let mut cancelling = cancel(&format!("y{number}"), &call_id);
        cancelling["payload"]["reason"] = json!(reason);
        agent.send(cancelling).await;
        app.next().await;
        app.next().await;
    }
    let listed = gateway
        .get("/api/runs?limit=10000", &bearer("greedy"))
        .await;
    assert!(listed.body.len() < 9 << 20, "{}", listed.body.len());
    let list = listed.json();
    let shown = list["runs"].as_array().unwrap().len() as u64;
    let omitted = list["omitted"].as_u64().unwrap();
    assert_eq!(shown + omitted, RUNS as u64 + 20);
    assert!(omitted > 0);
    let several = gateway.get("/api/runs/same", &bearer("greedy")).await;
    assert_eq!(several.status, 409);
    let runs = &several.json()["error"]["details"]["runIds"];
    assert_eq!(runs.as_array().unwrap().len(), 16);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancels_of_runs_yet_to_come_leave_those_of_others_in_place() {
    let mut limits = Limits::default();
    limits.retention.count = 4;
    let tokens = ["app=app", "agent=agent", "admin=greedy", "admin=modest"];
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.iter().map(|text| text.parse().unwrap()).collect()),
        limits,
        ..config()
    })
    .await;
    let mut app = app(&gateway).await;
    let mut agent = agent(&gateway, "agent").await;
    agent.initialize(&mut app).await;
    let id = |number: u32| format!("0b6f2f5e-6c0d-4a3b-9a2e-{number:012}");
    let cancel = async |token: &str, id: &str| {
        let body = json!({ "requestId": id }).to_string();
        let path = "/cancellation/cancel";
        let answer = gateway.post(path, &bearer(token), &body).await;
        assert_eq!(answer.json()["status"], "queued", "{}", answer.body);
    };
    cancel("modest", &id(0)).await;
    for number in 1..20 {
        cancel("greedy", &id(number)).await;
    }
    // Repeated cancels of the same id take no more room.
    for _ in 0..20 {
        cancel("greedy", &id(19)).await;
    }
    for (number, kept) in [(0, true), (1, false), (16, false), (18, true), (19, true)] {
        let id = id(number);
        agent.send(call(&id, &id)).await;
        match kept {
            true => {
                let told = agent.next().await;
                assert_eq!(
                    told["payload"]["metadata"]["stop"], "never-started",
                    "{told}"
                );
            }
            false => {
                let called = app.next().await;
                assert_eq!(called["payload"]["options"]["callId"], id);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_one_token_leave_connections_to_others() {
    let tokens = ["app=app", "agent=greedy", "agent=modest"];
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.iter().map(|text| text.parse().unwrap()).collect()),
        http_limits: HttpLimits {
            connections_per_address: 20,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let mut app = app(&gateway).await;
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listen = modern(1, "subscriptions/listen", params).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\n{}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{listen}",
        gateway.address,
        bearer("greedy"),
        listen.len()
    );
    let port = gateway.address.port();
    let mut streams = Vec::new();
    let mut opened = 0;
    for _ in 0..40 {
        let mut stream = half(port, &request).await;
        let mut start = [0; 12];
        soon("an answer", stream.read_exact(&mut start))
            .await
            .unwrap();
        match &start {
            b"HTTP/1.1 200" => opened += 1,
            start => assert_eq!(start, b"HTTP/1.1 503"),
        }
        streams.push(stream);
    }
    assert_eq!(opened, 15, "three quarters of what one address has");
    let mut others = Vec::new();
    for _ in 0..5 {
        assert_eq!(
            gateway.get("/api/runs", &bearer("modest")).await.status,
            200
        );
        let mut modest = agent(&gateway, "modest").await;
        modest.initialize(&mut app).await;
        modest.call_through(&mut app).await;
        others.push(modest);
    }
    // A token with too many streams still gets `/healthz`, and gets its places back when they are free.
    let greedy = bearer("greedy");
    assert_eq!(gateway.get("/api/runs", &greedy).await.status, 503);
    assert_eq!(gateway.get("/healthz", &greedy).await.status, 200);
    drop(streams);
    let again = async { while gateway.get("/api/runs", &greedy).await.status == 503 {} };
    soon("room", again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lists_runs_all_the_time_is_told_to_wait_and_others_are_not() {
    let gateway = gateway(Limits {
        listed_bytes_per_second: 64 << 10,
        ..Limits::default()
    })
    .await;
    let mut app = app(&gateway).await;
    let mut greedy = agent(&gateway, "greedy").await;
    greedy.initialize(&mut app).await;
    let reason = "x".repeat(4_096);
    for number in 0..1_000 {
        let (call_id, id) = (format!("c{number}"), format!("x{number}"));
        greedy.send(call(&id, &call_id)).await;
        let mut cancelling = cancel(&format!("y{number}"), &call_id);
        cancelling["payload"]["reason"] = json!(reason);
        greedy.send(cancelling).await;
        app.next().await;
        app.next().await;
    }
    let path = "/api/runs?limit=10000";
    // The list is made before it is paid for.
    let listed = gateway.get(path, &bearer("greedy")).await;
    assert_eq!(listed.status, 200);
    assert!(listed.body.len() > 4 << 20, "{}", listed.body.len());
    for _ in 0..10 {
        let refused = gateway.get(path, &bearer("greedy")).await;
        assert_eq!(refused.status, 429);
        assert_eq!(refused.json()["error"]["code"], "RATE_LIMITED");
        let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((2..100).contains(&wait), "{wait}");
    }
    assert_eq!(gateway.get(path, &bearer("modest")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lists_many_tools_all_the_time_is_told_to_wait_and_others_are_not() {
    let gateway = gateway(Limits {
        listed_bytes_per_second: 64 << 10,
        ..Limits::default()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=app").await;
    let mut message = register("demo");
    message["payload"]["capabilities"] =
        json!([{ "name": "a.b", "description": "d".repeat(1_000_000) }]);
    app.send(message).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let tools = async |token: &str| {
        let method = "tools/list";
        let headers = format!(
            "{}Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: {MODERN}\r\n\
             Mcp-Method: {method}\r\n",
            bearer(token)
        );
        let body = modern(1, method, json!({})).to_string();
        gateway.post("/mcp", &headers, &body).await
    };
    // The list is made before it is paid for.
    let listed = tools("greedy").await;
    assert_eq!((listed.status, listed.body.len() > 1_000_000), (200, true));
    for _ in 0..10 {
        let refused = tools("greedy").await;
        assert_eq!(refused.status, 429);
        let error = &refused.json()["error"];
        assert_eq!(error["data"]["code"], "RATE_LIMITED", "{error}");
        let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((2..100).contains(&wait), "{wait}");
    }
    assert_eq!(tools("modest").await.status, 200);

    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "_capabilities/list" });
    let mut greedy = Vec::new();
    for _ in 0..3 {
        greedy.push(gateway.peer("/jsonrpc?token=greedy").await);
    }
    for peer in &mut greedy {
        peer.send(list.clone()).await;
    }
    let mut made = 0;
    for peer in &mut greedy {
        let answer = peer.next().await;
        match answer["result"].is_object() {
            true => made += 1,
            false => {
                let data = &answer["error"]["data"];
                assert_eq!(data["code"], "RATE_LIMITED", "{answer}");
                assert!(data["retryAfter"].as_f64().unwrap() > 1_000.0, "{answer}");
            }
        }
    }
    assert_eq!(made, 1);
    let mut modest = gateway.peer("/jsonrpc?token=modest").await;
    modest.send(list).await;
    assert!(modest.next().await["result"].is_object());
}

/// An app that accepts every session and answers every call.
fn willing(mut app: Peer) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        while let Some(Ok(message)) = app.socket.next().await {
            let Message::Text(text) = message else {
                continue;
            };
            let message: Value = serde_json::from_str(&text).unwrap();
            match message["type"].as_str() {
                Some("initialize") => {
                    let payload = json!({ "sessionId": "s" });
                    app.send(answer(&message, "initialize-result", payload))
                        .await;
                }
                Some("capabilities/call") => {
                    let payload = json!({ "success": true, "data": 1 });
                    app.send(answer(&message, "capabilities/call-result", payload))
                        .await;
                }
                _ => {}
            }
        }
    })
}

async fn asks_for_session(agent: &mut Peer) -> Value {
    agent.send(request("initialize", "i", json!({}))).await;
    agent.next().await
}

async fn calls_by_json_rpc(peer: &mut Peer) -> Value {
    let params = json!({ "capability": "a.b" });
    peer.send(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "_capabilities/call", "params": params }),
    )
    .await;
    peer.next().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_token_does_not_take_all_sessions_of_an_app_whatever_it_speaks() {
    let gateway = gateway(Limits {
        sessions_per_app: 20,
        ..Limits::default()
    })
    .await;
    let app = willing(app(&gateway).await);
    let mut held = Vec::new();
    for number in 0..10 {
        if number % 2 == 0 {
            let mut agent = agent(&gateway, "greedy").await;
            assert_eq!(
                asks_for_session(&mut agent).await["payload"]["sessionId"],
                "s"
            );
            held.push(agent);
        } else {
            let mut peer = gateway.peer("/jsonrpc?token=greedy").await;
            assert_eq!(calls_by_json_rpc(&mut peer).await["result"]["data"], 1);
            held.push(peer);
        }
    }
    let remedy = "raise --max-sessions-per-app";
    let mut one_more = agent(&gateway, "greedy").await;
    let refused = asks_for_session(&mut one_more).await;
    assert_eq!(code(&refused), "RATE_LIMITED");
    assert!(refused.to_string().contains(remedy), "{refused}");
    let mut one_more = gateway.peer("/jsonrpc?token=greedy").await;
    let refused = calls_by_json_rpc(&mut one_more).await;
    assert_eq!(refused["error"]["data"]["code"], "RATE_LIMITED");
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains(remedy),
        "{refused}"
    );
    let greedy = Client::open(&gateway, "/mcp?token=greedy").await;
    let refused = greedy.call_tool(1, "a_b").await.last().await;
    assert!(refused.to_string().contains(remedy), "{refused}");

    let mut modest = agent(&gateway, "modest").await;
    assert_eq!(
        asks_for_session(&mut modest).await["payload"]["sessionId"],
        "s"
    );
    let mut modest = gateway.peer("/jsonrpc?token=modest").await;
    assert_eq!(calls_by_json_rpc(&mut modest).await["result"]["data"], 1);
    let modest = Client::open(&gateway, "/mcp?token=modest").await;
    let called = modest.call_tool(1, "a_b").await.last().await;
    assert!(
        called["result"].is_object() && called["result"]["isError"] != true,
        "{called}"
    );
    // A refused token is served as soon as one of its own sessions has ended.
    held.pop();
    let served = async {
        while calls_by_json_rpc(&mut one_more).await["result"].is_null() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("a session", served).await;
    app.abort();
}
