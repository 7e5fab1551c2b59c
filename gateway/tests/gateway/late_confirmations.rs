//! An app confirms a cancel after the confirm timeout. Whoever asks again is told what the app has confirmed,
//! whatever the dialect of the call.

use std::time::Duration;

use caphost_gateway::{Config, Limits};
use serde_json::{Value, json};

use crate::mcp::app::called;
use crate::mcp::client::{Client, rpc};
use crate::rap_server::runtime::{Receiver, Runtime};
use crate::support::*;

async fn gateway() -> Gateway {
    let limits = Limits {
        confirm_timeout: Duration::from_millis(150),
        ..Limits::default()
    };
    Gateway::with(Config { limits, ..config() }).await
}

/// The app has not confirmed the cancel of a call in time, and confirms it now.
async fn confirms_late(gateway: &Gateway, app: &mut Peer, calling: &Value, dialect: &str) {
    let cancelling = app.next().await;
    assert_eq!(cancelling["type"], "capabilities/cancel", "{cancelling}");
    let unknown = gateway.run_once("unknown").await;
    let id = unknown["runId"].as_str().unwrap();
    let cancel = format!("/api/runs/{id}/cancel");
    let before = gateway.post(&cancel, "", "{}").await.json();
    assert_eq!(before["cancelled"], false, "{before}");

    tokio::time::sleep(Duration::from_millis(400)).await;
    let call_id = &calling["payload"]["options"]["callId"];
    let said = stopped(json!({ "callId": call_id }), "returned");
    app.send(answer(&cancelling, "capabilities/cancel-result", said))
        .await;
    let said = stopped(json!({ "success": false }), "returned");
    app.send(answer(calling, "capabilities/call-result", said))
        .await;

    let now = gateway.run_once("cancelled").await;
    assert_eq!(now["stop"], "returned", "{now}");
    assert_eq!((&now["error"], &now["lost"]), (&Value::Null, &Value::Null));
    assert_eq!(now["endedAt"], unknown["endedAt"]);
    let again = gateway.post(&cancel, "", "{}").await.json();
    let expected = json!({ "runId": id, "cancelled": true, "stop": "returned" });
    assert_eq!(again, expected);
    let path = format!("/cancellation/status/{id}");
    let status = gateway.get(&path, "").await.json();
    assert_eq!(
        (&status["cancelled"], &status["stop"]),
        (&json!(true), &json!("returned"))
    );
    let asked = json!({ "requestId": id }).to_string();
    let told = gateway.post("/cancellation/cancel", "", &asked).await;
    let told = told.json();
    assert_eq!(
        (&told["status"], &told["stop"]),
        (&json!("cancelled"), &json!("returned")),
        "{told}"
    );
    let metrics = gateway.get("/metrics", "").await.body;
    for line in [
        format!(r#"caphost_runs_ended_total{{dialect="{dialect}",outcome="unknown"}} 1"#),
        format!(r#"caphost_runs_settled_total{{dialect="{dialect}",outcome="cancelled"}} 1"#),
        format!(r#"caphost_stops_total{{dialect="{dialect}",stop="returned"}} 1"#),
        "caphost_answers_dropped_total 0".into(),
        "caphost_strays_dropped_total 0".into(),
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_call_over_json_rpc() {
    for leaves in [false, true] {
        let gateway = gateway().await;
        let mut app = gateway.app("demo").await;
        let mut peer = gateway.peer("/jsonrpc").await;
        peer.send(rpc(1, "_capabilities/call", json!({ "capability": "a.b" })))
            .await;
        let calling = called(&mut app).await;
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 1 } });
        peer.send(cancel).await;
        let _kept = (!leaves).then_some(peer);
        confirms_late(&gateway, &mut app, &calling, "jsonrpc").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_call_over_mcp() {
    let gateway = gateway().await;
    let mut app = gateway.app("demo").await;
    let client = Client::open(&gateway, "/mcp").await;
    let _stream = client.call_tool(1, "a.b").await;
    let calling = called(&mut app).await;
    client.cancel(1, "enough").await;
    confirms_late(&gateway, &mut app, &calling, "mcp").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_call_over_rap() {
    let gateway = gateway().await;
    let mut app = gateway.app("demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime.invoke(&receiver, "a_b", "t", "1", json!({})).await;
    let calling = called(&mut app).await;
    runtime.cancel("t", "1").await;
    confirms_late(&gateway, &mut app, &calling, "rap").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_call_whose_agent_on_a_socket_has_left() {
    let gateway = gateway().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("c", "c")).await;
    let calling = app.next().await;
    drop(agent);
    confirms_late(&gateway, &mut app, &calling, "abp").await;
}
