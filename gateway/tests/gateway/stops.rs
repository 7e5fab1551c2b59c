//! How far the work was seen to stop, on the way from an app to the requester.

use serde_json::{Value, json};

use crate::support::*;

const GRADES: [&str; 5] = [
    "never-started",
    "dropped",
    "returned",
    "terminated",
    "abandoned",
];

/// A host's message that the handler of an abandoned call has ended.
pub fn ended(relayed: &Value, call_id: &Value, success: bool, after: f64) -> Value {
    let data = json!({ "callId": call_id, "success": success, "after": after });
    let payload = json!({ "event": "notifications/call/ended", "data": data });
    json!({ "type": "notification", "agent": relayed["agent"], "timestamp": 1, "payload": payload })
}

/// The agent calls and cancels. The app confirms with `stop`, if it is given. Returns the agent's two
/// messages.
async fn cancelled(agent: &mut Peer, app: &mut Peer, id: &str, stop: Option<&str>) -> [Value; 2] {
    agent.send(call(id, id)).await;
    let calling = app.next().await;
    agent.send(cancel("cancel", id)).await;
    let cancelling = app.next().await;
    let said = |payload: Value| match stop {
        Some(stop) => stopped(payload, stop),
        None => {
            let mut payload = payload;
            payload["cancelled"] = true.into();
            payload
        }
    };
    for (relayed, kind, payload) in [
        (
            &cancelling,
            "capabilities/cancel-result",
            json!({ "callId": id }),
        ),
        (
            &calling,
            "capabilities/call-result",
            json!({ "success": false }),
        ),
    ] {
        app.send(answer(relayed, kind, said(payload))).await;
    }
    let (confirmation, response) = (agent.next().await, agent.next().await);
    [confirmation["payload"].clone(), response["payload"].clone()]
}

async fn run(gateway: &Gateway, id: &str) -> Value {
    gateway.get(&format!("/api/runs/{id}"), "").await.json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_grade_of_a_stop_reaches_the_agent_the_operator_and_the_metrics() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let none = ("none", None, "abandoned");
    let each = GRADES.map(|stop| (stop, Some(stop), stop));
    for (id, said, expected) in each.into_iter().chain([none]) {
        let got = cancelled(&mut agent, &mut app, id, said).await;
        let confirmation = stopped(json!({ "callId": id }), expected);
        assert_eq!(
            got,
            [confirmation, stopped(json!({ "success": false }), expected)]
        );
        let known = run(&gateway, id).await;
        assert_eq!(
            (&known["state"], &known["stop"]),
            (&json!("cancelled"), &json!(expected))
        );
        let path = format!("/cancellation/status/{id}");
        assert_eq!(gateway.get(&path, "").await.json()["stop"], expected);
    }
    let metrics = gateway.get("/metrics", "").await.body;
    for (stop, count) in GRADES.map(|stop| (stop, if stop == "abandoned" { 2 } else { 1 })) {
        let line = format!(r#"caphost_stops_total{{dialect="abp",stop="{stop}"}} {count}"#);
        assert!(metrics.lines().any(|it| it == line), "{line}");
    }
    agent.call_through(&mut app).await;
    assert_eq!(run(&gateway, "through").await["stop"], Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_late_end_of_an_abandoned_call_reaches_the_agent_and_the_operator() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    cancelled(&mut agent, &mut app, "c", Some("abandoned")).await;
    assert_eq!(run(&gateway, "c").await["ended"], Value::Null);
    agent.send(call("x", "other")).await;
    let other = app.next().await;
    let end = ended(&other, &json!("c"), true, 200.0);
    app.send(end.clone()).await;
    assert_eq!(agent.next().await["payload"], end["payload"]);
    let late = json!({ "success": true, "after": 200 });
    assert_eq!(run(&gateway, "c").await["ended"], late);
    // A later requester is told as well. The app need not remember the call.
    agent.send(cancel("again", "c")).await;
    let cancelling = app.next().await;
    let confirmation = json!({ "callId": "c", "cancelled": true });
    app.send(answer(
        &cancelling,
        "capabilities/cancel-result",
        confirmation,
    ))
    .await;
    let told = agent.next().await;
    let expected = json!({ "stop": "abandoned", "ended": late });
    assert_eq!(told["payload"]["metadata"], expected);
    let answered = gateway.post("/api/runs/c/cancel", "", "{}").await.json();
    assert_eq!(
        (
            &answered["cancelled"],
            &answered["stop"],
            &answered["ended"]
        ),
        (&json!(true), &json!("abandoned"), &late)
    );
    let metrics = gateway.get("/metrics", "").await.body;
    let line = r#"caphost_late_ends_total{dialect="abp"} 1"#;
    assert!(metrics.lines().any(|it| it == line), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_late_end_of_an_abandoned_call_reaches_the_operator_although_its_agent_has_left() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("c", "c")).await;
    let calling = app.next().await;
    agent.send(cancel("cancel", "c")).await;
    let cancelling = app.next().await;
    let confirmed = stopped(json!({ "callId": "c" }), "abandoned");
    app.send(answer(&cancelling, "capabilities/cancel-result", confirmed))
        .await;
    let response = stopped(json!({ "success": false }), "abandoned");
    app.send(answer(&calling, "capabilities/call-result", response))
        .await;
    agent.next().await;
    agent.next().await;
    drop(agent);
    assert_eq!(app.next().await["type"], "agent/closed");
    app.send(ended(&calling, &json!("c"), true, 200.0)).await;
    soon("the end", async {
        while run(&gateway, "c").await["ended"].is_null() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    let metrics = gateway.get("/metrics", "").await.body;
    assert!(
        metrics.contains(r#"caphost_late_ends_total{dialect="abp"} 1"#),
        "{metrics}"
    );
}
