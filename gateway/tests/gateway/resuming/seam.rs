//! A session on a connection that is not in this process.

use std::sync::Arc;
use std::time::Duration;

use caphost_gateway::Identity;
use caphost_gateway::for_tests::{Attached, Lost, OutboxStep, Resume};
use serde_json::{Value, json};

use super::*;

/// Resumes the session on a new outbox.
fn attach(gateway: &Gateway, (token, received): &(String, u64)) -> Result<Attached, Lost> {
    let resume = Resume {
        token,
        received: *received,
        id: None,
    };
    let outbox = Arc::new(gateway.hub.new_outbox());
    gateway.hub.resume(resume, &Identity::anyone(), outbox)
}

async fn next(attached: &Attached) -> Value {
    match soon("a message", attached.outbox().next()).await {
        OutboxStep::Message(message, cost) => {
            attached.outbox().written(cost);
            serde_json::from_str(&message.into_text()).unwrap()
        }
        OutboxStep::Close(code, _) => json!(code.0),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_on_over_anything_that_carries_text() {
    let gateway = Gateway::limited(grace(Duration::from_secs(3_600))).await;
    let (app, mut agent) = App::with_agent(&gateway).await;
    assert!(
        app.token
            .starts_with(&format!("{}.", gateway.hub.resume_prefix()))
    );
    let mut lost = app.cut(&gateway).await;
    agent.send(call("1", "c")).await;

    let first = attach(&gateway, &lost).unwrap();
    let resumed = next(&first).await;
    assert_eq!(
        (&resumed["type"], &resumed["payload"]),
        (&json!("app/resumed"), &json!({ "received": 1 }))
    );
    let calling = next(&first).await;
    lost.1 += 1;
    drop(first);
    assert_eq!(gateway.hub.readings().sessions.suspended, 1);

    let second = attach(&gateway, &lost).unwrap();
    assert_eq!(next(&second).await["type"], "app/resumed");
    let done = json!({ "success": true });
    second.text(
        &answer(&calling, "capabilities/call-result", done).to_string(),
        None,
    );
    assert_eq!(agent.next().await["payload"]["success"], true);

    // Another connection takes over. Messages of the connection before are ignored.
    let third = attach(&gateway, &lost).unwrap();
    assert_eq!(next(&third).await["payload"]["received"], 2);
    assert_eq!(next(&second).await, 4002);
    second.text("{}", None);
    second.end();
    assert_eq!(gateway.hub.peers(), (1, 1));
    third.end();
    assert_eq!(agent.closed().await, 4001);
    assert_eq!(attach(&gateway, &lost).err(), Some(Lost::Unknown));
}
