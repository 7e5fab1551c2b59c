//! Apps that lose their connection and come back to another worker.

use caphost_gateway::Identity;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::*;
use crate::resuming::{App, registering, resuming};

/// A worker with an app, another worker, and an agent on the other worker.
async fn app_and_agent(redis: &Redis) -> ((Gateway, Gateway), App, Peer) {
    // No worker may be given up because the machine is slow.
    let (one, two) = patient_pair(redis, Limits::default()).await;
    let mut app = App::register(&one).await;
    let mut offers = two.hub.offer_changes(None);
    let offered = async {
        while two.hub.apps().is_empty() {
            offers.changed().await.unwrap();
        }
    };
    soon("the app", offered).await;
    let mut agent = two.agent().await;
    let hello = request("initialize", "init", json!({}));
    agent.send(hello).await;
    let initialize = app.next().await;
    let session = json!({ "sessionId": "s" });
    app.answer(&initialize, "initialize-result", session).await;
    assert_eq!(agent.next().await["payload"]["sessionId"], "s");
    ((one, two), app, agent)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_finished_without_a_connection_is_delivered_once_by_way_of_another_worker() {
    let redis = Redis::start();
    let ((one, two), mut app, mut agent) = app_and_agent(&redis).await;
    agent.send(call("before", "before")).await;
    let before = app.next().await;
    let lost = app.cut(&one).await;
    agent.send(call("meanwhile", "meanwhile")).await;

    let (mut app, heard) = App::resume(&two, lost).await;
    assert_eq!(heard, 1, "the answer to initialize");
    assert_eq!(one.hub.readings().sessions.suspended, 0);
    app.complete(&before).await;
    let done = agent.next().await;
    assert_eq!(
        (&done["id"], &done["payload"]["data"]),
        (&json!("before"), &json!("before"))
    );
    let meanwhile = app.next().await;
    assert_eq!(meanwhile["payload"]["options"]["callId"], "meanwhile");
    app.complete(&meanwhile).await;
    assert_eq!(agent.next().await["payload"]["data"], "meanwhile");

    // The app comes back again. The gateway knows the app's earlier messages by their count, so the app does
    // not repeat them.
    let lost = app.cut(&one).await;
    let (mut app, heard) = App::resume(&one, lost).await;
    assert_eq!(heard, 3);
    agent.send(call("after", "after")).await;
    let after = app.next().await;
    assert_eq!(after["payload"]["options"]["callId"], "after");
    app.complete(&after).await;
    assert_eq!(agent.next().await["payload"]["data"], "after");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_is_too_large_ends_its_call_by_way_of_another_worker() {
    let redis = Redis::start();
    let ((one, two), mut app, mut agent) = app_and_agent(&redis).await;
    agent.send(call("large", "large")).await;
    let calling = app.next().await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    let large = "x".repeat(two.hub.limits.message_bytes + (1 << 20));
    // The id is at the beginning of the message, and only the beginning is kept.
    let (id, agent_handle) = (&calling["id"], &calling["agent"]);
    app.peer
        .text(format!(
            r#"{{"type":"capabilities/call-result","id":{id},"agent":{agent_handle},"timestamp":6,
            "payload":{{"success":true,"data":"{large}"}}}}"#
        ))
        .await;
    let refused = agent.next().await;
    assert_eq!(refused["id"], "large");
    assert_eq!(code(&refused), "TRANSPORT_ERROR", "{refused}");
    // The session goes on.
    agent.send(call("next", "next")).await;
    let next = loop {
        let message = app.next().await;
        if message["type"] == "capabilities/call" {
            break message;
        }
    };
    app.complete(&next).await;
    assert_eq!(agent.next().await["payload"]["data"], "next");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_meets_the_app_wherever_it_is() {
    let redis = Redis::start();
    let ((one, two), mut app, mut agent) = app_and_agent(&redis).await;
    agent.send(call("1", "c1")).await;
    let calling = app.next().await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    let cancel = json!({ "callId": "c1", "reason": "enough" });
    agent
        .send(request("capabilities/cancel", "2", cancel))
        .await;
    let asked = app.next().await;
    assert_eq!(asked["payload"]["reason"], "enough");
    let confirmed = json!({ "callId": "c1", "cancelled": true });
    app.answer(&asked, "capabilities/cancel-result", confirmed)
        .await;
    let ended = json!({ "success": false, "cancelled": true });
    app.answer(&calling, "capabilities/call-result", ended)
        .await;
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    let response = agent.next().await;
    assert_eq!(
        (&response["id"], &response["payload"]["cancelled"]),
        (&json!("1"), &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binary_frame_is_refused_by_the_session_and_counts_as_at_home() {
    let redis = Redis::start();
    let ((one, two), app, mut agent) = app_and_agent(&redis).await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    let binary = Message::binary(vec![1, 2, 3]);
    futures_util::SinkExt::send(&mut app.peer.socket, binary)
        .await
        .unwrap();
    let refused = app.next().await;
    assert_eq!(
        (&refused["type"], code(&refused)),
        (&json!("error"), "INVALID_PARAMS")
    );
    assert_eq!(refused["payload"]["error"]["details"]["bytes"], 3);
    // The number of received messages matches the sent messages.
    let ack = json!({ "received": app.received });
    let ack = json!({ "type": "app/ack", "timestamp": 1, "payload": ack });
    app.peer.send(ack).await;
    agent.send(call("after", "after")).await;
    let after = app.next().await;
    assert_eq!(after["type"], "capabilities/call", "{after}");
    app.complete(&after).await;
    assert_eq!(agent.next().await["payload"]["data"], "after");
    let (_app, heard) = App::resume(&one, app.cut(&one).await).await;
    assert_eq!(heard, 2, "the answers to initialize and to the call");
}

/// The same limit as on the app's own worker: a hundred at once, and then ten per second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_app_offers_changes_no_faster_by_way_of_another_worker() {
    let redis = Redis::start();
    let ((one, two), app, _agent) = app_and_agent(&redis).await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    let began = std::time::Instant::now();
    for number in 0..115 {
        let capabilities = json!([{ "name": format!("n{number}") }]);
        let update = json!({ "capabilities": capabilities });
        app.peer.send(request("app/update", "u", update)).await;
    }
    let offered = || Some(one.hub.offer(None).ok()?.capabilities[0].name.clone());
    until("the last change", || offered().as_deref() == Some("n114")).await;
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(1_300), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_closes_its_connection_there_is_gone_at_once() {
    let redis = Redis::start();
    let ((one, two), app, mut agent) = app_and_agent(&redis).await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    agent.send(call("1", "c1")).await;
    app.next().await;
    app.peer.socket.close(None).await.unwrap();
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(one.hub.readings().sessions.suspended, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_whose_session_is_over_is_closed_and_may_register_on_another_connection() {
    let redis = Redis::start();
    let ((one, two), app, _agent) = app_and_agent(&redis).await;
    let (prefix, _) = app.token.split_once('.').unwrap();
    let forged = format!("{prefix}.not-a-session");
    let mut peer = two.peer("/abp/app").await;
    peer.send(resuming(&forged, 0)).await;
    let lost = peer.next().await;
    assert_eq!(
        (&lost["type"], code(&lost)),
        (&json!("app/lost"), "SESSION_EXPIRED")
    );
    assert_eq!(peer.closed().await, 1008, "one wrong token, and no more");
    let _other = two.app("other").await;
    let both = || one.hub.apps().len() == 2;
    until("both apps", both).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_whose_worker_has_gone_is_closed_and_may_come_back() {
    let redis = Redis::start();
    let ((one, two), app, mut agent) = app_and_agent(&redis).await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    agent.send(call("1", "c1")).await;
    app.next().await;
    drop(one);
    let asked = app.next().await;
    assert_eq!(
        asked["payload"]["reason"], "The gateway is shutting down",
        "it asks first: {asked}"
    );
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    app.closed().await;
    // Until this worker has heard that the other is gone, it may tell the app to try again.
    let mut answer = None;
    for _ in 0..100 {
        let mut peer = two.peer("/abp/app").await;
        peer.send(resuming(&app.token, app.received)).await;
        if let Some(Ok(Message::Text(text))) = peer.socket.next().await {
            answer = serde_json::from_str::<Value>(&text).ok();
            break;
        }
    }
    assert_eq!(answer.unwrap()["type"], "app/lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_registers_afresh_at_another_worker_ends_its_session_at_once() {
    for is_lost in [false, true] {
        let redis = Redis::start();
        let ((one, two), mut app, mut agent) = app_and_agent(&redis).await;
        agent.send(call("1", "c1")).await;
        app.next().await;
        let replaces = json!({ "resume": true, "replaces": app.token });
        let before = match is_lost {
            true => {
                app.cut(&one).await;
                None
            }
            false => Some(app),
        };
        let mut fresh = two.peer("/abp/app").await;
        fresh.send(registering(replaces)).await;
        let _fresh = App::registered(fresh).await;
        assert_eq!(code(&agent.next().await), "DISCONNECTED");
        assert_eq!(known(&two, "c1").await["state"], "unknown");
        if let Some(mut before) = before {
            assert_eq!(before.closed().await, 4002);
        }
        let is_alone = || {
            let apps = one.hub.connected_apps(&Identity::anyone());
            matches!(&apps[..], [app] if app.instances.len() == 1)
        };
        until("its only instance", is_alone).await;
        assert_eq!(one.hub.readings().sessions.suspended, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_whose_connection_was_at_a_worker_that_stops_goes_on_at_another() {
    let redis = Redis::start();
    let ((one, two), app, mut agent) = app_and_agent(&redis).await;
    let mut three = Gateway::with(patient(&redis, Limits::default())).await;
    met(&[&one, &two, &three]).await;
    let (mut app, _) = App::resume(&three, app.cut(&one).await).await;
    agent.send(call("1", "c1")).await;
    let calling = app.next().await;
    three.stop();
    // There is no close frame, because the session does not end.
    let broken = soon("the end of the connection", app.peer.socket.next()).await;
    assert!(matches!(broken, None | Some(Err(_))), "{broken:?}");
    let lost = app.cut(&one).await;
    three.stopped().await;
    let (mut app, _) = App::resume(&two, lost).await;
    app.complete(&calling).await;
    assert_eq!(agent.next().await["payload"]["data"], "c1");
}
