//! Several workers on one Redis, which must be installed.

mod behind;
mod bounded_searches;
mod channel;
mod draining;
mod early;
mod failure;
mod gaps;
mod instances;
mod late_confirmations;
mod lost_workers;
mod many_apps;
mod proxy;
mod redis;
mod redis_cluster;
mod redis_tls;
mod roaming;
mod runs;
mod simulated;
mod unreadable;
mod versions;

use std::time::Duration;

use caphost_gateway::for_tests::{CancelNotice, Notice};
use caphost_gateway::{ClusterOptions, Config, Limits};
use serde_json::{Value, json};

use crate::request::Response;
use crate::support::*;
use redis::Redis;

/// How long a worker may be silent in these tests.
const LEASE: Duration = Duration::from_millis(900);

fn options(redis: &Redis) -> ClusterOptions {
    ClusterOptions {
        redis: Some(redis.url()),
        worker_lease: LEASE,
        ..ClusterOptions::default()
    }
}

fn part_of(redis: &Redis) -> Config {
    Config {
        cluster: options(redis),
        ..config()
    }
}

/// Two workers that know each other.
async fn pair(redis: &Redis) -> (Gateway, Gateway) {
    let one = Gateway::with(part_of(redis)).await;
    let two = Gateway::with(part_of(redis)).await;
    met(&[&one, &two]).await;
    (one, two)
}

/// The options of a worker that gives nobody up, even if Redis or the machine is slow.
fn patient(redis: &Redis, limits: Limits) -> Config {
    let mut config = part_of(redis);
    config.cluster.worker_lease = Duration::from_secs(60);
    config.cluster.redis_patience = Duration::from_secs(60);
    Config { limits, ..config }
}

/// Two workers that do not give each other up. The second has those limits.
async fn patient_pair(redis: &Redis, limits: Limits) -> (Gateway, Gateway) {
    let one = Gateway::with(patient(redis, Limits::default())).await;
    let two = Gateway::with(patient(redis, limits)).await;
    met(&[&one, &two]).await;
    (one, two)
}

/// Waits until all workers know each other.
async fn met(workers: &[&Gateway]) {
    for worker in workers {
        others(worker, workers.len() - 1).await;
    }
}

/// Waits until a worker knows `count` other workers through Redis.
async fn others(worker: &Gateway, count: usize) {
    let cluster = worker.hub.cluster().unwrap();
    until("the cluster", || {
        let standing = cluster.standing();
        standing.connected && standing.others == count
    })
    .await;
}

/// Waits until `is` returns true. This function checks again and again, because nothing signals the change.
async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let looking = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(what, looking).await;
}

/// An agent with a session on an app of any worker.
async fn agent_on(worker: &Gateway, app: &mut Peer) -> Peer {
    agent_as(worker, app, "/abp").await
}

async fn agent_as(worker: &Gateway, app: &mut Peer, path: &str) -> Peer {
    let mut offers = worker.hub.offer_changes(None);
    let offered = async {
        while worker.hub.apps().is_empty() {
            offers.changed().await.unwrap();
        }
    };
    soon("the app", offered).await;
    let mut agent = worker.peer(path).await;
    agent.initialize(app).await;
    agent
}

/// Makes a call and waits for it at the app. Returns the app's message.
async fn called(agent: &mut Peer, app: &mut Peer, call_id: &str) -> Value {
    agent.send(call(call_id, call_id)).await;
    let called = app.next().await;
    assert_eq!(called["type"], "capabilities/call", "{called}");
    called
}

/// The app answers a call.
async fn succeed(agent: &mut Peer, app: &mut Peer, called: &Value) {
    let payload = json!({ "success": true });
    let result = answer(called, "capabilities/call-result", payload);
    app.send(result).await;
    assert_eq!(agent.next().await["payload"]["success"], true);
}

/// As the app: confirms the cancel of a call.
async fn confirm(app: &mut Peer, called: &Value) -> Value {
    let asked = app.next().await;
    assert_eq!(asked["type"], "capabilities/cancel", "{asked}");
    let call_id = asked["payload"]["callId"].clone();
    let confirmed = json!({ "callId": call_id, "cancelled": true });
    app.send(answer(&asked, "capabilities/cancel-result", confirmed))
        .await;
    let ended = json!({ "success": false, "cancelled": true });
    app.send(answer(called, "capabilities/call-result", ended))
        .await;
    asked
}

async fn run_of(worker: &Gateway, id: &str) -> Response {
    worker.get(&format!("/api/runs/{id}"), "").await
}

/// The run with that id, which the worker must know.
async fn known(worker: &Gateway, id: &str) -> Value {
    let run = run_of(worker, id).await;
    assert_eq!(run.status, 200, "{}", run.body);
    run.json()
}

async fn cancel_by_api(worker: &Gateway, id: &str, reason: &str) -> Response {
    let body = json!({ "requestId": id, "reason": reason }).to_string();
    worker.post("/cancellation/cancel", "", &body).await
}

/// A notice that shows when all messages before it have come.
fn marker() -> Notice {
    Notice::Cancelled(CancelNotice {
        request_id: "marker".into(),
        reason: None,
        run: None,
    })
}
