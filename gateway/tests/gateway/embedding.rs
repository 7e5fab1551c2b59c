//! A gateway whose routes another program serves beside its own.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use caphost_gateway::{Config, Error, Tokens};
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_serves_the_gateway_beside_its_own_routes() {
    let own = Router::new().route("/hello", get(async || "Hello"));
    let mut gateway = Gateway::embedded(Config::default(), own).await;
    let hello = gateway.get("/hello", "").await;
    assert_eq!((hello.status, hello.body.as_str()), (200, "Hello"));
    // The program's own routes have no part in the gateway's rules.
    let elsewhere = "Origin: http://evil.example\r\n";
    assert_eq!(gateway.get("/hello", elsewhere).await.status, 200);
    assert_eq!(gateway.get("/api/runs", elsewhere).await.status, 403);
    assert_eq!(gateway.get("/readyz", "").await.status, 200);
    assert_eq!(gateway.get("/nothing", "").await.status, 404);

    let (mut app, mut agent) = gateway.session().await;
    agent.call_through(&mut app).await;
    agent.send(call("m", "c")).await;
    let relayed = app.next().await;
    agent.send(cancel("x", "c")).await;
    let asked = app.next().await;
    let confirmed = stopped(json!({ "callId": "c" }), "returned");
    app.send(answer(&asked, "capabilities/cancel-result", confirmed))
        .await;
    let result = stopped(json!({ "success": false }), "returned");
    app.send(answer(&relayed, "capabilities/call-result", result))
        .await;
    let (cancelled, ended) = (agent.next().await, agent.next().await);
    assert_eq!(cancelled["payload"]["cancelled"], true);
    assert_eq!(ended["payload"]["metadata"]["stop"], "returned");

    agent.send(call("late", "late")).await;
    app.next().await;
    gateway.stop();
    // The program ends although a call is in flight: the gateway cancels the call, and tells everybody.
    let asked = app.next().await;
    assert_eq!(asked["type"], "capabilities/cancel", "{asked}");
    drop((app, agent));
    gateway.stopped().await;
}

#[tokio::test]
async fn deadlines_hold_in_an_embedded_gateway() {
    let mut config = Config::default();
    config.limits.confirm_timeout = Duration::from_millis(200);
    let gateway = Gateway::embedded(config, Router::new()).await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("m", "c")).await;
    app.next().await;
    // The app never confirms.
    let unconfirmed = gateway.post("/api/runs/c/cancel", "", "{}").await;
    assert_eq!(
        unconfirmed.json()["error"]["code"],
        "TIMEOUT",
        "{}",
        unconfirmed.body
    );
}

#[tokio::test]
async fn without_the_address_of_the_other_end_a_request_is_refused_with_the_remedy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let gateway = caphost_gateway::Gateway::new(Config::default(), address).unwrap();
    let serving = tokio::spawn(axum::serve(listener, gateway.router()).into_future());
    let answer = http_within(Duration::from_secs(10))
        .get(format!("http://{address}/readyz"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 500);
    let said = answer.text().await.unwrap();
    assert!(
        said.contains("into_make_service_with_connect_info"),
        "{said}"
    );
    serving.abort();
}

#[tokio::test]
async fn an_embedded_gateway_that_others_reach_needs_tokens() {
    let address = "192.0.2.1:80".parse().unwrap();
    let refused = |config| caphost_gateway::Gateway::new(config, address).err();
    let Some(Error::Config(said)) = refused(Config::default()) else {
        panic!("no tokens, and it is not refused");
    };
    assert!(said.starts_with("to listen on 192.0.2.1:80 lets other machines in"));
    let tokens = |secret: &str| Config {
        tokens: Tokens::new(vec![format!("agent={secret}").parse().unwrap()]),
        ..Config::default()
    };
    assert!(matches!(refused(tokens("short")), Some(Error::Config(_))));
    assert!(refused(tokens("0123456789abcdef")).is_none());
}
