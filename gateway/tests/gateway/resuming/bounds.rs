use std::time::Duration;

use caphost_gateway::Limits;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::*;

fn limits() -> Limits {
    Limits {
        queued_bytes: 20_000,
        ..grace(Duration::from_secs(3_600))
    }
}

fn large_call(id: &str) -> Value {
    let payload =
        json!({ "capability": "a.b", "params": "x".repeat(6_000), "options": { "callId": id } });
    request("capabilities/call", id, payload)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_a_suspended_app_is_bounded() {
    let gateway = Gateway::limited(limits()).await;
    let (app, mut agent) = App::with_agent(&gateway).await;
    let lost = app.cut(&gateway).await;
    agent.send(large_call("1")).await;
    agent.send(large_call("2")).await;
    agent.send(large_call("3")).await;
    let refused = agent.next().await;
    assert_eq!(
        (&refused["id"], code(&refused)),
        (&json!("3"), "RATE_LIMITED")
    );
    // After it has come back, the app accepts calls again.
    let (mut app, _) = App::resume(&gateway, lost).await;
    for id in ["1", "2"] {
        let calling = app.next().await;
        assert_eq!(calling["payload"]["options"]["callId"], id);
        app.complete(&calling).await;
        assert_eq!(agent.next().await["id"], id);
    }
    agent.send(large_call("4")).await;
    assert_eq!(app.next().await["payload"]["options"]["callId"], "4");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_app_for_which_too_much_waits_is_gone() {
    let gateway = Gateway::limited(limits()).await;
    let (app, mut agent) = App::with_agent(&gateway).await;
    let (token, received) = app.cut(&gateway).await;
    // Cancels are never refused, because they would relieve the app. If much waits, only short reasons are
    // sent.
    for number in 0..40 {
        let length = if number < 2 { 7_000 } else { 200 };
        let payload = json!({ "callId": "c", "reason": "x".repeat(length) });
        agent
            .send(request("capabilities/cancel", &number.to_string(), payload))
            .await;
    }
    let mut told = 0;
    // Cancels after the app's end are not answered.
    while let Some(Ok(Message::Text(text))) = agent.socket.next().await {
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&answer["id"], code(&answer)),
            (&json!(told.to_string()), "DISCONNECTED")
        );
        told += 1;
    }
    assert!((3..40).contains(&told), "{told}");
    let mut late = gateway.peer("/abp/app").await;
    late.send(resuming(&token, received)).await;
    assert_eq!(late.next().await["type"], "app/lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_acknowledges_too_little_goes_on_and_cannot_come_back() {
    let gateway = Gateway::limited(limits()).await;
    let (mut app, mut agent) = App::with_agent(&gateway).await;
    for id in ["1", "2", "3", "4"] {
        agent.send(large_call(id)).await;
        let calling = app.next().await;
        app.complete(&calling).await;
        assert_eq!(agent.next().await["payload"]["success"], true);
    }
    agent.send(call("5", "c")).await;
    app.next().await;
    drop(app);
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(gateway.hub.readings().sessions.lost, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_acknowledges_comes_back_whatever_it_was_sent() {
    let gateway = Gateway::limited(limits()).await;
    let (mut app, mut agent) = App::with_agent(&gateway).await;
    for id in ["1", "2", "3", "4"] {
        agent.send(large_call(id)).await;
        let calling = app.next().await;
        let ack = json!({ "type": "app/ack", "payload": { "received": app.received } });
        app.peer.send(ack).await;
        app.complete(&calling).await;
        assert_eq!(agent.next().await["payload"]["success"], true);
    }
    let lost = app.cut(&gateway).await;
    let (_app, heard) = App::resume(&gateway, lost).await;
    assert_eq!(heard, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_comes_back_where_no_other_finds_room() {
    let gateway = Gateway::limited(Limits {
        apps: 1,
        ..grace(Duration::from_secs(3_600))
    })
    .await;
    let lost = App::register(&gateway).await.cut(&gateway).await;
    App::resume(&gateway, lost).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_is_cut_off_and_registers_again_takes_no_second_place() {
    let gateway = Gateway::limited(Limits {
        apps: 2,
        ..grace(Duration::from_secs(3_600))
    })
    .await;
    let _other = App::register(&gateway).await;
    let mut lost = Vec::new();
    for _ in 0..5 {
        lost.push(App::register(&gateway).await.cut(&gateway).await);
    }
    let sessions = gateway.hub.readings().sessions;
    assert_eq!((sessions.suspended, sessions.lost), (1, 4));
    assert_eq!(gateway.hub.peers().1, 2);
    // The last app comes back and finds its place.
    let _app = App::resume(&gateway, lost.pop().unwrap()).await;
    assert_eq!(gateway.hub.readings().sessions.suspended, 0);
}
