use std::time::Duration;

use caphost_gateway::{Config, Limits, Tokens};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_and_answered_meanwhile_arrives_once() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = App::with_agent(&gateway).await;
    agent.send(call("1", "before")).await;
    let before = app.next().await;
    let lost = app.cut(&gateway).await;
    agent.send(call("2", "meanwhile")).await;
    let mut newcomer = gateway.agent().await;
    newcomer.send(request("initialize", "n", json!({}))).await;
    until("both requests", || gateway.hub.readings().in_flight == 3).await;
    let (mut app, heard) = App::resume(&gateway, lost).await;
    assert_eq!(heard, 1, "the answer to `initialize`");
    app.complete(&before).await;
    let meanwhile = app.next().await;
    assert_eq!(meanwhile["payload"]["options"]["callId"], "meanwhile");
    app.complete(&meanwhile).await;
    let initialize = app.next().await;
    app.answer(
        &initialize,
        "initialize-result",
        json!({ "sessionId": "n" }),
    )
    .await;
    for data in ["before", "meanwhile"] {
        assert_eq!(agent.next().await["payload"]["data"], data);
    }
    assert_eq!(newcomer.next().await["payload"]["sessionId"], "n");
    assert_eq!(
        (gateway.hub.readings().in_flight, gateway.hub.peers()),
        (0, (2, 1))
    );
    let sessions = gateway.hub.readings().sessions;
    assert_eq!(
        (sessions.suspended, sessions.resumed, sessions.lost),
        (0, 1, 0)
    );
    let metrics = gateway.hub.metrics.render(gateway.hub.readings());
    assert!(
        metrics.contains("\ncaphost_apps_resumed_total 1\n"),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_app_had_not_received_is_sent_again_and_what_the_gateway_has_is_not_asked_for() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = App::with_agent(&gateway).await;
    agent.send(call("1", "heard")).await;
    let heard = app.next().await;
    app.complete(&heard).await;
    assert_eq!(agent.next().await["id"], "1");
    agent.send(call("2", "unheard")).await;
    let unheard = app.next().await;
    // The message was written to the app and lost on the way.
    app.received -= 1;
    let lost = app.cut(&gateway).await;
    let (mut app, count) = App::resume(&gateway, lost).await;
    assert_eq!(count, 2, "both answers");
    assert_eq!(app.next().await, unheard);
    app.complete(&unheard).await;
    assert_eq!(agent.next().await["payload"]["data"], "unheard");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_resumed_as_often_as_it_is_lost() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = App::with_agent(&gateway).await;
    for number in 1..=5 {
        agent.send(call("1", "c")).await;
        let lost = app.cut(&gateway).await;
        let heard;
        (app, heard) = App::resume(&gateway, lost).await;
        assert_eq!(heard, number);
        let calling = app.next().await;
        app.complete(&calling).await;
        assert_eq!(agent.next().await["payload"]["success"], true);
    }
    assert_eq!(gateway.hub.readings().sessions.resumed, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_still_seems_to_live_gives_way() {
    let gateway = Gateway::start().await;
    let (mut before, mut agent) = App::with_agent(&gateway).await;
    agent.send(call("1", "c")).await;
    let calling = before.next().await;
    let (mut app, heard) = App::resume(&gateway, (before.token.clone(), before.received)).await;
    assert_eq!(heard, 1);
    // Further messages of the old connection do not count.
    let stale = answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": false }),
    );
    let stale = Message::text(stale.to_string());
    let _ = before.peer.socket.send(stale).await;
    assert_eq!(before.closed().await, 4002);
    assert!(before.peer.socket.next().await.is_none());
    app.complete(&calling).await;
    assert_eq!(agent.next().await["payload"]["data"], "c");
    let sessions = gateway.hub.readings().sessions;
    assert_eq!((sessions.resumed, sessions.lost), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_is_silent_comes_back() {
    let gateway = Gateway::limited(Limits {
        ping_interval: Duration::from_millis(100),
        dead_peer_timeout: Duration::from_millis(500),
        close_timeout: Duration::from_millis(200),
        app_grace: Duration::from_secs(3_600),
        ..Limits::default()
    })
    .await;
    let (app, agent) = App::with_agent(&gateway).await;
    // The agent answers pings. Nothing reads the app's connection.
    let agent = tokio::spawn(async move {
        let mut agent = agent;
        agent.next().await
    });
    until("the silence", || {
        gateway.hub.readings().sessions.suspended == 1
    })
    .await;
    let (mut back, _) = App::resume(&gateway, (app.token.clone(), app.received)).await;
    let mut other = gateway.agent().await;
    other.send(request("initialize", "o", json!({}))).await;
    assert_eq!(back.next().await["type"], "initialize");
    drop((app, other));
    assert_eq!(back.next().await["type"], "agent/closed");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_asked_for_meanwhile_is_answered_by_the_app() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = App::with_agent(&gateway).await;
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    let lost = app.cut(&gateway).await;
    agent.send(cancel("2", "c")).await;
    let (mut app, _) = App::resume(&gateway, lost).await;
    let cancelling = app.next().await;
    assert_eq!(cancelling["payload"]["callId"], "c");
    // The call was finished before the cancel arrived.
    app.complete(&calling).await;
    let too_late =
        json!({ "callId": "c", "cancelled": false, "reason": "Operation already completed" });
    app.answer(&cancelling, "capabilities/cancel-result", too_late)
        .await;
    assert_eq!(agent.next().await["payload"]["success"], true);
    let answered = agent.next().await;
    assert_eq!(answered["payload"]["reason"], "Operation already completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_are_told_what_has_arrived() {
    let gateway = Gateway::start().await;
    let (mut app, _agent) = App::with_agent(&gateway).await;
    // The acknowledgement comes a little later.
    let told = app.peer.next().await;
    assert_eq!(
        (&told["type"], &told["payload"]),
        (&json!("app/ack"), &json!({ "received": 1 }))
    );
    // The acknowledgement comes at once.
    for _ in 0..64 {
        let stray = json!({ "type": "progress", "agent": "nobody", "payload": {} });
        app.peer.send(stray).await;
    }
    while app.peer.next().await["payload"]["received"] != 65 {}
    let too_much = json!({ "type": "app/ack", "payload": { "received": 2 } });
    app.peer.send(too_much).await;
    let refused = app.next().await;
    assert_eq!(
        (&refused["type"], code(&refused)),
        (&json!("error"), "INVALID_PARAMS")
    );
    // The refusal itself counts as a message.
    let right = json!({ "type": "app/ack", "payload": { "received": app.received } });
    app.peer.send(right).await;
    let lost = app.cut(&gateway).await;
    assert_eq!(App::resume(&gateway, lost).await.1, 65);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_resume_an_app_shows_a_token_if_tokens_are_used() {
    let tokens = ["app@demo=right", "app@other=wrong", "agent=agent"];
    let tokens = tokens.iter().map(|it| it.parse().unwrap()).collect();
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens),
        ..config()
    })
    .await;
    let mut peer = gateway.peer("/abp/app").await;
    let shown = json!({ "resume": true, "token": "right" });
    peer.send(registering(shown)).await;
    let (token, _) = App::registered(peer).await.cut(&gateway).await;
    for shown in [None, Some("agent"), Some("wrong")] {
        let mut peer = gateway.peer("/abp/app").await;
        let mut message = resuming(&token, 0);
        message["payload"]["token"] = json!(shown);
        peer.send(message).await;
        let lost = peer.next().await;
        assert_eq!(
            (&lost["type"], code(&lost)),
            (&json!("app/lost"), "SESSION_EXPIRED")
        );
    }
    let mut peer = gateway.peer("/abp/app").await;
    let mut message = resuming(&token, 0);
    message["payload"]["token"] = json!("right");
    peer.send(message).await;
    assert_eq!(peer.next().await["type"], "app/resumed");
}
