//! An app on a WebSocket, whose capabilities are the tools of a client.

use serde_json::{Value, json};

use crate::support::*;

/// Registers an app with those capabilities.
pub async fn offer(gateway: &Gateway, id: &str, capabilities: Value) -> Peer {
    let mut app = gateway.peer("/abp/app").await;
    app.send(request(
        "app/register",
        "r",
        json!({ "app": { "id": id, "name": "Demo", "version": "1.0.0" }, "capabilities": capabilities }),
    ))
    .await;
    assert_eq!(app.next().await["type"], "app/registered");
    app
}

/// An app with the capabilities `export.pdf` and `echo`.
pub async fn demo(gateway: &Gateway) -> Peer {
    let capabilities = json!([
        { "name": "export.pdf", "description": "Makes a PDF" },
        { "name": "echo" },
    ]);
    offer(gateway, "demo", capabilities).await
}

/// The next call. If the call needs a session, the app opens it first.
pub async fn called(app: &mut Peer) -> Value {
    loop {
        let message = app.next().await;
        match message["type"].as_str() {
            Some("initialize") => {
                let session = json!({ "sessionId": "s", "protocolVersion": "0.1" });
                app.send(answer(&message, "initialize-result", session))
                    .await;
            }
            Some("capabilities/call") => return message,
            Some("shutdown") => {
                app.send(answer(&message, "shutdown-result", json!({})))
                    .await
            }
            Some("agent/closed") => {}
            other => panic!("no call but {other:?}: {message}"),
        }
    }
}

pub async fn succeed(app: &mut Peer, call: &Value, data: Value) {
    let response = json!({ "success": true, "data": data, "metadata": { "duration": 3 } });
    app.send(answer(call, "capabilities/call-result", response))
        .await;
}

pub async fn fail(app: &mut Peer, call: &Value, error: Value) {
    let response = json!({ "success": false, "error": error });
    app.send(answer(call, "capabilities/call-result", response))
        .await;
}

pub async fn progress(app: &mut Peer, call: &Value, info: Value) {
    let mut info = info;
    info["operationId"] = call["payload"]["options"]["progressToken"].clone();
    app.send(
        json!({ "type": "progress", "agent": call["agent"], "timestamp": 1, "payload": info }),
    )
    .await;
}

/// Waits for the cancel of `call` and confirms it, without saying how far the work has stopped. Returns the
/// reason of the cancel.
pub async fn confirm_cancel(app: &mut Peer, call: &Value) -> Value {
    let cancel = app.next().await;
    assert_eq!(cancel["type"], "capabilities/cancel", "{cancel}");
    let id = &call["payload"]["options"]["callId"];
    assert_eq!(&cancel["payload"]["callId"], id);
    let confirmed = json!({ "callId": id, "cancelled": true });
    app.send(answer(&cancel, "capabilities/cancel-result", confirmed))
        .await;
    let cancelled = json!({ "success": false, "cancelled": true });
    app.send(answer(call, "capabilities/call-result", cancelled))
        .await;
    cancel["payload"]["reason"].clone()
}
