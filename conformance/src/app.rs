//! An app of the suite's own, with both tools, which connects to a gateway of caphost. So a gateway can be tested alone.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::context::PATIENCE;
use crate::peer::Tool;
use crate::wire::{Wire, socket};

/// The id of the app.
pub const ID: &str = "caphost-conformance";

/// Connects the app to a gateway, at its address for apps. The app is there until what is given is dropped.
pub async fn bring(url: &str, token: Option<&str>) -> Result<App, String> {
    let app = Arc::new(Shared::default());
    let receiving = app.clone();
    let receive = Box::new(move |message: Value| {
        receiving.receive(&message);
        None
    });
    let wire = socket::connect(url, token, receive, |_| {}).await?;
    let _ = app.wire.set(wire.clone());
    let key = json!({ "type": "string" });
    let count = json!({ "type": "object", "properties": { "key": key, "steps": { "type": "integer" }, "ms": { "type": "number" } }, "required": ["key", "steps", "ms"] });
    let read = json!({ "type": "object", "properties": { "key": key }, "required": ["key"] });
    app.send("app/register", Some("register"), None, json!({
        "app": { "id": ID, "name": "The cancellation suite", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": [{ "name": Tool::Count.name(), "inputSchema": count }, { "name": Tool::Read.name(), "inputSchema": read }],
        "token": token,
    }));
    match timeout(PATIENCE, app.registered.notified()).await {
        Ok(()) => match app.refusal.lock().take() {
            None => Ok(App(wire)),
            Some(why) => Err(format!("the gateway refuses the app: {why}")),
        },
        Err(_) => Err("the gateway does not answer the app".into()),
    }
}

/// A connected app.
pub struct App(Wire);

impl Drop for App {
    fn drop(&mut self) {
        self.0.cut();
    }
}

#[derive(Default)]
struct Shared {
    wire: OnceLock<Wire>,
    registered: Notify,
    refusal: Mutex<Option<String>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counted: HashMap<String, u64>,
    /// By agent and callId.
    calls: HashMap<(String, String), Phase>,
}

/// Where a call is. Whoever changes a call from `Works` answers it.
#[derive(Clone, PartialEq)]
enum Phase {
    /// The id of its envelope.
    Works(String),
    Completed,
    Cancelled,
}

#[derive(Clone, Deserialize)]
struct Arguments {
    key: String,
    #[serde(default)]
    steps: u64,
    #[serde(default)]
    ms: f64,
}

impl Shared {
    fn send(&self, kind: &str, id: Option<&str>, agent: Option<&str>, payload: Value) {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis() as u64;
        let mut message = json!({ "type": kind, "timestamp": now, "payload": payload });
        for (name, value) in [("id", id), ("agent", agent)] {
            if let Some(value) = value {
                message[name] = json!(value);
            }
        }
        if let Some(wire) = self.wire.get() {
            wire.send(message);
        }
    }

    fn receive(self: &Arc<Self>, message: &Value) {
        let (id, agent) = (
            message["id"].as_str(),
            message["agent"].as_str().unwrap_or_default(),
        );
        let payload = &message["payload"];
        let reply = |kind: &str, payload: Value| self.send(kind, id, Some(agent), payload);
        match message["type"].as_str().unwrap_or_default() {
            "app/registered" => self.registered.notify_one(),
            "app/refused" => {
                self.refusal.lock().replace(payload["error"].to_string());
                self.registered.notify_one();
            }
            "initialize" => reply(
                "initialize-result",
                json!({
                    "sessionId": agent,
                    "protocolVersion": "0.1",
                    "app": { "id": ID, "name": "The cancellation suite", "version": env!("CARGO_PKG_VERSION") },
                    "capabilities": [{ "name": Tool::Count.name(), "available": true }, { "name": Tool::Read.name(), "available": true }],
                    "features": { "notifications": false, "progress": true, "elicitation": false, "dynamicCapabilities": false },
                }),
            ),
            "capabilities/call" => self.called(id.unwrap_or_default(), agent, payload),
            "capabilities/cancel" => {
                let call_id = payload["callId"].as_str().unwrap_or_default();
                self.cancelled(agent, call_id, |confirmation| {
                    reply("capabilities/cancel-result", confirmation)
                });
            }
            "shutdown" => {
                self.ended(agent);
                reply("shutdown-result", json!({}));
            }
            "agent/closed" => self.ended(agent),
            _ => {}
        }
    }

    fn called(self: &Arc<Self>, id: &str, agent: &str, payload: &Value) {
        let reply =
            |payload: Value| self.send("capabilities/call-result", Some(id), Some(agent), payload);
        let refuse = |message: String| {
            reply(
                json!({ "success": false, "error": { "code": "INVALID_PARAMS", "message": message, "retryable": false } }),
            )
        };
        let arguments = match Arguments::deserialize(&payload["params"]) {
            Ok(arguments) => arguments,
            Err(error) => return refuse(error.to_string()),
        };
        if payload["capability"] == Tool::Read.name() {
            let steps = self
                .state
                .lock()
                .counted
                .get(&arguments.key)
                .copied()
                .unwrap_or(0);
            return reply(
                json!({ "success": true, "data": { "key": arguments.key, "steps": steps } }),
            );
        }
        let options = &payload["options"];
        let call_id = options["callId"]
            .as_str()
            .or(payload["callId"].as_str())
            .unwrap_or(id)
            .to_owned();
        let name = (agent.to_owned(), call_id);
        if self.state.lock().calls.contains_key(&name) {
            return refuse("the callId is used".into());
        }
        self.state
            .lock()
            .calls
            .insert(name.clone(), Phase::Works(id.to_owned()));
        if let Some(limit) = options["timeout"].as_f64() {
            let (this, name) = (self.clone(), name.clone());
            tokio::spawn(async move {
                sleep(Duration::from_secs_f64(limit / 1000.0)).await;
                this.cancelled(&name.0, &name.1, drop);
            });
        }
        let token = options["progressToken"].as_str().map(str::to_owned);
        tokio::spawn(self.clone().count(name, arguments, token));
    }

    async fn count(
        self: Arc<Self>,
        name: (String, String),
        arguments: Arguments,
        token: Option<String>,
    ) {
        for step in 1..=arguments.steps {
            sleep(Duration::from_secs_f64(arguments.ms / 1000.0)).await;
            let mut state = self.state.lock();
            if !matches!(state.calls.get(&name), Some(Phase::Works(_))) {
                return;
            }
            state.counted.insert(arguments.key.clone(), step);
            if let Some(token) = &token {
                self.send(
                    "progress",
                    None,
                    Some(&name.0),
                    json!({ "operationId": token, "progress": step, "total": arguments.steps }),
                );
            }
        }
        let data =
            json!({ "success": true, "data": { "key": arguments.key, "count": arguments.steps } });
        self.settle(&mut self.state.lock(), &name, Phase::Completed, data);
    }

    /// Ends a call and answers it, if it works.
    fn settle(&self, state: &mut State, name: &(String, String), phase: Phase, payload: Value) {
        if let Some(Phase::Works(id)) = state.calls.get(name).cloned() {
            state.calls.insert(name.clone(), phase);
            self.send(
                "capabilities/call-result",
                Some(&id),
                Some(&name.0),
                payload,
            );
        }
    }

    /// Cancels a call. `confirm` is given the confirmation, before the call is answered.
    fn cancelled(&self, agent: &str, call_id: &str, confirm: impl FnOnce(Value)) {
        let name = (agent.to_owned(), call_id.to_owned());
        let mut state = self.state.lock();
        confirm(match state.calls.get(&name) {
            Some(Phase::Works(_) | Phase::Cancelled) => {
                json!({ "callId": call_id, "cancelled": true })
            }
            Some(Phase::Completed) => {
                json!({ "callId": call_id, "cancelled": false, "reason": "Operation already completed" })
            }
            None => {
                json!({ "callId": call_id, "cancelled": false, "reason": "Operation not found" })
            }
        });
        self.settle(
            &mut state,
            &name,
            Phase::Cancelled,
            json!({ "success": false, "cancelled": true }),
        );
    }

    fn ended(&self, agent: &str) {
        let mut state = self.state.lock();
        let names = state
            .calls
            .keys()
            .filter(|name| name.0 == agent)
            .cloned()
            .collect::<Vec<_>>();
        for name in names {
            self.settle(
                &mut state,
                &name,
                Phase::Cancelled,
                json!({ "success": false, "cancelled": true }),
            );
            state.calls.remove(&name);
        }
    }
}
