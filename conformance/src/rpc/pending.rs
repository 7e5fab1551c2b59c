//! Who waits for which answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::style::Style;
use crate::call::{Call, What, shortened};

/// The calls of a connection, answered or not, and the requests of the suite's own.
pub struct Pending {
    style: Style,
    next: AtomicU64,
    /// By the JSON of the id, so that 1 and "1" differ.
    calls: Mutex<HashMap<String, Arc<Call>>>,
    by_token: Mutex<HashMap<String, Arc<Call>>>,
    asked: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    stray: Mutex<Vec<String>>,
}

impl Pending {
    pub fn new(style: Style) -> Arc<Self> {
        Arc::new(Self {
            style,
            // Not from 0 or 1: these ids are for the scenarios.
            next: AtomicU64::new(100),
            calls: Mutex::default(),
            by_token: Mutex::default(),
            asked: Mutex::default(),
            stray: Mutex::default(),
        })
    }

    pub fn next_id(&self) -> Value {
        json!(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Expects answers under the id of `call`, and progress under its key.
    pub fn add(&self, call: &Arc<Call>) {
        self.calls.lock().insert(call.id.to_string(), call.clone());
        self.by_token.lock().insert(call.key.clone(), call.clone());
    }

    /// Expects one answer to a request of the suite's own. `send` is given the id.
    pub async fn ask(&self, send: impl FnOnce(Value), within: Duration) -> Result<Value, String> {
        let id = self.next_id();
        let (sender, receiver) = oneshot::channel();
        self.asked.lock().insert(id.to_string(), sender);
        send(id);
        match timeout(within, receiver).await {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(_)) => Err("the connection ended".into()),
            Err(_) => Err(format!("no answer within {} s", within.as_secs())),
        }
    }

    /// Takes a message of the peer. Gives the answer to a request of the peer.
    pub fn receive(&self, message: Value) -> Option<Value> {
        if message.get("method").is_some() {
            return self.requested(&message);
        }
        let id = message
            .get("id")
            .cloned()
            .unwrap_or(Value::Null)
            .to_string();
        if let Some(asker) = self.asked.lock().remove(&id) {
            let _ = asker.send(message);
        } else if let Some(call) = self.calls.lock().get(&id) {
            call.saw(What::Answer(self.style.answer(&message)));
        } else {
            self.stray.lock().push(shortened(&message.to_string()));
        }
        None
    }

    fn requested(&self, message: &Value) -> Option<Value> {
        if let Some((token, value)) = self.style.progress(message) {
            if let Some(call) = self.by_token.lock().get(&token) {
                call.saw(What::Progress(value));
            }
        } else if let Some(id) = self.style.late_end(message)
            && let Some(call) = self.calls.lock().get(&id.to_string())
        {
            call.saw(What::LateEnd);
        }
        let id = message.get("id")?;
        Some(match message["method"].as_str() {
            Some("ping") => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
            _ => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "Method not found" } })
            }
        })
    }

    /// Notes that the connection has ended.
    pub fn close(&self, why: &str) {
        self.asked.lock().clear();
        for call in self.calls.lock().values() {
            call.saw(What::Closed(why.to_owned()));
        }
    }

    /// Notes that no answer can come to the message `id` any more.
    pub fn lose(&self, id: &Value, why: &str) {
        self.asked.lock().remove(&id.to_string());
        if let Some(call) = self.calls.lock().get(&id.to_string()) {
            call.saw(What::Closed(why.to_owned()));
        }
    }

    pub fn stray(&self) -> Vec<String> {
        std::mem::take(&mut self.stray.lock())
    }
}
