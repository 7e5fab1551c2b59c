use std::time::{Duration, Instant};

use caphost_gateway::{Config, Limits};
use serde_json::json;
use tokio::net::TcpStream;

use crate::support::*;

async fn draining(drain: Duration) -> Gateway {
    Gateway::with(Config {
        drain,
        limits: Limits {
            close_timeout: Duration::from_secs(1),
            ..Limits::default()
        },
        ..config()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_in_flight_may_end_while_no_new_ones_are_taken() {
    let mut gateway = draining(Duration::from_secs(60)).await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "held")).await;
    let called = app.next().await;
    gateway.stop();
    gateway.drains().await;

    let unready = gateway.get("/readyz", "").await;
    assert_eq!(
        (unready.status, &unready.json()["status"]),
        (503, &json!("draining"))
    );
    assert_eq!(gateway.get("/healthz", "").await.status, 200);
    agent.send(call("2", "new")).await;
    let refused = agent.next().await;
    assert_eq!(code(&refused), "CAPABILITY_UNAVAILABLE");
    assert_eq!(refused["payload"]["error"]["retryable"], true);
    for path in ["/abp", "/abp/app", "/jsonrpc"] {
        let mut late = gateway.peer(path).await;
        assert_eq!(late.closed().await, 1001, "{path}");
    }

    let done = json!({ "success": true, "data": 7 });
    app.send(answer(&called, "capabilities/call-result", done))
        .await;
    assert_eq!(agent.next().await["payload"]["data"], 7);
    for peer in [&mut agent, &mut app] {
        assert_eq!(peer.closed().await, 1001);
    }
    let address = gateway.address;
    drop((agent, app));
    gateway.stopped().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_the_deadline_calls_are_cancelled_and_their_agents_know() {
    let mut gateway = draining(Duration::from_millis(300)).await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "held")).await;
    let called = app.next().await;
    let stopped = Instant::now();
    gateway.stop();
    let asked = app.next().await;
    assert!(stopped.elapsed() >= Duration::from_millis(290));
    assert_eq!(asked["type"], "capabilities/cancel");
    assert_eq!(asked["payload"]["callId"], "held");
    assert_eq!(asked["payload"]["reason"], "The gateway is shutting down");
    let confirmation = json!({ "callId": "held", "cancelled": true });
    app.send(answer(&asked, "capabilities/cancel-result", confirmation))
        .await;
    let response = json!({ "success": false, "cancelled": true });
    app.send(answer(&called, "capabilities/call-result", response))
        .await;
    let got = agent.next().await;
    assert_eq!(
        (&got["id"], &got["payload"]["cancelled"]),
        (&json!("1"), &json!(true))
    );
    for peer in [&mut agent, &mut app] {
        assert_eq!(peer.closed().await, 1001);
    }
    drop((agent, app));
    gateway.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_drain_time_calls_are_cancelled_at_once() {
    let mut gateway = draining(Duration::ZERO).await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "held")).await;
    app.next().await;
    gateway.stop();
    assert_eq!(app.next().await["type"], "capabilities/cancel");
    // An app that does not confirm in time leaves the outcome unknown.
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(agent.closed().await, 1001);
    assert_eq!(app.closed().await, 1001);
    drop((agent, app));
    gateway.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_gateway_does_not_wait_for_the_deadline() {
    let mut gateway = draining(Duration::from_secs(3_600)).await;
    let (mut app, mut agent) = gateway.session().await;
    gateway.stop();
    assert_eq!(agent.closed().await, 1001);
    assert_eq!(app.closed().await, 1001);
    drop((agent, app));
    gateway.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_nobody_answers_is_not_waited_for() {
    let mut gateway = draining(Duration::from_secs(3_600)).await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "asks")).await;
    let called = app.next().await;
    let mut question = request("elicitation/request", "q", json!({ "message": "Which?" }));
    question["agent"] = called["agent"].clone();
    app.send(question).await;
    assert_eq!(agent.next().await["type"], "elicitation/request");
    gateway.stop();
    gateway.drains().await;
    // The call has ended without an answer to its question.
    let done = json!({ "success": true });
    app.send(answer(&called, "capabilities/call-result", done))
        .await;
    assert_eq!(agent.next().await["payload"]["success"], true);
    for peer in [&mut agent, &mut app] {
        assert_eq!(peer.closed().await, 1001);
    }
    drop((agent, app));
    gateway.stopped().await;
}
