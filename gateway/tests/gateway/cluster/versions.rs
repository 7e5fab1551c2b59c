//! Workers of two versions in one cluster, as while they are replaced one by one.

use super::simulated::{Simulated, app, hello, kind_of};
use super::*;
use crate::resuming;

/// All that the first version knows.
const FIRST: [&str; 18] = [
    "Hello",
    "App",
    "AppGone",
    "ToApp",
    "AgentGone",
    "ToAgent",
    "AgentLost",
    "TakeUp",
    "NotTakenUp",
    "FromConnection",
    "ToConnection",
    "ConnectionOver",
    "CloseConnection",
    "Ask",
    "Answer",
    "Tell",
    "Stopping",
    "Bye",
];

fn envelope(kind: &str, id: &str, payload: Value) -> String {
    request(kind, id, payload).to_string()
}

/// What an app of the simulated worker answers to what it was sent.
fn replied(to: &(Value, String), kind: &str, payload: Value) -> (Value, String) {
    let (fields, text) = to;
    let asked: Value = serde_json::from_str(text).unwrap();
    let message = json!({ "ToAgent": { "app": fields["app"], "agent": fields["agent"] } });
    (message, answer(&asked, kind, payload).to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_of_the_first_version_and_one_of_this_serve_each_other() {
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

    // And the other way round.
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
async fn a_worker_of_the_first_version_is_told_nothing_it_does_not_know() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut old = Simulated::join(&redis, &gateway).await;
    old.send(&[(hello("old"), "")]).await;
    let taken = |gateway: &Gateway| gateway.hub.workers().unwrap().standing().others;
    assert_eq!(taken(&gateway), 1);
    old.next_of("Hello").await;

    // An app whose session it holds comes to the other worker.
    let mut peer = gateway.peer("/abp/app").await;
    peer.send(resuming::resuming("old.secret", 0)).await;
    let (asked, _) = old.next_of("TakeUp").await;
    let tunnel = asked["tunnel"].clone();
    let said = |text: &str| {
        let message = json!({ "ToConnection": { "tunnel": tunnel } });
        (message, text.to_string())
    };
    let (message, resumed) = said(&envelope("app/resumed", "x", json!({ "received": 0 })));
    let (again, large) = said(&envelope(
        "notification",
        "n",
        json!({ "x": "x".repeat(300_000) }),
    ));
    old.send(&[(message, &resumed), (again, &large)]).await;
    assert_eq!(peer.next().await["type"], "app/resumed");
    assert_eq!(peer.next().await["type"], "notification");
    peer.send(request("progress", "p", json!({}))).await;
    // What would be said of what was written has been said by now.
    tokio::time::sleep(Duration::from_millis(300)).await;
    peer.send(request("progress", "q", json!({}))).await;
    let mut heard = 0;
    while heard < 2 {
        let (message, _) = old.next().await;
        let kind = kind_of(&message);
        assert!(FIRST.contains(&&*kind), "{message}");
        heard += usize::from(kind == "FromConnection");
    }
    assert!(old.unread().iter().all(|kind| FIRST.contains(&&**kind)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_never_says_what_it_has_written_is_not_waited_for() {
    let redis = Redis::start();
    let mut config = part_of(&redis);
    config.limits.queued_bytes = 200_000;
    let gateway = Gateway::with(config).await;
    others(&gateway, 0).await;
    let (app, mut agent) = resuming::App::with_agent(&gateway).await;
    let (token, received) = app.cut(&gateway).await;
    let mut old = Simulated::join(&redis, &gateway).await;
    let by = serde_json::to_value(caphost_gateway::Identity::anyone()).unwrap();
    let take_up = json!({ "TakeUp": {
        "tunnel": 3, "token": token, "received": received, "id": "\"x\"", "by": by,
    } });
    old.send(&[(hello("old"), ""), (take_up, "")]).await;
    let (_, resumed) = old.next_of("ToConnection").await;
    assert!(resumed.contains("app/resumed"), "{resumed}");
    for number in 0..20 {
        let id = number.to_string();
        let options = json!({ "callId": id });
        let payload =
            json!({ "capability": "a.b", "params": "x".repeat(30_000), "options": options });
        agent.send(request("capabilities/call", &id, payload)).await;
        let calling = loop {
            let (_, text) = old.next_of("ToConnection").await;
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] != "app/ack" {
                break message;
            }
        };
        assert_eq!(calling["type"], "capabilities/call");
        let said = answer(
            &calling,
            "capabilities/call-result",
            json!({ "success": true }),
        );
        let received = received + number + 1;
        let ack = json!({ "type": "app/ack", "timestamp": 1, "payload": { "received": received } });
        let from = json!({ "FromConnection": { "tunnel": 3 } });
        old.send(&[(from.clone(), &ack.to_string()), (from, &said.to_string())])
            .await;
        assert_eq!(agent.next().await["payload"]["success"], true);
    }
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

/// A greeting of the version that has brought differences.
fn hello_of_the_third(sessions: &str) -> Value {
    let mut greeting = hello(sessions);
    greeting["Hello"]["version"] = json!(3);
    greeting
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_told_as_a_difference_to_those_that_understand_it() {
    for (home, understands) in [("old", false), ("new", true)] {
        let redis = Redis::start();
        let gateway = Gateway::with(part_of(&redis)).await;
        others(&gateway, 0).await;
        let mut other = Simulated::join(&redis, &gateway).await;
        let greeting = match understands {
            true => hello_of_the_third(home),
            false => hello(home),
        };
        other.send(&[(greeting, "")]).await;
        let workers = gateway.hub.workers().unwrap();
        until("the greeting", || workers.at_home(home).is_some()).await;
        let mut app = gateway.app("ours").await;
        let (offered, _) = other.next_of("App").await;
        assert_eq!(offered["offer"]["capabilities"][0]["name"], "a.b");
        app.send(request(
            "app/update",
            "u",
            json!({ "added": [{ "name": "c" }] }),
        ))
        .await;
        let (changed, _) = other.next().await;
        match understands {
            true => {
                let told = &changed["AppChanged"];
                assert_eq!(told["app"], offered["app"], "{changed}");
                assert_eq!(told["added"], json!([{ "name": "c" }]));
                assert_eq!(told["removed"], json!([]));
                // It may ask for all.
                let again = json!({ "TellApp": { "app": offered["app"] } });
                other.send(&[(again, "")]).await;
                let (all, _) = other.next_of("App").await;
                assert_eq!(all["offer"]["capabilities"][1]["name"], "c");
            }
            false => assert_eq!(changed["App"]["offer"]["capabilities"][1]["name"], "c"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_that_does_not_fit_is_asked_for_whole() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut other = Simulated::join(&redis, &gateway).await;
    let changed = |app: u64, added: &str, removed: &[&str]| {
        let added = [json!({ "name": added })];
        json!({ "AppChanged": { "app": app, "added": added, "removed": removed } })
    };
    let names = |gateway: &Gateway| {
        let offer = gateway.hub.offer(Some("theirs")).unwrap();
        let names = offer.capabilities.iter().map(|it| it.name.clone());
        names.collect::<Vec<_>>().join(" ")
    };
    other
        .send(&[
            (hello_of_the_third("new"), ""),
            (app(7, "theirs"), ""),
            (changed(7, "c", &["a.b"]), ""),
        ])
        .await;
    until("the change", || {
        gateway.hub.offer(Some("theirs")).is_ok() && names(&gateway) == "c"
    })
    .await;
    other.send(&[(changed(7, "d", &["none"]), "")]).await;
    assert_eq!(other.next_of("TellApp").await.0["app"], 7);
    assert_eq!(names(&gateway), "c");
    other.send(&[(changed(8, "d", &[]), "")]).await;
    assert_eq!(other.next_of("TellApp").await.0["app"], 8);
    other.send(&[(app(7, "theirs"), "")]).await;
    until("all of it", || names(&gateway) == "a.b").await;
}
