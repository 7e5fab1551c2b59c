//! Ctrl-C, once and twice.

#![cfg(unix)]

use std::time::{Duration, Instant};

use super::*;

/// A call in flight, and its message to the app.
async fn under_way(gateway: &Gateway, app: &mut Peer, options: &[&str]) -> (Running, Value) {
    let arguments = [&["call", "a.b", "--call-id", "c"], options].concat();
    let running = Running::start(caphost(gateway, &arguments));
    let call = called(app).await;
    (running, call)
}

async fn cancel_of(app: &mut Peer) -> Value {
    let cancel = receives(app, "capabilities/cancel").await;
    assert_eq!(cancel["payload"]["callId"], "c");
    assert_eq!(
        cancel["payload"]["reason"],
        "Interrupted at the command line"
    );
    cancel
}

async fn confirms(app: &mut Peer, cancel: &Value, mut confirmation: Value) {
    confirmation["callId"] = json!("c");
    app.send(answer(cancel, "capabilities/cancel-result", confirmation))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_signal_cancels_and_prints_the_confirmation() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    for (signal, stop, said) in [
        ("-INT", "dropped", "; the work has ended"),
        ("-TERM", "never-started", "; it never started"),
        (
            "-HUP",
            "abandoned",
            ", but the work was not seen to stop; it may still go on",
        ),
    ] {
        let (mut running, call) = under_way(&gateway, &mut app, &[]).await;
        running.signal(signal);
        running.says("Cancelling").await;
        let cancel = cancel_of(&mut app).await;
        confirms(&mut app, &cancel, stopped(json!({}), stop)).await;
        returns(&mut app, &call, stopped(json!({ "success": false }), stop)).await;
        let ended = running.ended().await;
        assert_eq!((ended.status, &*ended.out), (Some(130), ""), "{signal}");
        assert!(
            ended
                .err
                .ends_with(&format!("\nCancelled, and confirmed by the app{said}")),
            "{ended:?}"
        );
        receives(&mut app, "agent/closed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_confirmation_is_in_the_document() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let (running, _) = under_way(&gateway, &mut app, &["--json"]).await;
    running.signal("-INT");
    let cancel = cancel_of(&mut app).await;
    // The confirmation alone is enough.
    confirms(&mut app, &cancel, stopped(json!({}), "returned")).await;
    let ended = running.ended().await;
    let mut expected = stopped(json!({ "callId": "c", "success": false }), "returned");
    expected["confirmation"] = stopped(json!({ "callId": "c" }), "returned");
    assert_eq!((ended.status, ended.document()), (Some(130), expected));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_completes_meanwhile_is_not_said_to_be_cancelled() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let refusal = json!({ "cancelled": false, "reason": "Operation already completed" });
    let (running, call) = under_way(&gateway, &mut app, &[]).await;
    running.signal("-INT");
    let cancel = cancel_of(&mut app).await;
    returns(&mut app, &call, json!({ "success": true, "data": "whole" })).await;
    confirms(&mut app, &cancel, refusal.clone()).await;
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.out), (Some(0), "\"whole\"\n"));
    assert!(
        ended
            .err
            .ends_with("\nNot cancelled: Operation already completed"),
        "{ended:?}"
    );

    receives(&mut app, "agent/closed").await;
    let (running, call) = under_way(&gateway, &mut app, &["--json"]).await;
    running.signal("-INT");
    let cancel = cancel_of(&mut app).await;
    confirms(&mut app, &cancel, refusal).await;
    returns(&mut app, &call, json!({ "success": true, "data": "whole" })).await;
    let ended = running.ended().await;
    let confirmation =
        json!({ "callId": "c", "cancelled": false, "reason": "Operation already completed" });
    let expected =
        json!({ "callId": "c", "success": true, "data": "whole", "confirmation": confirmation });
    assert_eq!((ended.status, ended.document()), (Some(0), expected));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_confirmation_nothing_is_said_to_be_cancelled() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let (running, _) = under_way(&gateway, &mut app, &["--json", "--grace", "200ms"]).await;
    running.signal("-INT");
    cancel_of(&mut app).await;
    let ended = running.ended().await;
    let document = ended.document();
    assert_eq!(ended.status, Some(1));
    assert_eq!(document["error"]["code"], "TIMEOUT");
    assert!(document.get("cancelled").is_none(), "{document}");
    let confirmation = &document["confirmation"];
    assert_eq!(
        (
            &confirmation["cancelled"],
            &confirmation["reason"],
            &confirmation["error"]["code"]
        ),
        (
            &json!(false),
            &json!("No confirmation from the app"),
            &json!("TIMEOUT")
        )
    );
    let said = "Not confirmed within 200ms: the app was asked, and may still cancel it. \
        caphost runs shows what becomes of it (callId c)";
    assert!(ended.err.contains(said), "{ended:?}");
    assert!(!ended.err.contains("Not cancelled"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_cancel_does_not_wait_for_ever() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let (running, _) = under_way(&gateway, &mut app, &["--grace", "200ms"]).await;
    running.signal("-TERM");
    let cancel = cancel_of(&mut app).await;
    let error =
        json!({ "code": "NOT_IMPLEMENTED", "message": "No cancels here", "retryable": false });
    confirms(
        &mut app,
        &cancel,
        json!({ "cancelled": false, "error": error }),
    )
    .await;
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.out), (Some(1), ""));
    assert!(
        ended.err.contains("Not cancelled: No cancels here"),
        "{ended:?}"
    );
    assert!(ended.err.contains("its outcome is unknown"), "{ended:?}");
    receives(&mut app, "agent/closed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_cancel_is_not_said_to_be_confirmed_when_somebody_else_has_cancelled() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let (running, call) = under_way(&gateway, &mut app, &["--grace", "1m"]).await;
    running.signal("-INT");
    let cancel = cancel_of(&mut app).await;
    let error =
        json!({ "code": "NOT_IMPLEMENTED", "message": "No cancels here", "retryable": false });
    let refusal = json!({ "cancelled": false, "error": error });
    confirms(&mut app, &cancel, refusal).await;
    let response = stopped(json!({ "success": false }), "dropped");
    returns(&mut app, &call, response).await;
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.out), (Some(130), ""));
    let said = "Not cancelled: No cancels here\n\
        Cancelled by the app, or by someone else through the gateway; the work has ended";
    assert!(ended.err.ends_with(said), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_signal_leaves_at_once() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let (mut running, _) = under_way(&gateway, &mut app, &["--json", "--grace", "10m"]).await;
    running.signal("-INT");
    cancel_of(&mut app).await;
    let left = Instant::now();
    // A second signal that comes at once counts as the first: see below.
    tokio::time::sleep(Duration::from_millis(700)).await;
    running.signal("-INT");
    running.says("its outcome is unknown").await;
    let ended = running.ended().await;
    // The command does not wait for the confirmation, which would take minutes.
    assert!(left.elapsed().as_secs() < 60);
    let document = ended.document();
    assert_eq!(ended.status, Some(1));
    assert_eq!(document["error"]["code"], "DISCONNECTED");
    assert!(document.get("cancelled").is_none() && document.get("confirmation").is_none());
    // The app is told that nobody waits for the call.
    receives(&mut app, "agent/closed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_that_a_parent_passes_on_is_the_same_signal() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let (running, call) = under_way(&gateway, &mut app, &[]).await;
    running.signal("-INT");
    let cancel = cancel_of(&mut app).await;
    running.signal("-INT");
    progresses(&mut app, &call, json!({ "progress": 1 })).await;
    confirms(&mut app, &cancel, json!({ "cancelled": true })).await;
    assert_eq!(running.ended().await.status, Some(130));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_the_call_is_made_there_is_nothing_to_confirm() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let running = Running::start(caphost(
        &gateway,
        &["call", "a.b", "--json", "--call-id", "c"],
    ));
    let hello = app.next().await;
    assert_eq!(hello["type"], "initialize");
    running.signal("-INT");
    let ended = running.ended().await;
    let expected = stopped(json!({ "callId": "c", "success": false }), "never-started");
    assert_eq!((ended.status, ended.document()), (Some(130), expected));
    assert_eq!(ended.err, "Cancelled before the call was made");
    assert_eq!(app.next().await["type"], "agent/closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_does_not_read_does_not_hold_it() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let (mut running, call) = under_way(&gateway, &mut app, &[]).await;
    // More than a pipe can hold.
    let data = json!({ "success": true, "data": "x".repeat(1 << 20) });
    returns(&mut app, &call, data).await;
    let out = running.child.stdout.take();
    // The first byte shows that the command has begun to write.
    let mut out = out.unwrap();
    assert_eq!(soon("output", out.read_u8()).await.unwrap(), b'"');
    running.signal("-INT");
    running
        .says("interrupted before the result was written")
        .await;
    let ended = running.ended().await;
    assert_eq!(ended.status, Some(1));
    drop(out);
}
