//! Facts that all workers must know, while Redis is away or has lost them.

use std::time::Duration;

use caphost_gateway::{ClusterOptions, Config};
use redis::AsyncCommands;
use reqwest::Method;
use serde_json::{Value, json};

use super::mcp::{at, status};
use super::workers::{Redis, Workers};
use crate::mcp::app::{called, confirm_cancel, demo};
use crate::mcp::client::*;
use crate::rap_runtime::until;
use crate::rap_server::app::App;
use crate::rap_server::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

/// Two workers that give each other up after a short time.
async fn impatient() -> Workers {
    Workers::adjusted(|options| ClusterOptions {
        redis_patience: Duration::from_millis(300),
        worker_lease: Duration::from_millis(900),
        ..options
    })
    .await
}

fn is_connected(worker: &Gateway) -> bool {
    worker.hub.cluster().unwrap().standing().connected
}

fn others(worker: &Gateway) -> usize {
    worker.hub.cluster().unwrap().standing().others
}

/// Waits until a worker knows `count` other workers through Redis.
async fn knows(worker: &Gateway, count: usize) {
    until("the cluster", || {
        is_connected(worker) && others(worker) == count
    })
    .await;
}

async fn loses_redis(worker: &Gateway) {
    until("the loss", || !is_connected(worker)).await;
}

/// Keeps a worker away from Redis until the two workers have given each other up.
async fn shut_out_one(workers: &Workers) {
    let one = workers.one.hub.cluster().unwrap();
    let before = one.me();
    workers.redis.shut_out("one").await;
    until("another id", || one.me() != before).await;
    until("its end", || others(&workers.two) == 0).await;
}

/// A worker that starts later.
async fn third(redis: &Redis) -> Gateway {
    Gateway::with(Config {
        cluster: redis.options("three"),
        ..config()
    })
    .await
}

async fn end(client: &Client) {
    let ended = client.send(client.request(Method::DELETE)).await;
    assert_eq!(ended.status(), 204);
}

/// Waits until a request in the session gets that status. A worker may learn of the session a moment later.
async fn answered(client: &Client, expected: u16) {
    let asking = async {
        while status(client).await != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("the session's state", asking).await;
}

/// A call in flight has been cancelled because its session has ended.
async fn is_cancelled(app: &mut Peer, call: &Value, mut stream: Events) {
    let reason = confirm_cancel(app, call).await;
    assert_eq!(reason, "The session has ended");
    assert_eq!(stream.next().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ended_at_a_worker_that_is_cut_off_ends_at_all_when_that_is_back() {
    let workers = impatient().await;
    let mut app = demo(&workers.two).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp").await;
    let there = at(&client, &workers.two);
    let stream = there.call_tool(7, "echo").await;
    let call = called(&mut app).await;
    shut_out_one(&workers).await;
    end(&client).await;
    assert_eq!(status(&there).await, 200, "it is not known there yet");
    workers.redis.let_in("one").await;
    is_cancelled(&mut app, &call, stream).await;
    for gateway in [&workers.one, &workers.two, &third(&workers.redis).await] {
        assert_eq!(status(&at(&client, gateway)).await, 404);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_has_ended_meanwhile_ends_at_a_worker_that_was_cut_off() {
    let workers = impatient().await;
    let mut app = demo(&workers.one).await;
    let client = Client::open(&workers.one, "/mcp/demo").await;
    let stream = client.call_tool(7, "echo").await;
    let call = called(&mut app).await;
    let there = at(&client, &workers.two);
    assert_eq!(status(&there).await, 200);
    shut_out_one(&workers).await;
    end(&there).await;
    assert_eq!(status(&client).await, 200, "it is not known there yet");
    workers.redis.let_in("one").await;
    is_cancelled(&mut app, &call, stream).await;
    assert_eq!(status(&client).await, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_begins_and_ends_while_redis_restarts_has_begun_and_ended_everywhere() {
    let mut workers = Workers::start().await;
    let ended = Client::open(&workers.one, "/mcp").await;
    assert_eq!(status(&at(&ended, &workers.two)).await, 200);
    workers.redis.stop();
    loses_redis(&workers.one).await;
    end(&ended).await;
    let begun = Client::open(&workers.one, "/mcp").await;
    workers.redis.run().await;
    knows(&workers.one, 1).await;
    knows(&workers.two, 1).await;
    let three = third(&workers.redis).await;
    for gateway in [&workers.two, &three] {
        answered(&at(&begun, gateway), 200).await;
        answered(&at(&ended, gateway), 404).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_has_ended_does_not_come_back_when_redis_has_lost_that() {
    let Workers {
        mut one,
        two,
        mut redis,
    } = Workers::start().await;
    let client = Client::open(&one, "/mcp").await;
    let there = at(&client, &two);
    assert_eq!(status(&there).await, 200);
    end(&client).await;
    answered(&there, 404).await;
    one.stop();
    one.stopped().await;
    redis.stop();
    loses_redis(&two).await;
    redis.run().await;
    knows(&two, 0).await;
    let three = third(&redis).await;
    assert_eq!(status(&at(&client, &three)).await, 404);
    assert_eq!(status(&there).await, 404);
    // Redis has been told again that the session has ended.
    let mut connection = redis.connection().await;
    let kept: Vec<String> = connection.keys("{caphost}:mcp:*").await.unwrap();
    assert_eq!(kept.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_of_sessions_and_claims_that_redis_has_lost_are_told_again() {
    let Workers {
        mut one,
        two,
        redis,
    } = Workers::start().await;
    let app = App::start(&two, "demo").await;
    let receiver = Receiver::start().await;
    let held = invocation(&receiver.url("/ok"), "hold", "t", "1", json!({}));
    assert_eq!(Runtime::new(&two, "").post("/invoke", &held).await.0, 200);
    app.saw(1).await;
    let client = Client::open(&one, "/mcp").await;
    let taken_up = Client::open(&one, "/mcp").await;
    assert_eq!(status(&at(&taken_up, &two)).await, 200);

    let mut connection = redis.connection().await;
    let keys = async |connection: &mut redis::aio::MultiplexedConnection| {
        let claims: Vec<String> = connection.keys("{caphost}:rap:*").await.unwrap();
        let key: Option<Vec<u8>> = connection.get("{caphost}:session-key").await.unwrap();
        (claims, key)
    };
    let before = keys(&mut connection).await;
    assert_eq!((before.0.len(), before.1.is_some()), (1, true));
    redis::cmd("FLUSHALL")
        .exec_async(&mut connection)
        .await
        .unwrap();
    let told = async {
        while keys(&mut connection).await != before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("what was lost", told).await;
    let three = third(&redis).await;
    knows(&three, 2).await;
    assert_eq!(status(&at(&client, &three)).await, 200);
    // An invocation that is sent again is still the same call.
    until("the app", || three.hub.offer(Some("demo")).is_ok()).await;
    assert_eq!(Runtime::new(&three, "").post("/invoke", &held).await.0, 200);
    assert_eq!(app.seen(), ["call hold -"]);

    // The session does not need the worker where it began.
    one.stop();
    one.stopped().await;
    redis::cmd("FLUSHALL")
        .exec_async(&mut connection)
        .await
        .unwrap();
    answered(&at(&taken_up, &three), 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_cannot_be_told_is_answered_503() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.two).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp").await;
    let there = at(&client, &workers.two);
    let mut stream = there.call_tool(7, "echo").await;
    let call = called(&mut app).await;
    workers.redis.shut_out("one").await;
    loses_redis(&workers.one).await;
    let params = json!({ "requestId": 7, "reason": "enough" });
    let cancel = notification("notifications/cancelled", params);
    let refused = client.post(&cancel).await;
    assert_eq!(refused.status(), 503);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["error"]["data"]["retryable"], true);
    workers.redis.let_in("one").await;
    knows(&workers.one, 1).await;
    assert_eq!(client.post(&cancel).await.status(), 202);
    assert_eq!(confirm_cancel(&mut app, &call).await, "enough");
    assert_eq!(stream.next().await, None);
}
