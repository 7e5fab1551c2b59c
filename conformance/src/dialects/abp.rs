//! ABP 0.1 over a WebSocket: envelopes `{ type, id, timestamp, payload }`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

use crate::call::{Answer, Call, Cancel, Confirmation, What, shortened};
use crate::context::PATIENCE;
use crate::peer::{Afterwards, Connection, NewCall, Peer, Tool, Traits, Words};
use crate::wire::{Wire, socket};

/// An app, or a gateway to one.
pub struct Abp {
    url: String,
    token: Option<String>,
    name: Mutex<Option<String>>,
}

impl Abp {
    pub fn new(url: String, token: Option<String>) -> Self {
        Self {
            url,
            token,
            name: Mutex::default(),
        }
    }

    async fn wire(&self) -> Result<Session, String> {
        let waiting = Arc::new(Waiting::default());
        let (for_answers, closing) = (waiting.clone(), waiting.clone());
        let receive = Box::new(move |it| for_answers.receive(it));
        let wire = socket::connect(&self.url, self.token.as_deref(), receive, move |why| {
            closing.close(why)
        })
        .await?;
        Ok(Session {
            wire,
            waiting,
            count: Tool::Count.name().into(),
            read: Tool::Read.name().into(),
        })
    }

    async fn open(&self) -> Result<Session, String> {
        let session = self.wire().await?;
        let agent = json!({ "name": "caphost-conformance", "version": env!("CARGO_PKG_VERSION") });
        let features = json!({ "notifications": true, "progress": true, "elicitation": false });
        let answer = session
            .ask(
                "initialize",
                json!({ "agent": agent, "protocolVersion": "0.1", "features": features }),
            )
            .await?;
        if let Some(error) = answer.get("error") {
            return Err(format!("initialize: {error}"));
        }
        let app = &answer["app"];
        let word = |name: &str| app[name].as_str().unwrap_or("?");
        *self.name.lock() = Some(format!("{} {}", word("name"), word("version")));
        let capabilities = answer["capabilities"].as_array().into_iter().flatten();
        let names = capabilities
            .filter_map(|it| it["name"].as_str())
            .collect::<Vec<_>>();
        let (count, read) = Tool::both("capability", &names)?;
        Ok(Session {
            count,
            read,
            ..session
        })
    }
}

impl Peer for Abp {
    fn traits(&self) -> Traits {
        let words = Words {
            unknown: "Operation not found",
            ended: "Operation already completed",
        };
        Traits {
            afterwards: Afterwards::OneAnswer,
            confirms: true,
            shared: true,
            ordered: true,
            words: Some(words),
        }
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Connection>, String>> {
        async { Ok(Arc::new(self.open().await?) as Arc<dyn Connection>) }.boxed()
    }

    fn without_session(&self) -> Option<BoxFuture<'_, Result<Arc<dyn Connection>, String>>> {
        Some(async { Ok(Arc::new(self.wire().await?) as Arc<dyn Connection>) }.boxed())
    }

    fn name(&self) -> Option<String> {
        self.name.lock().clone()
    }
}

/// Who waits for what, by the id of the envelope or by the callId.
#[derive(Default)]
struct Waiting {
    calls: Mutex<HashMap<String, Arc<Call>>>,
    by_call_id: Mutex<HashMap<String, Arc<Call>>>,
    cancels: Mutex<HashMap<String, Arc<Cancel>>>,
    asked: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    stray: Mutex<Vec<String>>,
}

impl Waiting {
    fn receive(&self, message: Value) -> Option<Value> {
        let id = message["id"].as_str().unwrap_or_default();
        let payload = &message["payload"];
        match message["type"].as_str().unwrap_or_default() {
            "capabilities/call-result" if self.calls.lock().contains_key(id) => {
                self.calls.lock()[id].saw(What::Answer(answer(payload)));
            }
            "capabilities/cancel-result" if self.cancels.lock().contains_key(id) => {
                self.cancels.lock()[id].saw(confirmation(payload));
            }
            "progress" => {
                let call = payload["operationId"]
                    .as_str()
                    .and_then(|it| self.by_call_id.lock().get(it).cloned());
                if let (Some(call), Some(value)) = (call, payload["progress"].as_f64()) {
                    call.saw(What::Progress(value));
                }
            }
            "notification" => {
                let call = payload["data"]["callId"]
                    .as_str()
                    .and_then(|it| self.by_call_id.lock().get(it).cloned());
                if let (Some(call), "notifications/call/ended") =
                    (call, payload["event"].as_str().unwrap_or_default())
                {
                    call.saw(What::LateEnd);
                }
            }
            _ => match self.asked.lock().remove(id) {
                Some(asker) => drop(asker.send(payload.clone())),
                None => self.stray.lock().push(shortened(&message.to_string())),
            },
        }
        None
    }

    fn close(&self, why: &str) {
        self.asked.lock().clear();
        for call in self.calls.lock().values() {
            call.saw(What::Closed(why.to_owned()));
        }
    }
}

/// A connection, with or without a session.
struct Session {
    wire: Wire,
    waiting: Arc<Waiting>,
    count: String,
    read: String,
}

impl Session {
    fn send(&self, kind: &str, id: &str, payload: Value) {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis() as u64;
        self.wire
            .send(json!({ "type": kind, "id": id, "timestamp": now, "payload": payload }));
    }

    async fn ask(&self, kind: &str, payload: Value) -> Result<Value, String> {
        let id = Uuid::new_v4().to_string();
        let (sender, receiver) = oneshot::channel();
        self.waiting.asked.lock().insert(id.clone(), sender);
        self.send(kind, &id, payload);
        match timeout(PATIENCE, receiver).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(format!("{kind}: the connection ended")),
            Err(_) => Err(format!("{kind}: no answer within {} s", PATIENCE.as_secs())),
        }
    }

    fn send_call(&self, call: &Arc<Call>, new: &NewCall) {
        let envelope = Uuid::new_v4().to_string();
        self.waiting
            .calls
            .lock()
            .insert(envelope.clone(), call.clone());
        let mut options = json!({ "callId": call.id, "progressToken": call.id });
        if let Some(timeout) = new.timeout {
            options["timeout"] = json!(timeout.as_millis() as u64);
        }
        let name = if new.tool == Tool::Count {
            &self.count
        } else {
            &self.read
        };
        self.send(
            "capabilities/call",
            &envelope,
            json!({ "capability": name, "params": new.arguments, "options": options }),
        );
    }
}

impl Connection for Session {
    fn call(&self, new: NewCall) -> Arc<Call> {
        let call = Arc::new(Call::new(new.text_id(), new.key()));
        self.waiting.by_call_id.lock().insert(
            call.id.as_str().unwrap_or_default().to_owned(),
            call.clone(),
        );
        self.send_call(&call, &new);
        if self.is_over() {
            call.saw(What::Closed("the connection had ended".into()));
        }
        call
    }

    fn cancel(&self, id: &Value, reason: Option<&str>) -> Arc<Cancel> {
        let cancel = Arc::new(Cancel::default());
        let envelope = Uuid::new_v4().to_string();
        self.waiting
            .cancels
            .lock()
            .insert(envelope.clone(), cancel.clone());
        let mut payload = json!({ "callId": id });
        if let Some(reason) = reason {
            payload["reason"] = json!(reason);
        }
        self.send("capabilities/cancel", &envelope, payload);
        cancel
    }

    fn cancel_with(&self, _params: Value) -> bool {
        false
    }

    fn repeat(&self, call: &Call, again: NewCall) {
        let first = self
            .waiting
            .by_call_id
            .lock()
            .get(call.id.as_str().unwrap_or_default())
            .cloned();
        if let Some(first) = first {
            self.send_call(&first, &again);
        }
    }

    fn cut(&self) {
        self.wire.cut();
    }

    fn end(&self) -> BoxFuture<'_, Result<(), String>> {
        async {
            // ABP does not say that a shutdown is answered.
            let shutdown = self.ask("shutdown", json!({}));
            let _ = timeout(Duration::from_secs(1), shutdown).await;
            Ok(())
        }
        .boxed()
    }

    fn stray(&self) -> Vec<String> {
        std::mem::take(&mut self.waiting.stray.lock())
    }

    fn has_timeout(&self) -> bool {
        true
    }

    fn is_over(&self) -> bool {
        self.wire.is_over()
    }
}

fn answer(payload: &Value) -> Answer {
    let (data, error) = (
        payload.get("data").filter(|it| !it.is_null()),
        payload.get("error").filter(|it| !it.is_null()),
    );
    match (payload["success"].as_bool(), payload["cancelled"].as_bool()) {
        (Some(false), Some(true)) if data.is_none() && error.is_none() => Answer::Cancelled {
            stop: text(&payload["metadata"]["stop"]),
        },
        (Some(true), None | Some(false)) => Answer::Completed(data.cloned().unwrap_or_default()),
        (Some(false), None | Some(false)) => {
            let word = |name: &str| text(&payload["error"][name]).unwrap_or_default();
            Answer::Failed {
                code: word("code"),
                message: word("message"),
            }
        }
        _ => Answer::Failed {
            code: "a response that contradicts itself".into(),
            message: payload.to_string(),
        },
    }
}

fn confirmation(payload: &Value) -> Confirmation {
    Confirmation {
        cancelled: payload["cancelled"] == true,
        reason: text(&payload["reason"]),
        stop: text(&payload["metadata"]["stop"]),
        error: text(&payload["error"]["code"]),
        is_open: false,
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
