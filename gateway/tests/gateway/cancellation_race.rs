//! Cancels over HTTP that race with their calls: before them, while they run, and after their end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::support::*;

const CALLS: u64 = 300;

/// A time in milliseconds that differs from call to call, without an order.
fn jitter(call: u64, salt: u64) -> Duration {
    let mixed = (call * 2 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Duration::from_micros(mixed % 6_000)
}

/// An app whose calls take a while, and which follows the protocol.
async fn serve(mut app: Peer) {
    let (done, mut finished) = mpsc::unbounded_channel();
    let mut running: HashMap<String, Value> = HashMap::new();
    let mut seen = HashSet::new();
    loop {
        tokio::select! {
            Some(call_id) = finished.recv() => {
                let call_id: String = call_id;
                if let Some(called) = running.remove(&call_id) {
                    let payload = json!({ "success": true, "data": call_id });
                    app.send(answer(&called, "capabilities/call-result", payload)).await;
                }
            }
            message = app.next() => match message["type"].as_str() {
                Some("capabilities/call") => {
                    let id = message["payload"]["options"]["callId"].as_str().unwrap().to_string();
                    assert!(seen.insert(id.clone()), "{id} came twice");
                    let (done, number) = (done.clone(), number_of(&id));
                    running.insert(id.clone(), message);
                    tokio::spawn(async move {
                        sleep(jitter(number, 0)).await;
                        let _ = done.send(id);
                    });
                }
                Some("capabilities/cancel") => {
                    let id = message["payload"]["callId"].clone();
                    let called = running.remove(id.as_str().unwrap());
                    let confirmation = match &called {
                        Some(_) => json!({ "callId": id, "cancelled": true }),
                        None => json!({ "callId": id, "cancelled": false, "reason": "Operation already completed" }),
                    };
                    app.send(answer(&message, "capabilities/cancel-result", confirmation)).await;
                    if let Some(called) = called {
                        let payload = json!({ "success": false, "cancelled": true });
                        app.send(answer(&called, "capabilities/call-result", payload)).await;
                    }
                }
                other => panic!("{other:?}"),
            },
        }
    }
}

/// An id that no run has by chance.
fn id_of(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn number_of(id: &str) -> u64 {
    id[24..].parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_cancel_answers_and_how_its_call_ends_never_disagree() {
    let gateway = Arc::new(Gateway::start().await);
    let (app, mut agent) = gateway.session().await;
    let app = tokio::spawn(serve(app));
    let mut cancels = Vec::new();
    let mut responses = HashMap::new();
    for number in 0..CALLS {
        let gateway = gateway.clone();
        let id = id_of(number);
        agent.send(call(&id, &id)).await;
        // Cancels the next call. Some of these cancels arrive before their calls.
        let id = id_of(number + 1);
        cancels.push(tokio::spawn(async move {
            sleep(jitter(number, 1)).await;
            let body = json!({ "requestId": id }).to_string();
            let answer = gateway.post("/cancellation/cancel", "", &body).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            (id, answer.json()["status"].as_str().unwrap().to_string())
        }));
        sleep(jitter(number, 2) / 2).await;
    }
    while responses.len() < CALLS as usize {
        let response = agent.next().await;
        let id = response["id"].as_str().unwrap().to_string();
        let known = responses.insert(id, response["payload"]["cancelled"] == true);
        assert_eq!(known, None, "answered twice");
    }
    let mut counts: HashMap<String, u64> = HashMap::new();
    for cancel in cancels {
        let (id, status) = soon("an answer", cancel).await.unwrap();
        let Some(cancelled) = responses.get(&id) else {
            assert_eq!((&*id, &*status), (&*id_of(CALLS), "queued"));
            continue;
        };
        assert_eq!(*cancelled, status != "completed", "{id}: {status}");
        *counts.entry(status).or_default() += 1;
    }
    for status in ["cancelled", "completed", "queued"] {
        assert!(counts.contains_key(status), "never {status}: {counts:?}");
    }
    app.abort();
}
