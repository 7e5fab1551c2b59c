//! The messages between workers. A simulated worker sends messages of this version or of a later one, as
//! during an update of the workers one by one.

use super::simulated::{Simulated, app, hello};
use super::*;

fn envelope(kind: &str, id: &str, payload: Value) -> String {
    request(kind, id, payload).to_string()
}

/// The answer of an app of the simulated worker to a message.
fn replied(to: &(Value, String), kind: &str, payload: Value) -> (Value, String) {
    let (fields, text) = to;
    let asked: Value = serde_json::from_str(text).unwrap();
    let message = json!({ "ToAgent": { "app": fields["app"], "agent": fields["agent"] } });
    (message, answer(&asked, kind, payload).to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_serve_each_other() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut old = Simulated::join(&redis, &gateway).await;
    old.send(&[(hello("old"), ""), (app(7, "theirs"), "")])
        .await;
    until("their app", || gateway.hub.offer(Some("theirs")).is_ok()).await;
    let mut agent = gateway.peer("/abp?app=theirs").await;
    agent.send(request("initialize", "i", json!({}))).await;
    let asked = old.next_of("ToApp").await;
    let (message, text) = replied(&asked, "initialize-result", json!({ "sessionId": "s" }));
    old.send(&[(message, &text)]).await;
    assert_eq!(agent.next().await["payload"]["sessionId"], "s");
    agent.send(call("1", "c")).await;
    let asked = old.next_of("ToApp").await;
    let (message, text) = replied(
        &asked,
        "capabilities/call-result",
        json!({ "success": true }),
    );
    old.send(&[(message, &text)]).await;
    assert_eq!(agent.next().await["payload"]["success"], true);

    // The same in the other direction.
    let mut ours = gateway.app("ours").await;
    let (offered, _) = old.next_of("App").await;
    assert_eq!(offered["offer"]["app"]["id"], "ours");
    let to_app = json!({ "ToApp": { "app": offered["app"], "agent": "a9" } });
    let text = envelope("initialize", "i", json!({}));
    old.send(&[(to_app, &text)]).await;
    let initialize = ours.next().await;
    let session = json!({ "sessionId": "t" });
    ours.send(answer(&initialize, "initialize-result", session))
        .await;
    let (to, text) = old.next_of("ToAgent").await;
    assert!(to["agent"] == "a9" && text.contains("\"t\""), "{to} {text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_a_later_version_is_passed_over_alone() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut new = Simulated::join(&redis, &gateway).await;
    let mut greeting = hello("new");
    greeting["Hello"]["version"] = json!(99);
    greeting["Hello"]["mood"] = json!("good");
    let later = json!({ "Tomorrow": { "app": 1 } });
    let told = json!({ "Tell": { "SomethingNew": {} } });
    new.send(&[
        (greeting, ""),
        (later, "text"),
        (json!("Yesterday"), ""),
        (told, ""),
        (app(7, "theirs"), ""),
    ])
    .await;
    until("their app", || gateway.hub.offer(Some("theirs")).is_ok()).await;
    let metrics = gateway.get("/metrics", "").await.body;
    let counted = "caphost_cluster_messages_unread_total 3";
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_told_as_the_app_is_now() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut other = Simulated::join(&redis, &gateway).await;
    other.send(&[(hello("new"), "")]).await;
    let mut app = gateway.app("ours").await;
    let (offered, _) = other.next_of("App").await;
    assert_eq!(offered["offer"]["capabilities"][0]["name"], "a.b");
    let added = json!({ "added": [{ "name": "c" }] });
    app.send(request("app/update", "u", added)).await;
    let (changed, _) = other.next_of("App").await;
    assert_eq!(changed["app"], offered["app"], "{changed}");
    let names = changed["offer"]["capabilities"].as_array().unwrap();
    let names: Vec<_> = names.iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["a.b", "c"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_taken_of_a_worker_that_has_said_goodbye() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut leaving = Simulated::join(&redis, &gateway).await;
    let (bye, app_of) = (json!("Bye"), |id| (app(7, id), ""));
    leaving
        .send(&[(hello("leaving"), ""), (bye, ""), app_of("ghost")])
        .await;
    others(&gateway, 0).await;
    let mut staying = Simulated::join(&redis, &gateway).await;
    staying
        .send(&[(hello("staying"), ""), app_of("sound")])
        .await;
    until("their app", || gateway.hub.offer(Some("sound")).is_ok()).await;
    assert!(gateway.hub.offer(Some("ghost")).is_err());
}
