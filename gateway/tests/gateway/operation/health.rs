use caphost_gateway::{Config, Tokens};
use serde_json::json;

use crate::request::bearer;
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_serves_is_healthy_and_ready() {
    let gateway = Gateway::start().await;
    let healthy = gateway.get("/healthz", "").await;
    assert_eq!((healthy.status, &*healthy.body), (200, "ok"));
    let ready = gateway.get("/readyz", "").await;
    assert_eq!(ready.status, 200);
    let nobody = json!({ "status": "ready", "apps": 0, "agents": 0 });
    assert_eq!(ready.json(), nobody);
    let _peers = gateway.session().await;
    let _second = gateway.agent().await;
    let two = json!({ "status": "ready", "apps": 1, "agents": 2 });
    let counted = async { while gateway.get("/readyz", "").await.json() != two {} };
    soon("the count", counted).await;
}

/// The value of one sample.
fn sample(metrics: &str, name: &str) -> Option<f64> {
    let mut lines = metrics.lines();
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(found.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_tell_what_became_of_calls_and_cancels() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.call_through(&mut app).await;

    agent.send(call("1", "one")).await;
    let called = app.next().await;
    agent.send(cancel("2", "one")).await;
    let cancelled = app.next().await;
    let confirmation = json!({ "callId": "one", "cancelled": true });
    app.send(answer(
        &cancelled,
        "capabilities/cancel-result",
        confirmation,
    ))
    .await;
    let response = json!({ "success": false, "cancelled": true });
    app.send(answer(
        &called,
        "capabilities/call-result",
        response.clone(),
    ))
    .await;
    agent.next().await;
    agent.next().await;
    // Nobody waits for this answer any more.
    app.send(answer(&called, "capabilities/call-result", response))
        .await;
    agent.send(call("3", "held")).await;
    app.next().await;

    let answer = gateway.get("/metrics", "").await;
    assert_eq!(
        answer.header("content-type"),
        Some("text/plain; version=0.0.4")
    );
    for (name, value) in [
        (r#"caphost_connections{kind="abp"}"#, 1.0),
        (r#"caphost_connections{kind="app"}"#, 1.0),
        ("caphost_requests_in_flight", 1.0),
        (r#"caphost_runs_started_total{dialect="abp"}"#, 3.0),
        (r#"caphost_runs_started_total{dialect="mcp"}"#, 0.0),
        (
            r#"caphost_runs_ended_total{dialect="abp",outcome="completed"}"#,
            1.0,
        ),
        (
            r#"caphost_runs_ended_total{dialect="abp",outcome="cancelled"}"#,
            1.0,
        ),
        (
            r#"caphost_cancels_total{dialect="abp",result="confirmed"}"#,
            1.0,
        ),
        (r#"caphost_run_duration_seconds_count{dialect="abp"}"#, 2.0),
        (
            r#"caphost_cancel_confirmation_seconds_count{dialect="abp"}"#,
            1.0,
        ),
        ("caphost_answers_dropped_total", 1.0),
    ] {
        assert_eq!(
            sample(&answer.body, name),
            Some(value),
            "{name}\n{}",
            answer.body
        );
    }
    let relayed = sample(&answer.body, "caphost_requests_relayed_total");
    assert_eq!(relayed, Some(5.0), "initialize, three calls and a cancel");
    let own = gateway.get("/metrics", "").await.body;
    let answered = sample(&own, r#"caphost_http_responses_total{status="200"}"#);
    assert!(answered >= Some(1.0), "{own}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_metric_has_a_help_and_a_prefix() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.call_through(&mut app).await;
    gateway.get("/healthz", "").await;
    let text = gateway.get("/metrics", "").await.body;
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        assert!(name.starts_with("caphost_"), "{name}");
        assert!(text.contains(&format!("# HELP {name} ")), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_tokens_metrics_are_for_admins_and_health_is_for_all() {
    let tokens = ["agent=for-agents", "admin=for-admins"];
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.map(|token| token.parse().unwrap()).into()),
        ..config()
    })
    .await;
    for (path, secret, status) in [
        ("/healthz", "", 200),
        ("/readyz", "", 200),
        ("/metrics", "", 401),
        ("/metrics", "wrong", 401),
        ("/metrics", "for-agents", 403),
        ("/metrics", "for-admins", 200),
        ("/metrics?token=for-admins", "", 200),
    ] {
        let header = if secret.is_empty() {
            String::new()
        } else {
            bearer(secret)
        };
        let answer = gateway.get(path, &header).await;
        assert_eq!(answer.status, status, "{path} {secret}");
        let challenge = answer.header("www-authenticate");
        assert_eq!(challenge.is_some(), status == 401, "{path} {secret}");
    }
}

#[tokio::test]
async fn a_background_task_that_is_down_is_named() {
    let gateway = Gateway::start().await;
    let ready = gateway.get("/readyz", "").await.json();
    assert_eq!(
        (&ready["status"], &ready["down"]),
        (&json!("ready"), &json!(null))
    );
    let panicking = async { panic!("on purpose") };
    gateway.hub.tasks.report("test", panicking).await;
    let ready = gateway.get("/readyz", "").await;
    assert_eq!(ready.status, 200, "what is connected here goes on");
    let ready = ready.json();
    assert_eq!(
        (&ready["status"], &ready["down"]),
        (&json!("degraded"), &json!(["test"]))
    );
}
