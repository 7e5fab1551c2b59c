//! An app that answers every call at once, or only on request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

#[derive(Clone, Default)]
pub struct App(Arc<Shared>);

#[derive(Default)]
struct Shared {
    holding: AtomicBool,
    held: AtomicUsize,
    released: Notify,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    agent: Option<&'a RawValue>,
}

impl App {
    /// Starts to hold calls, or answers all calls that it holds.
    pub fn hold(&self, holding: bool) {
        self.0.holding.store(holding, Ordering::SeqCst);
        if !holding {
            self.0.released.notify_one();
        }
    }

    /// How many calls the app holds.
    pub fn held(&self) -> usize {
        self.0.held.load(Ordering::SeqCst)
    }
}

/// Connects an app. `register` is whether the app has to register.
pub async fn connect(url: &str, register: bool) -> App {
    let (mut socket, _) = connect_async(url).await.expect("the app's connection");
    if register {
        let payload = r#"{"app":{"id":"bench","name":"Bench","version":"1"},"capabilities":[{"name":"echo"}]}"#;
        let message = format!(r#"{{"type":"app/register","id":"r","payload":{payload}}}"#);
        let _ = socket.send(Message::text(message)).await;
        let _ = socket.next().await;
    }
    let app = App::default();
    let shared = app.0.clone();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        loop {
            let message = tokio::select! {
                message = socket.next() => message,
                () = shared.released.notified() => {
                    for answer in kept.drain(..) {
                        let _ = socket.send(Message::text(answer)).await;
                    }
                    shared.held.store(0, Ordering::SeqCst);
                    continue;
                }
            };
            let Some(Ok(message)) = message else { return };
            let Some(answer) = message.to_text().ok().and_then(answer) else {
                continue;
            };
            if shared.holding.load(Ordering::SeqCst) {
                kept.push(answer);
                shared.held.store(kept.len(), Ordering::SeqCst);
            } else if socket.send(Message::text(answer)).await.is_err() {
                return;
            }
        }
    });
    app
}

fn answer(text: &str) -> Option<String> {
    let request: Request = serde_json::from_str(text).ok()?;
    let id = request.id?;
    let agent = request.agent.map_or(r#""a""#, RawValue::get);
    let (kind, payload) = match request.kind {
        "initialize" => ("initialize-result", r#"{"sessionId":"s"}"#),
        "capabilities/call" => (
            "capabilities/call-result",
            r#"{"success":true,"data":{"value":1},"metadata":{"duration":1}}"#,
        ),
        _ => return None,
    };
    Some(format!(
        r#"{{"type":"{kind}","id":{id},"agent":{agent},"timestamp":1,"payload":{payload}}}"#
    ))
}
