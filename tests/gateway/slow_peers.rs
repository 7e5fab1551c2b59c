use std::time::Instant;

use caphost::gateway::limits::Limits;
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::support::*;

const QUEUED_BYTES: usize = 1 << 20;

async fn gateway() -> Gateway {
    Gateway::limited(Limits {
        queued_bytes: QUEUED_BYTES,
        ..Limits::default()
    })
    .await
}

fn progress(agent: &serde_json::Value, bytes: usize) -> serde_json::Value {
    json!({ "type": "progress", "agent": agent, "payload": { "operationId": "c", "status": "x".repeat(bytes) } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_does_not_read_is_disconnected_and_delays_nobody() {
    let gateway = gateway().await;
    let (mut app, mut slow) = gateway.session().await;
    let mut quick = gateway.agent().await;
    quick.initialize(&mut app).await;
    slow.send(call("1", "c")).await;
    let calling = app.next().await;
    // The socket's own buffers take some; what is queued beside them is bounded.
    let mut sent = 0;
    let mut worst = std::time::Duration::ZERO;
    while gateway.hub.peers().0 == 2 {
        app.send(progress(&calling["agent"], 64 << 10)).await;
        sent += 64 << 10;
        assert!(sent < 256 << 20, "the slow agent is never disconnected");
        let since = Instant::now();
        quick.send(call("through", "through")).await;
        // Once it is gone, the app is told so in between.
        let relayed = loop {
            let message = app.next().await;
            if message["type"] != "agent/closed" {
                break message;
            }
        };
        app.send(answer(
            &relayed,
            "capabilities/call-result",
            json!({ "success": true }),
        ))
        .await;
        quick.next().await;
        worst = worst.max(since.elapsed());
    }
    assert!(worst < std::time::Duration::from_secs(1), "{worst:?}");
    let end = loop {
        match soon("the end", slow.socket.next()).await {
            Some(Ok(Message::Text(_) | Message::Ping(_))) => {}
            other => break other,
        }
    };
    // Either the close frame got through or the connection just broke.
    match end {
        Some(Ok(Message::Close(Some(frame)))) => assert_eq!(u16::from(frame.code), 1008),
        Some(Ok(other)) => panic!("{other:?}"),
        Some(Err(_)) | None => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_does_not_keep_up_gets_no_more_calls_and_stays() {
    let gateway = gateway().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut sent = 0;
    let refused = loop {
        let mut message = call(&sent.to_string(), &sent.to_string());
        message["payload"]["params"] = json!({ "text": "x".repeat(64 << 10) });
        agent.send(message).await;
        sent += 1;
        assert!(sent < 4_096, "no call is refused");
        let answered =
            tokio::time::timeout(std::time::Duration::from_millis(2), agent.socket.next());
        if let Ok(Some(Ok(Message::Text(text)))) = answered.await {
            break serde_json::from_str::<serde_json::Value>(&text).unwrap();
        }
    };
    assert_eq!(code(&refused), "RATE_LIMITED");
    assert_eq!(
        refused["payload"]["error"]["details"]["limit"],
        "queuedBytes"
    );
    // It reads again: all that was accepted arrives, and calls are taken again.
    let first = app.next().await;
    assert_eq!(first["payload"]["options"]["callId"], "0");
    let accepted: usize = refused["id"].as_str().unwrap().parse().unwrap();
    for number in 1..accepted {
        assert_eq!(
            app.next().await["payload"]["options"]["callId"],
            number.to_string()
        );
    }
    agent.send(cancel("cancel", "0")).await;
    let next = loop {
        let next = app.next().await;
        if next["type"] == "capabilities/cancel" {
            break next;
        }
    };
    assert_eq!(next["payload"]["callId"], "0");
    assert_eq!(gateway.hub.peers(), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_sends_faster_than_it_reads_waits_and_loses_nothing() {
    let gateway = gateway().await;
    let agent = gateway.agent().await;
    const MESSAGES: usize = 40_000;
    let (mut sink, mut stream) = agent.socket.split();
    let flooding = tokio::spawn(async move {
        for number in 0..MESSAGES {
            let text = call(&number.to_string(), "c").to_string();
            sink.send(Message::text(text)).await.unwrap();
        }
        sink
    });
    // Its answers are several times what may be queued; each of them arrives, in order.
    for number in 0..MESSAGES {
        let text = loop {
            match soon("an answer", stream.next()).await {
                Some(Ok(Message::Text(text))) => break text,
                Some(Ok(Message::Ping(_))) => {}
                other => panic!("{other:?}"),
            }
        };
        let got: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (code(&got), &got["id"]),
            ("NOT_INITIALIZED", &json!(number.to_string()))
        );
    }
    drop(flooding.await.unwrap());
}
