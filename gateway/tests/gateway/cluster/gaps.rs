//! Messages between workers that are lost: what the workers had between them ends on both.

use super::simulated::{Simulated, app as app_of, hello};
use super::*;

/// A call from `agent` has ended, and nobody knows how.
async fn is_lost(agent: &mut Peer) {
    let told = agent.next().await;
    assert_eq!(code(&told), "DISCONNECTED", "{told}");
}

/// The app is told to cancel a call, or that its agent is gone.
async fn is_stopped(app: &mut Peer) {
    let told = app.next().await;
    let kind = told["type"].as_str().unwrap();
    assert!(
        matches!(kind, "capabilities/cancel" | "agent/closed"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_frame_ends_what_was_between_two_workers() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut other = Simulated::join(&redis, &gateway).await;
    other
        .send(&[(hello("other"), ""), (app_of(7, "theirs"), "")])
        .await;
    until("their app", || gateway.hub.offer(Some("theirs")).is_ok()).await;
    let mut agent = gateway.peer("/abp?app=theirs").await;
    agent.send(request("initialize", "i", json!({}))).await;
    let (to, text) = other.next_of("ToApp").await;
    let asked: Value = serde_json::from_str(&text).unwrap();
    let to_agent = json!({ "ToAgent": { "app": to["app"], "agent": to["agent"] } });
    let session = answer(&asked, "initialize-result", json!({ "sessionId": "s" }));
    other.send(&[(to_agent, &session.to_string())]).await;
    agent.next().await;
    agent.send(call("1", "c")).await;
    other.next_of("ToApp").await;
    // An agent of the other worker works with an app here.
    let mut ours = gateway.app("ours").await;
    let (offered, _) = other.next_of("App").await;
    let to_app = json!({ "ToApp": { "app": offered["app"], "agent": "a9" } });
    let hello = request("initialize", "i", json!({})).to_string();
    other.send(&[(to_app, &hello)]).await;
    let initialize = ours.next().await;
    ours.send(answer(
        &initialize,
        "initialize-result",
        json!({ "sessionId": "t" }),
    ))
    .await;

    other.lose();
    other.send(&[(app_of(8, "more"), "")]).await;
    is_lost(&mut agent).await;
    assert_eq!(ours.next().await["type"], "agent/closed");
    other.taken_for_dead().await;
    assert!(gateway.hub.offer(Some("theirs")).is_err());
    assert!(gateway.hub.offer(Some("more")).is_err());
    assert_eq!(known(&gateway, "c").await["state"], "unknown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_cannot_be_written_to_is_given_up_and_joins_again() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    called(&mut agent, &mut app, "before").await;
    let before = two.hub.cluster().unwrap().me();
    redis.cli(&["DEL", &format!("{{caphost}}:to:{before}")]);
    agent.send(call("lost", "lost")).await;
    is_lost(&mut agent).await;
    is_lost(&mut agent).await;
    is_stopped(&mut app).await;
    until("another id", || two.hub.cluster().unwrap().me() != before).await;
    met(&[&one, &two]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_connections_to_redis_end_what_was_between_the_workers_on_both() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    called(&mut agent, &mut app, "across").await;
    let mut near = agent_on(&two, &mut app).await;
    let within = called(&mut near, &mut app, "within").await;
    redis.cli(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    is_lost(&mut agent).await;
    assert_eq!(known(&one, "across").await["state"], "unknown");
    is_stopped(&mut app).await;
    // Calls within one worker continue.
    let payload = json!({ "success": true });
    app.send(answer(&within, "capabilities/call-result", payload))
        .await;
    assert_eq!(near.next().await["payload"]["success"], true);
    met(&[&one, &two]).await;
    until("the app", || one.hub.offer(Some("demo")).is_ok()).await;
}
