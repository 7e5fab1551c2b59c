//! Apps that lose their connection and come back to another worker.

use caphost_gateway::Identity;
use serde_json::json;

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
async fn one_that_comes_back_to_another_worker_is_told_so_and_resumes_with_its_own() {
    let redis = Redis::start();
    let ((one, two), mut app, mut agent) = app_and_agent(&redis).await;
    agent.send(call("1", "c1")).await;
    let calling = app.next().await;
    let (token, received) = app.cut(&one).await;
    let mut elsewhere = two.peer("/abp/app").await;
    elsewhere.send(resuming(&token, received)).await;
    let lost = elsewhere.next().await;
    assert_eq!(
        (&lost["type"], code(&lost)),
        (&json!("app/lost"), "SESSION_EXPIRED")
    );
    assert_eq!(elsewhere.closed().await, 1008);
    // Nothing has happened to the session.
    let (mut app, _) = App::resume(&one, (token, received)).await;
    app.complete(&calling).await;
    assert_eq!(agent.next().await["payload"]["data"], "c1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_whose_worker_has_gone_registers_afresh_at_another() {
    let redis = Redis::start();
    let ((mut one, two), mut app, mut agent) = app_and_agent(&redis).await;
    agent.send(call("1", "c1")).await;
    app.next().await;
    let (token, received) = app.cut(&one).await;
    one.stop();
    one.stopped().await;
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    let mut peer = two.peer("/abp/app").await;
    peer.send(resuming(&token, received)).await;
    assert_eq!(peer.next().await["type"], "app/lost");
    let mut fresh = two.peer("/abp/app").await;
    fresh
        .send(registering(json!({ "resume": true, "replaces": token })))
        .await;
    let mut app = App::registered(fresh).await;
    let mut agent = agent_on(&two, &mut app.peer).await;
    agent.call_through(&mut app.peer).await;
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
