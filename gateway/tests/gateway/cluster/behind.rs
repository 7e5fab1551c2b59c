//! Apps that are reached through another worker, and receive or send more than there is room for.

use futures_util::{SinkExt, StreamExt};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::proxy::Proxy;
use super::simulated::{Simulated, app as app_there, hello};
use super::*;
use crate::resuming::{App, next_of_session};

fn large_call(id: &str, bytes: usize) -> Value {
    let params = "x".repeat(bytes);
    let payload = json!({ "capability": "a.b", "params": params, "options": { "callId": id } });
    request("capabilities/call", id, payload)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_came_back_and_does_not_read_is_given_no_more_calls_and_keeps_its_session() {
    let redis = Redis::start();
    let (one, two) = patient_pair(&redis, Limits::default()).await;
    let (app, mut agent) = App::with_agent(&one).await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    let mut sent = 0;
    let refused = loop {
        agent.send(large_call(&sent.to_string(), 1 << 20)).await;
        sent += 1;
        // By then everything that there is room for is on its way.
        match timeout(Duration::from_millis(50), agent.next()).await {
            Ok(answer) => break answer,
            Err(_) => assert!(sent < 120, "nobody is told that it does not read"),
        }
    };
    assert_eq!(code(&refused), "RATE_LIMITED", "after {sent}: {refused}");

    // When the app reads again, it gets all accepted calls, and accepts more.
    let (mut refused, mut done, mut last) = (1, 0, -1);
    while refused + done < sent {
        tokio::select! {
            calling = app.next() => {
                let number: i32 = calling["payload"]["options"]["callId"]
                    .as_str()
                    .unwrap()
                    .parse()
                    .unwrap();
                assert!(last < number, "{last} before {number}");
                last = number;
                let payload = json!({ "received": app.received });
                let ack = json!({ "type": "app/ack", "timestamp": 1, "payload": payload });
                app.peer.send(ack).await;
                app.complete(&calling).await;
            }
            answer = agent.next() => match code(&answer) {
                "RATE_LIMITED" => refused += 1,
                _ => {
                    assert_eq!(answer["payload"]["success"], true, "{answer}");
                    done += 1;
                }
            },
        }
    }
    assert!(done > 16, "half of what may wait, at least: {done}");
    let taken = async {
        loop {
            agent.send(call("again", "again")).await;
            tokio::select! {
                calling = app.next() => break calling,
                refused = agent.next() => assert_eq!(code(&refused), "RATE_LIMITED"),
            }
        }
    };
    let calling = soon("room for a call", taken).await;
    app.complete(&calling).await;
    assert_eq!(agent.next().await["payload"]["success"], true);
    let (_app, _) = App::resume(&two, app.cut(&one).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_came_back_is_read_no_faster_than_redis_drains_and_is_not_taken_for_dead() {
    let redis = Redis::start();
    let limits = Limits {
        ping_interval: Duration::from_millis(100),
        dead_peer_timeout: Duration::from_millis(1_000),
        ..Limits::default()
    };
    let (one, two) = patient_pair(&redis, limits).await;
    let (app, mut agent) = App::with_agent(&one).await;
    let (mut app, _) = App::resume(&two, app.cut(&one).await).await;
    agent.send(call("c", "c")).await;
    let calling = app.next().await;
    redis.signal("-STOP");
    let progress = |number: u64| {
        let info = json!({ "operationId": "c", "progress": number, "status": "x".repeat(1 << 20) });
        let message = json!({ "type": "progress", "agent": calling["agent"], "timestamp": 1, "payload": info });
        Message::text(message.to_string())
    };
    // The buffers of the sockets take some messages, and the queue to the other worker takes 8 MiB.
    let mut sent = 0;
    let (mut sink, mut stream) = futures_util::StreamExt::split(app.peer.socket);
    let answering = tokio::spawn(async move {
        // Like a browser, the app answers pings.
        while let Some(Ok(message)) = futures_util::StreamExt::next(&mut stream).await {
            assert!(!message.is_close(), "it was cut off: {message:?}");
        }
    });
    loop {
        let sending = sink.send(progress(sent));
        tokio::pin!(sending);
        if timeout(Duration::from_millis(2_500), &mut sending)
            .await
            .is_err()
        {
            redis.signal("-CONT");
            soon("room to send", sending).await.unwrap();
            sent += 1;
            break;
        }
        sent += 1;
        assert!(sent < 64, "it is read as fast as it sends");
    }
    for number in 0..sent {
        let told = agent.next().await;
        assert_eq!(
            told["payload"]["progress"],
            number,
            "{:.200}",
            told.to_string()
        );
    }
    let done = answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": true }),
    );
    sink.send(Message::text(done.to_string())).await.unwrap();
    assert_eq!(agent.next().await["payload"]["success"], true);
    answering.abort();
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

/// The app's messages are acknowledged, and a call has taken all the room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_came_back_is_closed_when_there_is_no_room_for_an_acknowledgement() {
    let redis = Redis::start();
    let limits = Limits {
        queued_bytes: 1 << 20,
        ..Limits::default()
    };
    let gateway = Gateway::with(Config {
        limits,
        ..part_of(&redis)
    })
    .await;
    others(&gateway, 0).await;
    let mut other = Simulated::join(&redis, &gateway).await;
    other.send(&[(hello("other"), "")]).await;
    let (app, mut agent) = App::with_agent(&gateway).await;
    let (token, received) = app.cut(&gateway).await;
    let by = json!({ "role": "admin", "name": "anyone", "app": null });
    let take_up =
        json!({ "tunnel": 5, "token": token, "received": received, "id": null, "by": by });
    other.send(&[(json!({ "TakeUp": take_up }), "")]).await;
    let (_, resumed) = other.next_of("ToConnection").await;
    assert!(resumed.contains("app/resumed"), "{resumed}");
    let written = json!({ "Written": { "tunnel": 5, "messages": 1 } });
    other
        .send(&[(written, ""), (app_there(7, "theirs"), "")])
        .await;
    // By then the gateway knows that the message was written.
    until("their app", || gateway.hub.offer(Some("theirs")).is_ok()).await;
    agent.send(large_call("large", 2 << 20)).await;
    let (_, calling) = other.next_of("ToConnection").await;
    assert!(calling.contains("capabilities/call"), "{calling:.100}");
    // The other worker does not report this call as written.
    let calling: Value = serde_json::from_str(&calling).unwrap();
    // Nothing of this is answered, so that the acknowledgement is the first message without room.
    let step = json!({ "operationId": "large", "progress": 1, "status": "x" });
    let said = json!({
        "type": "progress", "agent": calling["agent"], "timestamp": 1, "payload": step
    });
    let said = said.to_string();
    let from = json!({ "FromConnection": { "tunnel": 5 } });
    for _ in 0..64 {
        other.send(&[(from.clone(), &said)]).await;
    }
    let (closed, _) = other.next_of("CloseConnection").await;
    assert_eq!(
        (&closed["tunnel"], &closed["code"]),
        (&json!(5), &json!(1008))
    );
    // As with a direct connection, the session is over.
    let ended = async {
        loop {
            let told = agent.next().await;
            if told["type"] != "progress" {
                break told;
            }
        }
    };
    assert_eq!(
        code(&soon("the end of the call", ended).await),
        "DISCONNECTED"
    );
}
