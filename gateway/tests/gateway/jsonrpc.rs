//! `/jsonrpc`: a JSON-RPC client on one WebSocket, an app on another.

use std::time::Duration;

use caphost_gateway::for_tests::{CancelNotice, Found};
use caphost_gateway::{Config, Identity, Limits, Tokens};
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::steps::terminated;
use crate::stops::ended;
use crate::support::*;

fn rpc(id: Value, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn notice(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn call(id: Value) -> Value {
    rpc(id, "_capabilities/call", json!({ "capability": "a.b" }))
}

fn cancel(id: Value) -> Value {
    notice("$/cancel_request", json!({ "requestId": id }))
}

/// The error's code, and the ABP code in its data.
fn codes(message: &Value) -> (i64, &str) {
    let error = &message["error"];
    let code = error["code"].as_i64().unwrap_or(0);
    (code, error["data"]["code"].as_str().unwrap_or("none"))
}

fn cancelled(id: Value, request_id: &str) -> Value {
    stopped_request(id, request_id, "abandoned")
}

fn stopped_request(id: Value, request_id: &str, stop: &str) -> Value {
    let data = json!({
        "code": "CANCELLED", "retryable": false, "requestId": request_id, "partial": false,
        "stop": stop,
    });
    let message = "Tool execution cancelled: a.b";
    let error = json!({ "code": -32800, "message": message, "data": data });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// The app's side of the messages of the gateway's agents.
trait App {
    /// The next call, after the session for it is open.
    async fn called(&mut self) -> Value;
    async fn answer_call(&mut self, calling: &Value, response: Value);
    /// Confirms the next cancel, and ends its call as cancelled.
    async fn confirm_cancel(&mut self, calling: &Value) -> Value;
    async fn sent(&mut self, kind: &str) -> Value;
}

impl App for Peer {
    async fn called(&mut self) -> Value {
        loop {
            let message = self.next().await;
            match message["type"].as_str() {
                Some("initialize") => {
                    let payload = json!({ "sessionId": "s" });
                    self.send(answer(&message, "initialize-result", payload))
                        .await;
                }
                Some("capabilities/call") => return message,
                _ => panic!("{message}"),
            }
        }
    }

    async fn answer_call(&mut self, calling: &Value, response: Value) {
        self.send(answer(calling, "capabilities/call-result", response))
            .await;
    }

    async fn confirm_cancel(&mut self, calling: &Value) -> Value {
        let cancelling = self.sent("capabilities/cancel").await;
        let call_id = &calling["payload"]["options"]["callId"];
        assert_eq!(cancelling["payload"]["callId"], *call_id);
        let confirmation = json!({ "callId": call_id, "cancelled": true });
        self.send(answer(
            &cancelling,
            "capabilities/cancel-result",
            confirmation,
        ))
        .await;
        self.answer_call(calling, json!({ "success": false, "cancelled": true }))
            .await;
        cancelling
    }

    async fn sent(&mut self, kind: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["type"], kind, "{message}");
        message
    }
}

async fn pair(gateway: &Gateway) -> (Peer, Peer) {
    let app = gateway.app("demo").await;
    (app, gateway.peer("/jsonrpc").await)
}

/// Checks that the gateway has read everything before, and has sent no further answer.
async fn nothing_left(peer: &mut Peer) {
    peer.send(rpc(json!("ping"), "no such method", json!({})))
        .await;
    let answer = peer.next().await;
    assert_eq!(answer["id"], "ping", "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_answered_with_results_and_errors() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    let params = json!({
        "capability": "a.b", "params": { "x": [1] },
        "options": { "timeout": 60_000, "progressToken": 7, "callId": "mine" },
    });
    peer.send(rpc(json!("one"), "_capabilities/call", params))
        .await;
    let calling = app.called().await;
    let payload = &calling["payload"];
    assert_eq!(
        (&payload["capability"], &payload["params"]),
        (&json!("a.b"), &json!({ "x": [1] }))
    );
    assert_eq!(payload["options"]["callId"], "mine");
    assert_eq!(payload["options"]["timeout"].as_f64(), Some(60_000.0));
    let token = &payload["options"]["progressToken"];
    app.send(json!({
        "type": "progress", "agent": calling["agent"],
        "payload": { "operationId": token, "progress": 1, "total": 2 },
    }))
    .await;
    let value = json!({ "operationId": 7, "progress": 1, "total": 2 });
    let progress = notice("$/progress", json!({ "token": 7, "value": value }));
    assert_eq!(peer.next().await, progress);
    let metadata = json!({ "duration": 3 });
    app.answer_call(
        &calling,
        json!({ "success": true, "data": [0], "metadata": metadata }),
    )
    .await;
    let result = json!({ "data": [0], "metadata": metadata });
    let answer = json!({ "jsonrpc": "2.0", "id": "one", "result": result });
    assert_eq!(peer.next().await, answer);

    peer.send(call(json!(2))).await;
    let calling = app.called().await;
    app.answer_call(&calling, json!({ "success": true })).await;
    assert_eq!(peer.next().await["result"], json!({ "data": null }));

    for (abp, expected) in [
        ("UNKNOWN_CAPABILITY", -32602),
        ("INVALID_PARAMS", -32602),
        ("OPERATION_FAILED", -32000),
        ("RATE_LIMITED", -32000),
    ] {
        peer.send(call(json!(3))).await;
        let calling = app.called().await;
        let error = json!({
            "code": abp, "message": "because", "retryable": true, "retryAfter": 5,
            "details": { "path": "x" }, "alternatives": ["c.d"],
        });
        app.answer_call(&calling, json!({ "success": false, "error": error }))
            .await;
        let error = peer.next().await["error"].take();
        let data = json!({
            "code": abp, "retryable": true, "retryAfter": 5,
            "details": { "path": "x" }, "alternatives": ["c.d"],
        });
        let expected = json!({ "code": expected, "message": "because", "data": data });
        assert_eq!(error, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_app_offers() {
    let gateway = Gateway::start().await;
    let mut early = gateway.peer("/jsonrpc").await;
    early
        .send(rpc(json!(0), "_capabilities/list", json!({})))
        .await;
    assert_eq!(codes(&early.next().await), (-32000, "DISCONNECTED"));
    let (_app, mut peer) = pair(&gateway).await;
    peer.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "_capabilities/list" }))
        .await;
    let capability = json!({
        "name": "a.b", "description": "d", "inputSchema": {}, "outputSchema": {},
        "available": true, "requirements": [], "features": {},
    });
    let result = json!({ "capabilities": [capability] });
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": result });
    assert_eq!(peer.next().await, answer);
    let _other = gateway.app("other").await;
    let mut other = gateway.peer("/jsonrpc?app=other").await;
    other
        .send(rpc(json!(1), "_capabilities/list", json!({})))
        .await;
    assert!(other.next().await["result"]["capabilities"].is_array());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_look_alike_are_different_requests() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    let ids = [
        json!(0),
        json!(""),
        json!(1),
        json!("1"),
        json!(null),
        json!(1.5),
    ];
    let mut calls = Vec::new();
    for id in &ids {
        peer.send(call(id.clone())).await;
        calls.push(app.called().await);
    }
    for id in &ids {
        peer.send(call(id.clone())).await;
        let refused = peer.next().await;
        assert_eq!((&refused["id"], codes(&refused).0), (id, -32600));
    }
    for (at, id) in ids.iter().enumerate() {
        peer.send(cancel(id.clone())).await;
        app.confirm_cancel(&calls[at]).await;
        let plain = id.as_str().map_or(id.to_string(), String::from);
        assert_eq!(peer.next().await, cancelled(id.clone(), &plain));
    }
    // All ids are free again.
    for id in &ids {
        peer.send(call(id.clone())).await;
        let calling = app.called().await;
        app.answer_call(&calling, json!({ "success": true })).await;
        assert_eq!(peer.next().await["id"], *id);
    }
    assert_eq!(gateway.hub.readings().in_flight, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_request_is_answered_once() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    for cancels in [
        vec![cancel(json!(0))],
        vec![notice("$/cancelRequest", json!({ "id": 0 }))],
        vec![
            cancel(json!(0)),
            notice("$/cancelRequest", json!({ "id": 0 })),
        ],
    ] {
        peer.send(call(json!(0))).await;
        let calling = app.called().await;
        for cancel in &cancels {
            peer.send(cancel.clone()).await;
        }
        // The second cancel joins the first.
        let cancelling = app.sent("capabilities/cancel").await;
        let call_id = &calling["payload"]["options"]["callId"];
        assert_eq!(cancelling["payload"]["callId"], *call_id);
        let confirmation = json!({ "callId": call_id, "cancelled": true });
        let confirmed = answer(&cancelling, "capabilities/cancel-result", confirmation);
        app.send(confirmed).await;
        app.answer_call(&calling, json!({ "success": false, "cancelled": true }))
            .await;
        assert_eq!(peer.next().await, cancelled(json!(0), "0"));
        // The cancel is sent again, after the call has ended.
        peer.send(cancel(json!(0))).await;
        nothing_left(&mut peer).await;
    }
    // None of the late cancels has reached the app.
    peer.send(call(json!("last"))).await;
    app.called().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_sent_with_its_call_finds_it() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(""))).await;
    peer.send(cancel(json!(""))).await;
    let initializing = app.sent("initialize").await;
    // The call has not been sent yet, and need not be sent.
    let never_started = stopped_request(json!(""), "", "never-started");
    assert_eq!(peer.next().await, never_started);
    app.send(answer(
        &initializing,
        "initialize-result",
        json!({ "sessionId": "s" }),
    ))
    .await;
    peer.send(call(json!("next"))).await;
    assert_eq!(app.next().await["type"], "capabilities/call");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_had_completed_answers_its_result() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(1))).await;
    let calling = app.called().await;
    peer.send(cancel(json!(1))).await;
    let cancelling = app.sent("capabilities/cancel").await;
    app.answer_call(&calling, json!({ "success": true, "data": "done" }))
        .await;
    let call_id = &calling["payload"]["options"]["callId"];
    let reason = "Operation already completed";
    let confirmation = json!({ "callId": call_id, "cancelled": false, "reason": reason });
    app.send(answer(
        &cancelling,
        "capabilities/cancel-result",
        confirmation,
    ))
    .await;
    assert_eq!(peer.next().await["result"]["data"], "done");
    nothing_left(&mut peer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_cancelled_the_mcp_way_is_not_answered_whatever_else_cancels_it() {
    let orders: [fn(Value, Value) -> Vec<Value>; 3] = [
        |given_up, _| vec![given_up],
        |given_up, cancel| vec![given_up, cancel],
        |given_up, cancel| vec![cancel, given_up],
    ];
    for order in orders {
        let gateway = Gateway::start().await;
        let (mut app, mut peer) = pair(&gateway).await;
        peer.send(call(json!(1))).await;
        let calling = app.called().await;
        let params = json!({ "requestId": 1, "reason": "enough" });
        let given_up = notice("notifications/cancelled", params);
        for it in order(given_up, cancel(json!(1))) {
            peer.send(it).await;
        }
        // The app confirms when the gateway has read all of them: an answer to the confirmation
        // that comes before the peer has given up would be right.
        nothing_left(&mut peer).await;
        let cancelling = app.confirm_cancel(&calling).await;
        assert_eq!(
            cancelling["payload"]["callId"],
            calling["payload"]["options"]["callId"]
        );
        let anyone = Identity::anyone();
        let is_over = || {
            let (runs, _) = gateway.hub.recent_runs(&anyone, usize::MAX);
            runs[0].state.is_over()
        };
        soon("the end of the call", async {
            while !is_over() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        nothing_left(&mut peer).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_is_free_once_its_request_is_given_up_whether_or_not_the_app_answers() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(1))).await;
    let first = app.called().await;
    let params = json!({ "requestId": 1 });
    peer.send(notice("notifications/cancelled", params)).await;
    app.sent("capabilities/cancel").await;
    peer.send(call(json!(1))).await;
    let second = app.called().await;
    // The end of the first call is not that of the second.
    app.answer_call(&first, json!({ "success": true, "data": "first" }))
        .await;
    app.answer_call(&second, json!({ "success": true, "data": "second" }))
        .await;
    let answer = peer.next().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["data"], "second");
    nothing_left(&mut peer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_grade_is_in_the_error_and_a_late_end_is_told() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    for (id, stop) in ["dropped", "returned", "terminated", "abandoned"]
        .iter()
        .enumerate()
    {
        peer.send(call(json!(id))).await;
        let calling = app.called().await;
        app.answer_call(&calling, stopped(json!({ "success": false }), stop))
            .await;
        let expected = stopped_request(json!(id), &id.to_string(), stop);
        assert_eq!(peer.next().await, expected);
        let call_id = &calling["payload"]["options"]["callId"];
        app.send(ended(&calling, call_id, true, 200.0)).await;
        if *stop == "abandoned" {
            let params =
                json!({ "requestId": id, "callId": call_id, "success": true, "after": 200.0 });
            let expected =
                json!({ "jsonrpc": "2.0", "method": "_capabilities/ended", "params": params });
            assert_eq!(
                peer.next().await,
                expected,
                "and nothing of those seen to stop"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_is_the_same_for_every_party_that_cancels_a_call() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    // The app itself cancels: by a timeout, or because of its user.
    peer.send(call(json!(1))).await;
    let calling = app.called().await;
    app.answer_call(&calling, json!({ "success": false, "cancelled": true }))
        .await;
    assert_eq!(peer.next().await, cancelled(json!(1), "1"));
    // An operator cancels.
    peer.send(call(json!("op"))).await;
    let calling = app.called().await;
    let found = gateway.hub.matches("op", &Identity::anyone());
    let Found::One(run) = Found::among(found) else {
        panic!("no run")
    };
    assert_eq!(run.dialect.as_str(), "jsonrpc");
    let (hub, anyone) = (gateway.hub.clone(), Identity::anyone());
    let cancelling =
        tokio::spawn(async move { hub.cancel(run.id, Some("stop".into()), &anyone).await });
    let request = app.confirm_cancel(&calling).await;
    assert_eq!(request["payload"]["reason"], "stop");
    assert!(cancelling.await.unwrap().cancelled());
    assert_eq!(peer.next().await, cancelled(json!("op"), "op"));
    // An operator cancels before the call comes.
    let early = "00000000-0000-4000-8000-000000000007";
    let anyone = Identity::anyone();
    let kept = gateway.hub.seek_or_cancel_early(early, None, &anyone);
    kept.await;
    peer.send(call(json!(early))).await;
    let skipped = stopped_request(json!(early), early, "never-started");
    assert_eq!(peer.next().await, skipped);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_does_not_confirm_leaves_the_outcome_unknown() {
    let limits = Limits {
        confirm_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(0))).await;
    app.called().await;
    peer.send(cancel(json!(0))).await;
    assert_eq!(codes(&peer.next().await), (-32000, "TIMEOUT"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_nonsense_is_answered_and_the_session_goes_on() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!("held"))).await;
    let held = app.called().await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"m","params":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    for (text, id, code) in [
        ("{", json!(null), -32700),
        ("", json!(null), -32700),
        ("[]", json!(null), -32600),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#,
            json!(null),
            -32600,
        ),
        ("7", json!(null), -32600),
        ("{}", json!(null), -32600),
        (r#"{"id":1,"method":"m"}"#, json!(1), -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, json!(1), -32600),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            json!(null),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":7}"#,
            json!(1),
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#, json!(0), -32601),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"$/cancel_request","params":{"requestId":"held"}}"#,
            json!(0),
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"$/other"}"#,
            json!(0),
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"_capabilities/call"}"#,
            json!(0),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"_capabilities/call","params":["a.b"]}"#,
            json!(0),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"_capabilities/call","params":{}}"#,
            json!(0),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"_capabilities/call","params":{"capability":"a.b","options":{"timeout":-1}}}"#,
            json!(0),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"_capabilities/call","params":{"capability":"a.b","options":{"callId":""}}}"#,
            json!(0),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"_capabilities/call","params":{"capability":"a.b","params":[]}}"#,
            json!(0),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":[]}"#,
            json!(0),
            -32602,
        ),
        (&deep, json!(4), -32600),
    ] {
        peer.text(text).await;
        let got = peer.next().await;
        assert_eq!((&got["id"], codes(&got).0), (&id, code), "{text:.100}");
        assert_ne!(codes(&got).1, "none", "{text:.100}");
    }
    let binary = Message::binary(vec![1, 2, 3]);
    peer.socket.send(binary).await.unwrap();
    assert_eq!(codes(&peer.next().await).0, -32600);
    // None of these messages is answered.
    for text in [
        r#"{"jsonrpc":"2.0","method":"unknown/notification"}"#,
        r#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}"#,
        r#"{"jsonrpc":"2.0","method":"_capabilities/call","params":{"capability":"a.b"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request"}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"id":"held"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":["held"]}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":["held"]}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"unknown"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":"held","result":1}"#,
    ] {
        peer.text(text).await;
    }
    nothing_left(&mut peer).await;
    app.answer_call(&held, json!({ "success": true, "data": 1 }))
        .await;
    let answer = peer.next().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["data"]),
        (&json!("held"), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_those_of_abp() {
    let limits = Limits {
        message_bytes: 2_000,
        frame_bytes: 10_000,
        in_flight: 1,
        sessions: 2,
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let (mut app, mut peer) = pair(&gateway).await;
    let mut large = call(json!("large"));
    large["params"]["params"] = json!({ "x": "x".repeat(3_000) });
    peer.send(large).await;
    let got = peer.next().await;
    assert_eq!(
        (&got["id"], codes(&got)),
        (&json!("large"), (-32600, "INVALID_PARAMS"))
    );
    assert_eq!(
        got["error"]["data"]["details"],
        json!({ "limit": "messageBytes", "max": 2_000 })
    );
    peer.send(call(json!(1))).await;
    let calling = app.called().await;
    peer.send(call(json!(2))).await;
    let got = peer.next().await;
    assert_eq!(codes(&got), (-32000, "RATE_LIMITED"));
    assert_eq!(got["error"]["data"]["retryable"], true);
    app.answer_call(&calling, json!({ "success": true })).await;
    assert_eq!(peer.next().await["id"], 1);
    let mut second = gateway.peer("/jsonrpc").await;
    nothing_left(&mut second).await;
    assert_eq!(gateway.upgrade_refused("/jsonrpc").await, 503);
    drop(second);
    peer.text("x".repeat(11_000)).await;
    assert_eq!(peer.closed().await, 1009);

    let limits = Limits {
        requests_per_second: 4.0,
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(0))).await;
    let calling = app.called().await;
    for id in 1..5 {
        peer.send(rpc(json!(id), "_capabilities/list", json!({})))
            .await;
    }
    for id in 1..4 {
        assert_eq!(peer.next().await["id"], id);
    }
    let got = peer.next().await;
    assert_eq!(codes(&got), (-32000, "RATE_LIMITED"));
    assert!(got["error"]["data"]["retryAfter"].as_f64().unwrap() > 0.0);
    // A cancel is never refused.
    peer.send(cancel(json!(0))).await;
    app.confirm_cancel(&calling).await;
    assert_eq!(peer.next().await, cancelled(json!(0), "0"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_stopped_a_call_in_a_worker_is_told() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(7))).await;
    let calling = app.called().await;
    peer.send(cancel(json!(7))).await;
    let cancelling = app.sent("capabilities/cancel").await;
    let call_id = &calling["payload"]["options"]["callId"];
    let confirmed = terminated(json!({ "callId": call_id }));
    app.send(answer(&cancelling, "capabilities/cancel-result", confirmed))
        .await;
    app.answer_call(&calling, terminated(json!({ "success": false })))
        .await;
    let mut expected = stopped_request(json!(7), "7", "terminated");
    expected["error"]["data"]["step"] = "terminate".into();
    expected["error"]["data"]["took"] = 57.25.into();
    assert_eq!(peer.next().await, expected);
}

/// The gateway cannot refuse a notification, so a peer that sends too many has to wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_are_read_at_a_rate() {
    let limits = Limits {
        requests_per_second: 10.0,
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let (_app, mut peer) = pair(&gateway).await;
    let began = std::time::Instant::now();
    // Ten come at once, and then ten per second.
    for id in 0..25 {
        peer.send(cancel(json!(id))).await;
    }
    nothing_left(&mut peer).await;
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(1_300), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_app_settles_its_calls() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(0))).await;
    app.called().await;
    drop(app);
    let got = peer.next().await;
    assert_eq!(codes(&got), (-32000, "DISCONNECTED"));
    assert_eq!(got["error"]["data"]["retryable"], true);
    peer.send(call(json!(0))).await;
    assert_eq!(codes(&peer.next().await), (-32000, "DISCONNECTED"));
    // The same connection works with another app.
    let mut app = gateway.app("demo").await;
    peer.send(call(json!(0))).await;
    let calling = app.called().await;
    app.answer_call(&calling, json!({ "success": true })).await;
    assert!(peer.next().await["result"].is_object());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_ends_cancels_its_calls() {
    let gateway = Gateway::start().await;
    for polite in [true, false] {
        let (mut app, mut peer) = pair(&gateway).await;
        peer.send(call(json!(0))).await;
        let calling = app.called().await;
        if polite {
            peer.socket.close(None).await.unwrap();
        }
        drop(peer);
        app.confirm_cancel(&calling).await;
        let left = app.next().await;
        assert!(
            ["shutdown", "agent/closed"].contains(&left["type"].as_str().unwrap()),
            "{left}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_cancels_first_and_exit_closes() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    peer.send(call(json!(0))).await;
    let calling = app.called().await;
    peer.send(rpc(json!("bye"), "shutdown", json!(null))).await;
    app.confirm_cancel(&calling).await;
    assert_eq!(peer.next().await, cancelled(json!(0), "0"));
    let answer = json!({ "jsonrpc": "2.0", "id": "bye", "result": null });
    assert_eq!(peer.next().await, answer);
    peer.send(call(json!(1))).await;
    assert_eq!(codes(&peer.next().await).0, -32600);
    peer.send(json!({ "jsonrpc": "2.0", "method": "exit" }))
        .await;
    assert_eq!(peer.closed().await, 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn initialize_answers_each_kind_of_peer_once() {
    let gateway = Gateway::start().await;
    let (mut app, mut lsp) = pair(&gateway).await;
    let params = json!({
        "processId": null, "rootUri": null, "capabilities": {},
        "clientInfo": { "name": "editor", "version": "3" },
    });
    lsp.send(rpc(json!(0), "initialize", params.clone())).await;
    // `initialize` cannot be cancelled.
    lsp.send(cancel(json!(0))).await;
    let result = lsp.next().await["result"].take();
    assert_eq!(
        result["capabilities"],
        json!({ "cancellation": { "request": true } })
    );
    assert_eq!(result["serverInfo"]["name"], "caphost");
    lsp.send(json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }))
        .await;
    lsp.send(rpc(json!(1), "initialize", params)).await;
    assert_eq!(codes(&lsp.next().await), (-32600, "ALREADY_INITIALIZED"));
    lsp.send(call(json!(2))).await;
    let initializing = app.next().await;
    assert_eq!(
        initializing["payload"]["agent"],
        json!({ "name": "editor", "version": "3" })
    );
    let mut acp = gateway.peer("/jsonrpc").await;
    let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    acp.send(rpc(json!(0), "initialize", params)).await;
    let result = acp.next().await["result"].take();
    assert_eq!(result["protocolVersion"], 1);
    assert_eq!(
        result["agentCapabilities"]["cancellation"],
        json!({ "request": true })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancels_of_others_are_told_to_who_declared_to_understand_them() {
    let mut config = config();
    config.tokens = Tokens::new(vec![
        "app=a".parse().unwrap(),
        "agent=one".parse().unwrap(),
        "agent=two".parse().unwrap(),
    ]);
    let gateway = Gateway::with(config).await;
    let mut app = gateway.peer("/abp/app?token=a").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut owner = gateway.peer("/jsonrpc?token=one").await;
    let mut stranger = gateway.peer("/jsonrpc?token=two").await;
    let mut silent = gateway.peer("/jsonrpc?token=one").await;
    let wants = json!({ "capabilities": { "cancellation": { "notifications": true } } });
    for peer in [&mut owner, &mut stranger] {
        peer.send(rpc(json!("hi"), "initialize", wants.clone()))
            .await;
        peer.next().await;
    }
    owner.send(call(json!(1))).await;
    app.called().await;
    let found = gateway.hub.matches("1", &Identity::anyone());
    let Found::One(run) = Found::among(found) else {
        panic!("no run")
    };
    let announce = |request_id: &str, run| {
        gateway.hub.announce_cancelled(CancelNotice {
            request_id: request_id.into(),
            reason: Some("why".into()),
            run,
        })
    };
    announce("1", Some((&*run).into()));
    announce("elsewhere", None);
    let expected = |id: &str| {
        let params = json!({ "requestId": id, "reason": "why" });
        notice("notifications/cancelled", params)
    };
    assert_eq!(owner.next().await, expected("1"));
    assert_eq!(owner.next().await, expected("elsewhere"));
    assert_eq!(stranger.next().await, expected("elsewhere"));
    nothing_left(&mut silent).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_those_of_abp() {
    let config = || Config {
        tokens: Tokens::new(vec![
            "app=a".parse().unwrap(),
            "agent=secret".parse().unwrap(),
        ]),
        ..config()
    };
    let gateway = Gateway::with(config()).await;
    let status = |result: Result<Peer, Error>| match result {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other}"),
        Ok(_) => 101,
    };
    for (path, expected) in [
        ("/jsonrpc", 401),
        ("/jsonrpc?token=wrong", 401),
        ("/jsonrpc?token=a", 403),
        ("/jsonrpc?token=secret", 101),
    ] {
        let opened = Peer::open(gateway.request(path)).await;
        assert_eq!(status(opened), expected, "{path}");
    }
    let mut request = gateway.request("/jsonrpc");
    let bearer = "Bearer secret".parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    assert_eq!(status(Peer::open(request).await), 101);
    let mut request = gateway.request("/jsonrpc");
    let offered = "jsonrpc, caphost.token.secret".parse().unwrap();
    request
        .headers_mut()
        .insert("sec-websocket-protocol", offered);
    assert_eq!(status(Peer::open(request).await), 101);
    let mut request = gateway.request("/jsonrpc?token=secret");
    let origin = "https://evil.example".parse().unwrap();
    request.headers_mut().insert("origin", origin);
    assert_eq!(status(Peer::open(request).await), 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_stops_settles_and_closes() {
    let mut gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    let mut idle = gateway.peer("/jsonrpc").await;
    nothing_left(&mut idle).await;
    peer.send(call(json!(0))).await;
    let calling = app.called().await;
    gateway.stop();
    app.confirm_cancel(&calling).await;
    assert_eq!(peer.next().await, cancelled(json!(0), "0"));
    assert_eq!(peer.closed().await, 1001);
    assert_eq!(idle.closed().await, 1001);
    drop((app, peer, idle));
    gateway.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nests_as_deep_as_it_may_is_carried_both_ways() {
    let nested = |levels: usize| -> Value {
        let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let mut reader = serde_json::Deserializer::from_str(&text);
        serde::Deserialize::deserialize(&mut reader).unwrap()
    };
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    // An envelope's payload and a request's params add two levels. 127 levels are allowed.
    for levels in [124, 125, 126] {
        let params = json!({ "capability": "a.b", "params": { "x": nested(levels - 1) } });
        peer.send(rpc(json!(levels), "_capabilities/call", params))
            .await;
        if levels > 125 {
            let got = peer.next().await;
            assert_eq!(codes(&got), (-32600, "INVALID_PARAMS"));
            let details = json!({ "limit": "depth", "max": 127 });
            assert_eq!(got["error"]["data"]["details"], details);
            peer.send(call(json!(levels))).await;
        }
        let calling = app.called().await;
        app.answer_call(&calling, json!({ "success": true, "data": nested(levels) }))
            .await;
        let got = peer.next().await;
        if levels > 125 {
            // No reader could read this answer, so the caller gets an error.
            assert_eq!(codes(&got), (-32000, "TRANSPORT_ERROR"));
        } else {
            assert_eq!(calling["payload"]["params"]["x"], nested(levels - 1));
            assert_eq!(got["result"]["data"], nested(levels));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_agent_cannot_take_all_json_rpc_sockets() {
    let tokens = ["agent=a", "agent=b"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        limits: Limits {
            sessions: 3,
            sessions_per_token: 2,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut peer = gateway.peer("/jsonrpc?token=a").await;
        nothing_left(&mut peer).await;
        held.push(peer);
    }
    assert_eq!(gateway.upgrade_refused("/jsonrpc?token=a").await, 429);
    let mut other = gateway.peer("/jsonrpc?token=b").await;
    nothing_left(&mut other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_and_a_progress_token_have_bounds() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    let max = Limits::default().id_bytes;
    // As JSON the id has quotes.
    let (longest, longer) = ("x".repeat(max - 2), "x".repeat(max - 1));
    peer.send(call(json!(longer))).await;
    let refused = peer.next().await;
    assert_eq!(codes(&refused), (-32600, "INVALID_PARAMS"));
    assert_eq!(refused["id"], Value::Null);
    let with_token = |token: &str| {
        let params = json!({ "capability": "a.b", "options": { "progressToken": token } });
        rpc(json!(longest), "_capabilities/call", params)
    };
    peer.send(with_token(&longer)).await;
    let refused = peer.next().await;
    assert_eq!(codes(&refused), (-32602, "INVALID_PARAMS"));
    assert_eq!(refused["id"], json!(longest));
    peer.send(with_token(&longest)).await;
    let calling = app.called().await;
    app.answer_call(&calling, json!({ "success": true, "data": 1 }))
        .await;
    assert_eq!(peer.next().await["result"]["data"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_is_named_in_few_characters() {
    let gateway = Gateway::start().await;
    let (mut app, mut peer) = pair(&gateway).await;
    let params = json!({ "capability": "x".repeat(10_000) });
    peer.send(rpc(json!(1), "_capabilities/call", params)).await;
    let calling = app.called().await;
    peer.send(cancel(json!(1))).await;
    app.confirm_cancel(&calling).await;
    let answer = peer.next().await;
    assert_eq!(codes(&answer), (-32800, "CANCELLED"));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.len() < 300, "{}", message.len());
}

#[tokio::test]
async fn without_an_app_each_call_goes_to_the_app_that_offers_the_capability() {
    let gateway = Gateway::start().await;
    let register_with = async |id: &str, names: &[&str]| {
        let mut app = gateway.peer("/abp/app").await;
        let mut registration = register(id);
        let capabilities = names.iter().map(|name| json!({ "name": name }));
        registration["payload"]["capabilities"] = capabilities.collect();
        app.send(registration).await;
        assert_eq!(app.next().await["type"], "app/registered");
        app
    };
    let one = register_with("one", &["a.b", "own"]).await;
    let mut peer = gateway.peer("/jsonrpc").await;
    let list = async |peer: &mut Peer| {
        peer.send(rpc(json!("l"), "_capabilities/list", json!({})))
            .await;
        let listed = peer.next().await;
        let listed = listed["result"]["capabilities"].as_array().unwrap().clone();
        let names = listed
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(list(&mut peer).await, ["a.b", "own"]);
    let two = register_with("two", &["a.b"]).await;
    assert_eq!(list(&mut peer).await, ["one.a.b", "own", "two.a.b"]);
    let mut apps = [one, two];
    for (id, name, at, capability) in [
        (1, "two.a.b", 1, "a.b"),
        (2, "own", 0, "own"),
        (3, "one.a.b", 0, "a.b"),
        (4, "one.own", 0, "own"),
    ] {
        let params = json!({ "capability": name });
        peer.send(rpc(json!(id), "_capabilities/call", params))
            .await;
        let calling = apps[at].called().await;
        assert_eq!(calling["payload"]["capability"], capability);
        // The second app gets a cancel, the first an end.
        if at == 1 {
            peer.send(cancel(json!(id))).await;
            apps[at].confirm_cancel(&calling).await;
            assert_eq!(codes(&peer.next().await), (-32800, "CANCELLED"));
            continue;
        }
        let done = json!({ "success": true, "data": name });
        apps[at].answer_call(&calling, done).await;
        assert_eq!(peer.next().await["result"]["data"], name);
    }
    for (name, said) in [("a.b", "one, two"), ("none", "No app offers")] {
        let params = json!({ "capability": name });
        peer.send(rpc(json!(9), "_capabilities/call", params)).await;
        let refused = peer.next().await;
        assert_eq!(codes(&refused).1, "UNKNOWN_CAPABILITY");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
    }
}
