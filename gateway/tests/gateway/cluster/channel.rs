use caphost_gateway::{CancellationOptions, Config, Tokens};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::*;

const CHANNEL: &str = "cancellation:cancel";

fn publish(redis: &Redis, message: &str) {
    redis.cli(&["PUBLISH", CHANNEL, message]);
}

/// Two workers with tokens, and an app on the first.
async fn owned(redis: &Redis) -> (Gateway, Gateway, Peer) {
    let owned = || {
        let tokens = ["app=p", "agent=a", "agent=b", "admin=r", "agent@desk=d"];
        Config {
            tokens: Tokens::new(tokens.map(|token| token.parse().unwrap()).into()),
            ..part_of(redis)
        }
    };
    let one = Gateway::with(owned()).await;
    let two = Gateway::with(owned()).await;
    met(&[&one, &two]).await;
    let mut app = one.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    app.next().await;
    (one, two, app)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_without_a_requester_cancels_the_only_run_with_its_id() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "first").await;
    let run_id = known(&two, "first").await["runId"].clone();
    publish(
        &redis,
        &json!({ "run_id": run_id, "reason": "foreign" }).to_string(),
    );
    let asked = confirm(&mut app, &running).await;
    assert_eq!(
        asked["payload"],
        json!({ "callId": "first", "reason": "foreign" })
    );
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    assert_eq!(known(&one, "first").await["state"], "cancelled");

    let running = called(&mut agent, &mut app, "second").await;
    publish(&redis, r#"{"run_id":"second","reason":null}"#);
    let asked = confirm(&mut app, &running).await;
    assert_eq!(asked["payload"], json!({ "callId": "second" }));
    agent.next().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_requester_cancels_what_it_may_see() {
    let redis = Redis::start();
    let (_one, two, mut app) = owned(&redis).await;
    let mut agent = agent_as(&two, &mut app, "/abp?token=a").await;
    let running = called(&mut agent, &mut app, "c").await;
    let whose = |requester: Value| {
        let reason = requester.to_string();
        json!({ "run_id": "c", "reason": reason, "requester": requester }).to_string()
    };
    for other in [
        json!("agent-2"),
        json!("agent-4"),
        json!("admin-1"),
        json!("anyone"),
        json!("nobody"),
        json!(""),
        json!(null),
        json!(["admin-3"]),
    ] {
        publish(&redis, &whose(other));
    }
    publish(&redis, "no JSON");
    publish(&redis, &whose(json!("agent-1")));
    // The messages are read one after another. The first one that is obeyed is its owner's own.
    let asked = confirm(&mut app, &running).await;
    assert_eq!(asked["payload"]["reason"], r#""agent-1""#);
    agent.next().await;
    let running = called(&mut agent, &mut app, "d").await;
    publish(&redis, r#"{"run_id":"d","requester":"admin-3"}"#);
    confirm(&mut app, &running).await;
    agent.next().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_of_several_runs_or_of_none_cancels_nothing() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    let mut other = agent_on(&two, &mut app).await;
    let here = called(&mut agent, &mut app, "same").await;
    called(&mut other, &mut app, "same").await;
    publish(&redis, r#"{"run_id":"same","reason":"which"}"#);
    publish(&redis, r#"{"run_id":"later","reason":"unknown"}"#);
    let running = called(&mut agent, &mut app, "only").await;
    publish(&redis, r#"{"run_id":"only","reason":"this"}"#);
    let asked = confirm(&mut app, &running).await;
    assert_eq!(asked["payload"]["callId"], "only");
    agent.next().await;
    // A cancel of an unknown id is not kept.
    let later = called(&mut agent, &mut app, "later").await;
    succeed(&mut agent, &mut app, &later).await;
    succeed(&mut agent, &mut app, &here).await;
    assert_eq!(known(&one, "same").await["state"], "running");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_requester_may_be_required() {
    let redis = Redis::start();
    let mut strict = part_of(&redis);
    strict.cluster.require_requester = Some(true);
    let worker = Gateway::with(strict).await;
    others(&worker, 0).await;
    let mut app = worker.app("demo").await;
    let mut agent = agent_on(&worker, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    publish(&redis, r#"{"run_id":"c","reason":"from nobody"}"#);
    publish(
        &redis,
        r#"{"run_id":"c","reason":"from somebody","requester":"anyone"}"#,
    );
    let asked = confirm(&mut app, &running).await;
    assert_eq!(asked["payload"]["reason"], "from somebody");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_from_nobody_does_not_reach_a_strangers_run_where_there_are_tokens() {
    let redis = Redis::start();
    let (one, _two, mut app) = owned(&redis).await;
    let mut agent = agent_as(&one, &mut app, "/abp?token=a").await;
    let running = called(&mut agent, &mut app, "common").await;
    publish(&redis, r#"{"run_id":"common","reason":"from nobody"}"#);
    publish(
        &redis,
        r#"{"run_id":"common","reason":"from its owner","requester":"agent-1"}"#,
    );
    let asked = confirm(&mut app, &running).await;
    assert_eq!(asked["payload"]["reason"], "from its owner");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancels_through_the_apis_are_published_and_obeyed_once() {
    let redis = Redis::start();
    let (one, two, mut app) = owned(&redis).await;
    let client = ::redis::Client::open(redis.url()).unwrap();
    let mut listening = client.get_async_pubsub().await.unwrap();
    listening.subscribe(CHANNEL).await.unwrap();
    let mut heard = listening.into_on_message();
    let mut agent = agent_as(&two, &mut app, "/abp?token=a").await;

    let running = called(&mut agent, &mut app, "c").await;
    let (r, a) = (crate::request::bearer("r"), crate::request::bearer("a"));
    let body = r#"{"requestId":"c","reason":"enough"}"#;
    let cancelling = one.post("/cancellation/cancel", &r, body);
    let (cancelled, _) = tokio::join!(cancelling, confirm(&mut app, &running));
    assert_eq!(cancelled.json()["status"], "cancelled");
    agent.next().await;
    let running = called(&mut agent, &mut app, "d").await;
    let cancelling = one.post("/api/runs/d/cancel", &a, "");
    let (cancelled, _) = tokio::join!(cancelling, confirm(&mut app, &running));
    assert_eq!(cancelled.json()["cancelled"], true);
    let run = cancelled.json()["runId"].clone();
    agent.next().await;
    let body = r#"{"requestId":"soon","reason":null}"#;
    assert_eq!(two.post("/cancellation/cancel", &r, body).await.status, 200);

    let mut workers = Vec::new();
    for (id, reason, requester) in [
        (json!("c"), json!("enough"), "admin-3"),
        (run, json!(null), "agent-1"),
        (json!("soon"), json!(null), "admin-3"),
    ] {
        let message = soon("the message", heard.next()).await.unwrap();
        let mut message: Value = serde_json::from_slice(message.get_payload_bytes()).unwrap();
        workers.push(message["worker"].take());
        let expected =
            json!({ "run_id": id, "reason": reason, "requester": requester, "worker": null });
        assert_eq!(message, expected);
    }
    assert!(workers[0] == workers[1] && workers[1] != workers[2]);
    // The app was not asked to cancel twice.
    let next = called(&mut agent, &mut app, "e").await;
    succeed(&mut agent, &mut app, &next).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_cancellation_api_the_channel_cancels_nothing_and_hears_nothing() {
    let redis = Redis::start();
    let off = Config {
        cancellation: CancellationOptions { enabled: false },
        ..part_of(&redis)
    };
    let (one, two) = (
        Gateway::with(off).await,
        Gateway::with(part_of(&redis)).await,
    );
    met(&[&one, &two]).await;
    let client = ::redis::Client::open(redis.url()).unwrap();
    let mut heard = client.get_async_pubsub().await.unwrap();
    heard.subscribe(CHANNEL).await.unwrap();
    let mut heard = heard.into_on_message();
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    let mut other = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "off").await;
    let there = called(&mut other, &mut app, "on").await;
    // The worker with the API has obeyed the later message.
    for id in ["off", "on"] {
        publish(&redis, &json!({ "run_id": id, "reason": null }).to_string());
        soon("the message", heard.next()).await.unwrap();
    }
    confirm(&mut app, &there).await;
    assert_eq!(known(&one, "off").await["state"], "running");
    // The runs API cancels the run and does not publish the cancel: the next message on the channel is
    // another one.
    let (cancelled, _) = tokio::join!(
        one.post("/api/runs/off/cancel", "", ""),
        confirm(&mut app, &running)
    );
    assert_eq!(cancelled.json()["cancelled"], true);
    publish(&redis, r#"{"run_id":"marker","reason":null}"#);
    let next = soon("the message", heard.next()).await.unwrap();
    let next: Value = serde_json::from_slice(next.get_payload_bytes()).unwrap();
    assert_eq!(next["run_id"], "marker");
}
