//! An app whose capabilities do what their names say.

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use crate::steps::terminated;
use crate::support::*;

pub const CAPABILITIES: [&str; 6] = ["echo", "text.length", "fail", "hold", "export.pdf", "large"];

/// An app that leaves when this value is dropped.
pub struct App {
    task: JoinHandle<()>,
    seen: watch::Receiver<Vec<String>>,
}

impl Drop for App {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl App {
    pub async fn start(gateway: &Gateway, id: &str) -> Self {
        Self::with(gateway, id, &CAPABILITIES).await
    }

    pub async fn with(gateway: &Gateway, id: &str, capabilities: &[&str]) -> Self {
        Self::authorised(gateway, id, capabilities, "").await
    }

    pub async fn authorised(
        gateway: &Gateway,
        id: &str,
        capabilities: &[&str],
        token: &str,
    ) -> Self {
        let mut peer = gateway.peer(&format!("/abp/app?token={token}")).await;
        let capability = |name: &&str| {
            let schema =
                json!({ "type": "object", "properties": { "name": { "type": "string" } } });
            json!({ "name": name, "description": format!("It does {name}"), "inputSchema": schema })
        };
        let mut registration = register(id);
        registration["payload"]["capabilities"] = capabilities.iter().map(capability).collect();
        peer.send(registration).await;
        assert_eq!(peer.next().await["type"], "app/registered");
        let (saw, seen) = watch::channel(Vec::new());
        App {
            task: tokio::spawn(serve(peer, saw)),
            seen,
        }
    }

    /// What has reached the app, for example `call echo NAME` or `cancel NAME REASON`.
    pub fn seen(&self) -> Vec<String> {
        self.seen.borrow().clone()
    }

    /// Waits until the app has seen `count` events.
    pub async fn saw(&self, count: usize) -> Vec<String> {
        let mut seen = self.seen.clone();
        let enough = seen.wait_for(|seen| seen.len() >= count);
        soon("what the app sees", enough).await.unwrap().clone()
    }
}

async fn serve(peer: Peer, saw: watch::Sender<Vec<String>>) {
    let (mut sink, mut stream) = peer.socket.split();
    let held: Arc<Mutex<Vec<Value>>> = Arc::default();
    while let Some(Ok(message)) = stream.next().await {
        let Message::Text(text) = message else {
            continue;
        };
        let message: Value = serde_json::from_str(&text).unwrap();
        let note = |what: String| saw.send_modify(|seen| seen.push(what));
        let answers = match message["type"].as_str().unwrap() {
            "initialize" => {
                vec![answer(
                    &message,
                    "initialize-result",
                    json!({ "sessionId": "s", "protocolVersion": "0.1", "capabilities": [] }),
                )]
            }
            "capabilities/call" => {
                let capability = message["payload"]["capability"].as_str().unwrap();
                note(format!("call {capability} {}", name(&message)));
                called(&message, capability, &held)
            }
            "capabilities/cancel" => {
                let mut held = held.lock().unwrap();
                let at = held
                    .iter()
                    .position(|call| *call_id(call) == message["payload"]["callId"]);
                let call = at.map(|at| held.remove(at));
                let reason = message["payload"]["reason"].as_str().unwrap_or("-");
                note(format!(
                    "cancel {} {reason}",
                    call.as_ref().map_or("?".into(), name)
                ));
                cancelled(&message, call)
            }
            "shutdown" => vec![answer(&message, "shutdown-result", json!({}))],
            _ => vec![],
        };
        for answer in answers {
            if sink.send(Message::text(answer.to_string())).await.is_err() {
                return;
            }
        }
    }
}

fn called(message: &Value, capability: &str, held: &Mutex<Vec<Value>>) -> Vec<Value> {
    let params = &message["payload"]["params"];
    let success = |data: Value| json!({ "success": true, "data": data });
    let response = match capability {
        "echo" => success(params.clone()),
        "text.length" => success(json!(format!(
            "{} characters",
            params["text"].as_str().unwrap().len()
        ))),
        "fail" => {
            let error = json!({ "code": "PRECONDITION_FAILED", "message": "not today", "retryable": false });
            json!({ "success": false, "error": error })
        }
        "export.pdf" => success(
            json!({ "pdf": "JVBERi0=", "mimeType": "application/pdf", "encoding": "base64", "pageCount": 1 }),
        ),
        "large" => success(json!(
            "x".repeat(params["bytes"].as_u64().unwrap() as usize)
        )),
        "image" => success(
            json!({ "image": "iVBORw==", "mimeType": "image/png", "encoding": "base64", "width": 1 }),
        ),
        _ => {
            held.lock().unwrap().push(message.clone());
            return vec![];
        }
    };
    vec![answer(message, "capabilities/call-result", response)]
}

fn cancelled(message: &Value, call: Option<Value>) -> Vec<Value> {
    let call_id = &message["payload"]["callId"];
    let Some(call) = call else {
        let result =
            json!({ "callId": call_id, "cancelled": false, "reason": "Operation not found" });
        return vec![answer(message, "capabilities/cancel-result", result)];
    };
    let said = |mut payload: Value| {
        payload["cancelled"] = true.into();
        match call["payload"]["capability"] == "hold.worker" {
            true => terminated(payload),
            false => payload,
        }
    };
    let confirmed = said(json!({ "callId": call_id }));
    let response = said(json!({ "success": false }));
    vec![
        answer(message, "capabilities/cancel-result", confirmed),
        answer(&call, "capabilities/call-result", response),
    ]
}

fn call_id(call: &Value) -> &Value {
    &call["payload"]["options"]["callId"]
}

fn name(call: &Value) -> String {
    call["payload"]["params"]["name"]
        .as_str()
        .unwrap_or("-")
        .to_string()
}
