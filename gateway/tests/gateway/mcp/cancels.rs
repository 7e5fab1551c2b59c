//! Cancels, and which requests are answered.

use caphost_gateway::for_tests::CancelNotice;
use reqwest::Method;
use serde_json::{Value, json};

use super::app::{called, confirm_cancel, demo, succeed};
use super::client::*;
use crate::steps::terminated;
use crate::stops::ended;
use crate::support::*;

#[tokio::test]
async fn a_call_its_client_cancels_is_cancelled_in_the_app_and_not_answered() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let mut stream = client.call_tool(1, "export.pdf").await;
    let relayed = called(&mut app).await;
    client.cancel(1, "changed my mind").await;
    assert_eq!(
        stream.next().await,
        None,
        "the stream ends without an answer"
    );
    assert_eq!(confirm_cancel(&mut app, &relayed).await, "changed my mind");
    // A repeated cancel and a cancel after the end are ignored.
    client.cancel(1, "again").await;
    client.cancel("1", "another id").await;
    client.cancel(99, "never was").await;
    for malformed in [json!({}), json!({ "requestId": [] }), json!(null)] {
        let told = client
            .post(&notification("notifications/cancelled", malformed))
            .await;
        assert!(told.status().is_success() || told.status() == 400);
    }
    let stream = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("the same id again")).await;
    assert_eq!(
        stream.last().await["result"]["content"][0]["text"],
        "the same id again"
    );
    let runs = gateway.get("/api/runs", "").await.json();
    assert_eq!(runs["runs"][1]["state"], "cancelled");
    assert_eq!(runs["runs"][1]["cancelReason"], "changed my mind");
}

#[tokio::test]
async fn an_id_used_again_while_the_app_still_stops_gets_its_own_answer() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let mut stream = client.call_tool(1, "echo").await;
    let first = called(&mut app).await;
    client.cancel(1, "enough").await;
    assert_eq!(stream.next().await, None);
    let second = client.call_tool(1, "echo").await;
    // The cancel of the first call and the message of the second call come in any order.
    let (mut cancel, mut relayed) = (None, None);
    while cancel.is_none() || relayed.is_none() {
        let message = app.next().await;
        match message["type"].as_str() {
            Some("capabilities/cancel") => cancel = Some(message),
            Some("capabilities/call") => relayed = Some(message),
            other => panic!("{other:?}"),
        }
    }
    let (cancel, relayed) = (cancel.unwrap(), relayed.unwrap());
    let id = &first["payload"]["options"]["callId"];
    let confirmed = json!({ "callId": id, "cancelled": true });
    app.send(answer(&cancel, "capabilities/cancel-result", confirmed))
        .await;
    let cancelled = json!({ "success": false, "cancelled": true });
    app.send(answer(&first, "capabilities/call-result", cancelled))
        .await;
    // When a later call is over, all effects of the first call's end have happened.
    let third = client.call_tool(2, "echo").await;
    let next = called(&mut app).await;
    succeed(&mut app, &next, json!("third")).await;
    third.last().await;
    succeed(&mut app, &relayed, json!("second")).await;
    assert_eq!(
        second.last().await["result"]["content"][0]["text"],
        "second"
    );
}

#[tokio::test]
async fn a_cancel_that_overtakes_its_request_keeps_it_from_starting() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    client.cancel("late", "already").await;
    let mut stream = client.call_tool("late", "echo").await;
    assert_eq!(stream.next().await, None, "neither answered nor made");
    let stream = client.call_tool("next", "echo").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("first to arrive")).await;
    stream.last().await;
    let runs = gateway.get("/api/runs", "").await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn closing_the_response_stream_cancels_the_call() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let stream = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    drop(stream);
    let reason = confirm_cancel(&mut app, &relayed).await;
    assert_eq!(reason, "The response stream was closed");
    // The session goes on.
    let stream = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!(1)).await;
    stream.last().await;
}

#[tokio::test]
async fn closing_a_listening_stream_cancels_nothing() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let listening = client.listen().await;
    let stream = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    drop(listening);
    // The end of the stream is noticed before a later call has ended. If it caused a cancel, the cancel would
    // come next.
    let after = client.call_tool(2, "echo").await;
    let next = called(&mut app).await;
    succeed(&mut app, &next, json!("after")).await;
    after.last().await;
    succeed(&mut app, &relayed, json!("still here")).await;
    assert_eq!(
        stream.last().await["result"]["content"][0]["text"],
        "still here"
    );
}

#[tokio::test]
async fn a_call_cancelled_by_something_else_is_answered() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let stream = client.call_tool("r-1", "export_pdf").await;
    let relayed = called(&mut app).await;
    let body = json!({ "requestId": "r-1", "reason": "operator" }).to_string();
    let (api, reason) = tokio::join!(
        gateway.post("/cancellation/cancel", "", &body),
        confirm_cancel(&mut app, &relayed),
    );
    assert_eq!(
        (api.status, reason),
        (200, json!("operator")),
        "{}",
        api.body
    );
    assert_eq!(
        stream.last().await,
        json!({ "jsonrpc": "2.0", "id": "r-1", "error": {
            "code": -32800, "message": "Tool execution cancelled: export.pdf",
            "data": {
                "requestId": "r-1", "partial": false, "stop": "abandoned",
                "_meta": { "caphost/stop": "abandoned" },
            },
        } })
    );

    // The app itself cancels.
    let stream = client.call_tool(2, "echo").await;
    let relayed = called(&mut app).await;
    let cancelled = json!({ "success": false, "cancelled": true });
    app.send(answer(&relayed, "capabilities/call-result", cancelled))
        .await;
    let error = stream.last().await["error"].take();
    assert_eq!(
        (&error["code"], &error["data"]["requestId"]),
        (&json!(-32800), &json!("2"))
    );
}

#[tokio::test]
async fn what_has_stopped_a_call_in_a_worker_is_told() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let stream = client.call_tool(7, "export_pdf").await;
    let relayed = called(&mut app).await;
    let response = terminated(json!({ "success": false }));
    app.send(answer(&relayed, "capabilities/call-result", response))
        .await;
    assert_eq!(
        stream.last().await["error"]["data"],
        json!({
            "requestId": "7", "partial": false,
            "stop": "terminated", "step": "terminate", "took": 57.25,
            "_meta": {
                "caphost/stop": "terminated", "caphost/step": "terminate", "caphost/took": 57.25,
            },
        })
    );
}

#[tokio::test]
async fn the_late_end_of_an_abandoned_call_is_told_to_who_listens() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let mut listening = client.listen().await;
    for (id, level, heard) in [
        ("quiet", Some("warning"), false),
        ("loud", Some("notice"), true),
    ] {
        if let Some(level) = level {
            let params = json!({ "level": level });
            let set = client.ask(level, "logging/setLevel", params).await;
            assert_eq!(set["result"], json!({}), "{set}");
        }
        let mut stream = client.call_tool(id, "export.pdf").await;
        let relayed = called(&mut app).await;
        client.cancel(id, "enough").await;
        assert_eq!(stream.next().await, None, "not answered");
        confirm_cancel(&mut app, &relayed).await;
        let call_id = &relayed["payload"]["options"]["callId"];
        app.send(ended(&relayed, call_id, false, 212.5)).await;
        if heard {
            let data = json!({
                "event": "notifications/call/ended", "callId": call_id, "success": false,
                "after": 212.5, "requestId": id,
            });
            let params = json!({ "level": "notice", "logger": "caphost", "data": data });
            let told = listening.next().await.unwrap();
            assert_eq!(
                told["method"], "notifications/message",
                "nothing came before it"
            );
            assert_eq!(told["params"], params);
        }
        let known = gateway.get(&format!("/api/runs/{id}"), "").await.json();
        assert_eq!(known["ended"], json!({ "success": false, "after": 212.5 }));
    }
}

#[tokio::test]
async fn every_session_that_listens_hears_of_a_cancel_through_the_api() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let caller = Client::open(&gateway, "/mcp").await;
    let other = Client::open(&gateway, "/mcp").await;
    let _deaf = Client::open(&gateway, "/mcp").await;
    let mut listening = [caller.listen().await, other.listen().await];
    let stream = caller.call_tool(5, "echo").await;
    let relayed = called(&mut app).await;
    let body = json!({ "requestId": "5", "reason": "operator" }).to_string();
    tokio::join!(
        gateway.post("/cancellation/cancel", "", &body),
        confirm_cancel(&mut app, &relayed),
    );
    for events in &mut listening {
        assert_eq!(
            events.next().await,
            Some(
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                         "params": { "requestId": "5", "reason": "operator" } })
            )
        );
    }
    assert_eq!(stream.last().await["error"]["code"], -32800);

    let notice = CancelNotice {
        request_id: "unknown".into(),
        reason: None,
        run: None,
    };
    gateway.hub.announce_cancelled(notice);
    for events in &mut listening {
        let told = events.next().await.unwrap();
        assert_eq!(told["params"], json!({ "requestId": "unknown" }));
    }
}

#[tokio::test]
async fn a_session_that_ends_leaves_no_call_behind() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let mut streams = Vec::new();
    let mut calls: Vec<Value> = Vec::new();
    for id in 0..5 {
        streams.push(client.call_tool(id, "echo").await);
        calls.push(called(&mut app).await);
    }
    client.send(client.request(Method::DELETE)).await;
    let mut cancelled = 0;
    while cancelled < calls.len() {
        let message = app.next().await;
        if message["type"] == "capabilities/cancel" {
            cancelled += 1;
        }
    }
}
