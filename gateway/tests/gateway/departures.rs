use std::time::Duration;

use caphost_gateway::Limits;
use futures_util::StreamExt;
use serde_json::json;

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_goes_settles_its_agents_cancels_first() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    agent.send(cancel("2", "c")).await;
    app.next().await;
    app.next().await;
    drop(app);
    let (cancelled, called) = (agent.next().await, agent.next().await);
    assert_eq!(cancelled["type"], "capabilities/cancel-result");
    assert_eq!(cancelled["id"], "2");
    assert_eq!(cancelled["payload"]["callId"], "c");
    assert_eq!(cancelled["payload"]["cancelled"], false);
    assert_eq!(
        cancelled["payload"]["reason"],
        "The app disconnected before it confirmed"
    );
    assert_eq!(code(&cancelled), "DISCONNECTED");
    assert_eq!(
        (&called["type"], &called["id"]),
        (&json!("capabilities/call-result"), &json!("1"))
    );
    assert_eq!(code(&called), "DISCONNECTED");
    assert_eq!(called["payload"]["error"]["retryable"], true);
    assert!(called["payload"].get("cancelled").is_none());
    assert_eq!(agent.closed().await, 4001);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_goes_is_reported_to_its_app() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    drop(agent);
    let closed = app.next().await;
    assert_eq!(
        (&closed["type"], &closed["agent"]),
        (&json!("agent/closed"), &calling["agent"])
    );
    assert_eq!(gateway.hub.readings().in_flight, 0);
    app.send(answer(&calling, "capabilities/call-result", json!({})))
        .await;
    let mut next = gateway.agent().await;
    next.initialize(&mut app).await;
    assert_eq!(gateway.hub.counters().strays_dropped, 1);
}

/// A peer that has stopped answering pings, as its side of the socket is never read.
fn impatient() -> Limits {
    Limits {
        ping_interval: Duration::from_millis(100),
        dead_peer_timeout: Duration::from_millis(1_500),
        close_timeout: Duration::from_millis(200),
        ..Limits::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_app_is_taken_for_gone() {
    let gateway = Gateway::limited(impatient()).await;
    let (app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    // Reading answers pings: the agent lives, and hears of the app's death.
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(agent.closed().await, 4001);
    drop(app);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_agent_is_taken_for_gone_and_a_living_one_is_not() {
    let gateway = Gateway::limited(impatient()).await;
    let (mut app, agent) = gateway.session().await;
    let mut living = gateway.agent().await;
    living.initialize(&mut app).await;
    let reading = tokio::spawn(async move { living.closed().await });
    let closed = app.next().await;
    assert_eq!(closed["type"], "agent/closed");
    // Thirty pings later, twice as long as it takes to die, both are there.
    for _ in 0..30 {
        let ping = soon("a ping", app.socket.next()).await;
        assert!(
            matches!(&ping, Some(Ok(message)) if message.is_ping()),
            "{ping:?}"
        );
    }
    assert_eq!(gateway.hub.peers(), (1, 1));
    drop(app);
    assert_eq!(soon("the end", reading).await.unwrap(), 4001);
    drop(agent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_never_registers_is_closed() {
    let limits = Limits {
        register_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let mut app = gateway.peer("/abp/app").await;
    assert_eq!(app.next().await["type"], "app/refused");
    assert_eq!(app.closed().await, 1008);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_tells_every_peer() {
    let limits = Limits {
        close_timeout: Duration::from_millis(500),
        ..Limits::default()
    };
    let mut gateway = Gateway::limited(limits).await;
    let (mut app, mut agent) = gateway.session().await;
    let mut idle = gateway.agent().await;
    agent.send(call("1", "c")).await;
    agent.send(cancel("2", "c")).await;
    app.next().await;
    app.next().await;
    gateway.stop();
    let asked = app.next().await;
    assert_eq!(asked["type"], "capabilities/cancel");
    assert_eq!(asked["payload"]["reason"], "The gateway is shutting down");
    // An app that does not confirm leaves the outcome unknown.
    assert_eq!(agent.next().await["id"], "2");
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    for peer in [&mut agent, &mut idle, &mut app] {
        assert_eq!(peer.closed().await, 1001);
        assert!(peer.socket.next().await.is_none());
    }
    let address = gateway.address;
    gateway.stopped().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_does_not_wait_for_a_peer_that_is_not_there() {
    let limits = Limits {
        close_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let mut gateway = Gateway::limited(limits).await;
    let (_app, _agent) = gateway.session().await;
    gateway.stop();
    gateway.stopped().await;
}
