//! Apps that are reached through another worker, and receive or send more than there is room for.

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::Message;

use super::proxy::Proxy;
use super::*;
use crate::resuming::next_of_session;

fn large_call(id: &str, bytes: usize) -> Value {
    let params = "x".repeat(bytes);
    let payload = json!({ "capability": "a.b", "params": params, "options": { "callId": id } });
    request("capabilities/call", id, payload)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_of_another_worker_for_which_too_much_waits_does_not_become_invisible() {
    let redis = Redis::start();
    let limits = Limits {
        queued_bytes: 1 << 20,
        ..Limits::default()
    };
    let (one, two) = patient_pair(&redis, limits).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    redis.signal("-STOP");
    // Cancels are never refused, because they would relieve the app.
    let cancels = (0..40).flat_map(|round| (0..200).map(move |number| (round, number)));
    let (mut sending, mut receiving) = agent.socket.split();
    let flood = async {
        for (round, number) in cancels {
            let reason = "x".repeat(if number == 0 { 1 << 20 } else { 100 });
            let payload = json!({ "callId": "other", "reason": reason });
            let id = format!("{round}.{number}");
            let cancel = request("capabilities/cancel", &id, payload).to_string();
            if sending.send(Message::text(cancel)).await.is_err() {
                // The connection is closed, but its received messages must still be read.
                break;
            }
        }
        std::future::pending().await
    };
    let heard = async {
        loop {
            match receiving.next().await {
                Some(Ok(Message::Text(text))) => break serde_json::from_str(&text).unwrap(),
                Some(Ok(_)) => {}
                other => panic!("no message but {other:?}"),
            }
        }
    };
    let told: Value = tokio::select! {
        told = soon("too much", heard) => told,
        told = flood => told,
    };
    assert_eq!(code(&told), "DISCONNECTED", "{told}");
    redis.signal("-CONT");

    let offered = || two.hub.offer(Some("demo")).is_ok();
    until("the app", offered).await;
    // On that worker the app ends its work for an agent that was told so.
    let closed = async {
        loop {
            let message = next_of_session(&mut app).await;
            if message["type"] == "agent/closed" {
                break message;
            }
        }
    };
    let closed = soon("the end of the agent", closed).await;
    assert_eq!(closed["agent"], running["agent"]);
    let mut agent = agent_on(&two, &mut app).await;
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_lease_is_late_behind_megabytes() {
    let redis = Redis::start();
    // Ten megabytes take twice as long as a lease lasts. The lease is long enough for a busy machine.
    let lease = Duration::from_secs(3);
    let way = Proxy::slow(redis.address(), lease * 2 / 160, Duration::ZERO).await;
    let worker = |url: String| {
        let mut config = patient(&redis, Limits::default());
        config.cluster.redis = Some(url);
        config.cluster.worker_lease = lease;
        Gateway::with(config)
    };
    let one = worker(way.url()).await;
    let two = worker(redis.url()).await;
    met(&[&one, &two]).await;
    let known = [&one, &two].map(|it| it.hub.cluster().unwrap().me());
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    agent.send(large_call("1", 10 << 20)).await;
    let calling = app.next().await;
    let params = calling["payload"]["params"].as_str().unwrap();
    assert_eq!(params.len(), 10 << 20);
    app.send(answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": true }),
    ))
    .await;
    let response = agent.next().await;
    assert_eq!(response["payload"]["success"], true, "{response}");
    assert_eq!([&one, &two].map(|it| it.hub.cluster().unwrap().me()), known);
    for worker in [&one, &two] {
        let traffic = worker.hub.cluster().unwrap().traffic();
        assert_eq!(traffic.workers_lost.get(), 0);
    }
}

/// 10 MiB take 4.5 s, which is longer than other answers of Redis may take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_long_to_read_is_read() {
    let redis = Redis::start();
    let pause = Duration::from_millis(4_500) / 160;
    let way = Proxy::slow(redis.address(), Duration::ZERO, pause).await;
    let mut slow = patient(&redis, Limits::default());
    slow.cluster.redis = Some(way.url());
    let one = Gateway::with(slow).await;
    let two = Gateway::with(patient(&redis, Limits::default())).await;
    met(&[&one, &two]).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    agent.send(call("1", "1")).await;
    let calling = app.next().await;
    let data = "x".repeat(10 << 20);
    let payload = json!({ "success": true, "data": data });
    let result = answer(&calling, "capabilities/call-result", payload);
    app.send(result).await;
    let response = agent.next().await;
    let data = response["payload"]["data"].as_str().unwrap();
    assert_eq!(data.len(), 10 << 20);
}
