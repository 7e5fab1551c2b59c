//! What one token does, however many connections it has, others do not pay for.

use std::time::Duration;

use caphost_gateway::{Config, Limits, Tokens};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::header::SEC_WEBSOCKET_PROTOCOL;

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

/// A call with so many bytes of parameters.
fn large_call(id: &str, bytes: usize) -> Value {
    let mut message = call(id, id);
    message["payload"]["params"] = json!({ "text": "x".repeat(bytes) });
    message
}

/// What has come by now, or a little later.
async fn told(peer: &mut Peer) -> Option<Value> {
    let next = tokio::time::timeout(Duration::from_millis(2), peer.socket.next());
    match next.await {
        Ok(Some(Ok(Message::Text(text)))) => Some(serde_json::from_str(&text).unwrap()),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reconnects_again_and_again_does_not_have_the_app_of_all_given_up() {
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
        // With its connection goes what it is accountable for.
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

/// Calls until the app has read enough to take a call again.
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
