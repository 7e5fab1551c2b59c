use std::time::Duration;

use caphost_gateway::Limits;
use futures_util::StreamExt;
use serde_json::{Value, json};

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
    let cancel = app.next().await;
    assert_eq!(
        (&cancel["type"], &cancel["agent"]),
        (&json!("capabilities/cancel"), &calling["agent"])
    );
    assert_eq!(gateway.hub.readings().in_flight, 0);
    let run = || async { gateway.get("/api/runs/c", "").await.json() };
    assert_eq!(run().await["state"], "cancelling");
    let stopped = |mut said: Value| {
        said["cancelled"] = true.into();
        said["metadata"] = json!({ "stop": "returned" });
        said
    };
    let confirmed = stopped(json!({ "callId": "c" }));
    app.send(answer(&cancel, "capabilities/cancel-result", confirmed))
        .await;
    let response = stopped(json!({ "success": false }));
    app.send(answer(
        &calling,
        "capabilities/call-result",
        response.clone(),
    ))
    .await;
    let closed = app.next().await;
    assert_eq!(
        (&closed["type"], &closed["agent"]),
        (&json!("agent/closed"), &calling["agent"])
    );
    let ended = run().await;
    assert_eq!(
        (&ended["state"], &ended["stop"], &ended["lost"]),
        (&json!("cancelled"), &json!("returned"), &json!(null))
    );
    app.send(answer(&calling, "capabilities/call-result", response))
        .await;
    let mut next = gateway.agent().await;
    next.initialize(&mut app).await;
    assert_eq!(gateway.hub.counters().strays_dropped, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_says_nothing_of_an_agents_calls_is_told_of_its_end_all_the_same() {
    let gateway = Gateway::limited(Limits {
        confirm_timeout: Duration::from_millis(150),
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    app.next().await;
    drop(agent);
    assert_eq!(app.next().await["type"], "capabilities/cancel");
    assert_eq!(app.next().await["type"], "agent/closed");
    let run = gateway.get("/api/runs/c", "").await.json();
    assert_eq!(
        (&run["state"], &run["error"], &run["lost"]),
        (&json!("unknown"), &json!("DISCONNECTED"), &json!("agent"))
    );
    // The gateway does not ask again, and answers without waiting for the confirm timeout.
    let told = gateway.post("/api/runs/c/cancel", "", "").await.json();
    assert_eq!(told["cancelled"], false);
    assert_eq!(
        told["reason"],
        "The run has ended, and its outcome is not known"
    );
    assert_eq!(
        (&told["error"]["code"], &told["error"]["retryable"]),
        (&json!("DISCONNECTED"), &json!(false))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ended_runs_do_not_make_the_cancel_of_an_id_ambiguous() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    for success in [true, false] {
        let mut agent = gateway.agent().await;
        agent.initialize(&mut app).await;
        agent.send(call("1", "same")).await;
        let calling = app.next().await;
        let response = json!({ "success": success, "cancelled": !success });
        app.send(answer(&calling, "capabilities/call-result", response))
            .await;
        agent.next().await;
        drop(agent);
        assert_eq!(app.next().await["type"], "agent/closed");
        // If two runs end within a millisecond, either may count as the last.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(gateway.get("/api/runs/same", "").await.status, 409);
    let told = gateway.post("/api/runs/same/cancel", "", "").await;
    assert_eq!(told.status, 200);
    assert_eq!(told.json()["cancelled"], true, "the last one was");
    let body = r#"{"requestId":"same"}"#;
    let told = gateway.post("/cancellation/cancel", "", body).await;
    assert_eq!(told.json()["status"], "cancelled");
}

/// Limits for a peer that does not answer pings, because nothing reads its side of the socket.
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
    // Reading answers pings, so the agent lives and hears of the app's death.
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(agent.closed().await, 4001);
    drop(app);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_app_is_taken_for_gone_although_pings_are_hardly_more_frequent_than_the_timeout() {
    let limits = Limits {
        ping_interval: Duration::from_millis(1_497),
        ..impatient()
    };
    let gateway = Gateway::limited(limits).await;
    let (app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
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
    // After thirty pings, which take twice as long as dying, both peers are still there.
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
