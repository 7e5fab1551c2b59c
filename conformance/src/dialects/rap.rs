//! RAP: the suite is the runtime. It invokes the tools of a tool server, and the results come to its callback URL.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;
use uuid::Uuid;

use crate::call::{Answer, Call, Cancel, Confirmation, What, shortened};
use crate::http;
use crate::peer::{Afterwards, Connection, NewCall, Peer, Tool, Traits};

/// How long a notification may take.
const NOTIFICATION: Duration = Duration::from_secs(5);

/// A tool server.
pub struct Rap {
    base: String,
    token: Option<String>,
    name: Mutex<Option<String>>,
    callbacks: tokio::sync::OnceCell<(String, Arc<Results>)>,
}

impl Rap {
    pub fn new(base: &str, token: Option<String>) -> Self {
        Self {
            base: base.trim_end_matches('/').to_owned(),
            token,
            name: Mutex::default(),
            callbacks: Default::default(),
        }
    }

    async fn callbacks(&self) -> Result<&(String, Arc<Results>), String> {
        self.callbacks
            .get_or_try_init(|| async {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                let url = format!("http://{}/callback", listener.local_addr()?);
                let results = Arc::<Results>::default();
                let router = Router::new()
                    .route("/callback", post(called_back))
                    .with_state(results.clone());
                tokio::spawn(async move { axum::serve(listener, router).await });
                Ok((url, results))
            })
            .await
            .map_err(|error: std::io::Error| error.to_string())
    }

    async fn open(&self) -> Result<Thread, String> {
        let (callback, results) = self.callbacks().await?;
        let client = http::client();
        let manifest = http::with_token(
            client.get(format!("{}/.well-known/rap-toolset", self.base)),
            self.token.as_deref(),
        );
        let manifest = manifest
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .map_err(|error| format!("the toolset: {error}"))?;
        let manifest = manifest
            .json::<Value>()
            .await
            .map_err(|error| format!("the toolset: {error}"))?;
        *self.name.lock() = manifest["name"].as_str().map(str::to_owned);
        let endpoint = manifest["endpoint"]
            .as_str()
            .ok_or("the toolset has no endpoint")?
            .to_owned();
        let tools = manifest["tools"].as_array().into_iter().flatten();
        let names = tools
            .filter_map(|it| it["name"].as_str())
            .collect::<Vec<_>>();
        let (count, read) = Tool::both("tool", &names)?;
        Ok(Thread {
            client,
            base: self.base.clone(),
            token: self.token.clone(),
            endpoint,
            callback: callback.clone(),
            results: results.clone(),
            group: Uuid::new_v4().to_string(),
            count,
            read,
            sent: Mutex::default(),
            stray: Arc::default(),
            over: AtomicBool::new(false),
        })
    }
}

impl Peer for Rap {
    fn traits(&self) -> Traits {
        Traits {
            afterwards: Afterwards::AnyAnswer,
            confirms: false,
            shared: true,
            ordered: false,
            words: None,
        }
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Connection>, String>> {
        async { Ok(Arc::new(self.open().await?) as Arc<dyn Connection>) }.boxed()
    }

    fn name(&self) -> Option<String> {
        self.name.lock().clone()
    }
}

/// The calls that wait for results, by thread and id.
#[derive(Default)]
struct Results(Mutex<HashMap<(String, String), Arc<Call>>>);

async fn called_back(State(results): State<Arc<Results>>, Json(message): Json<Value>) {
    let word = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
    if message["type"] != "tool_result" {
        return;
    }
    if let Some(call) = results.0.lock().get(&(word("group_id"), word("id"))) {
        let text = message["text"]
            .as_str()
            .or_else(|| message.pointer("/content/0/text")?.as_str());
        call.saw(What::Answer(answer(text.unwrap_or_default())));
    }
}

/// A result is text. An error is text that says so.
fn answer(text: &str) -> Answer {
    let Some(error) = text.strip_prefix("Error: ") else {
        return Answer::Completed(serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    };
    if !error.to_lowercase().contains("cancel") {
        return Answer::Failed {
            code: "Error".into(),
            message: error.to_owned(),
        };
    }
    let grades = [
        "never-started",
        "dropped",
        "returned",
        "terminated",
        "abandoned",
    ];
    let stop = grades
        .into_iter()
        .find(|grade| error.contains(&format!("({grade})")));
    Answer::Cancelled {
        stop: stop.map(str::to_owned),
    }
}

/// A thread of a runtime.
struct Thread {
    client: Client,
    base: String,
    token: Option<String>,
    endpoint: String,
    callback: String,
    results: Arc<Results>,
    group: String,
    count: String,
    read: String,
    /// Whether the invocation of a call was acknowledged, by its id.
    sent: Mutex<HashMap<String, watch::Receiver<bool>>>,
    stray: Arc<Mutex<Vec<String>>>,
    over: AtomicBool,
}

impl Thread {
    fn invoke(&self, call: &Arc<Call>, new: &NewCall) -> watch::Receiver<bool> {
        let (acknowledged, sent) = watch::channel(false);
        let operation = if new.tool == Tool::Count {
            &self.count
        } else {
            &self.read
        };
        let body = json!({ "operation": operation, "arguments": new.arguments, "id": call.id, "callback_url": self.callback, "group_id": self.group });
        let request =
            http::with_token(self.client.post(&self.endpoint), self.token.as_deref()).json(&body);
        let call = call.clone();
        let is_first = call.events().is_empty();
        tokio::spawn(async move {
            match request.send().await {
                Ok(response) if response.status().is_success() => {}
                // A second invocation with the id may be refused: the first one's result is still to come.
                Ok(response) if is_first => call.saw(What::Closed(format!(
                    "the invocation was answered with {}",
                    response.status()
                ))),
                Err(error) => call.saw(What::Closed(http::innermost(&error))),
                Ok(_) => {}
            }
            acknowledged.send_replace(true);
        });
        sent
    }

    /// Sends a notification, once `after` is acknowledged.
    fn notify(
        &self,
        path: &str,
        body: Value,
        after: Option<watch::Receiver<bool>>,
    ) -> impl Future<Output = Result<(), String>> + Send + use<> {
        let request = http::with_token(
            self.client.post(format!("{}/{path}", self.base)),
            self.token.as_deref(),
        )
        .timeout(NOTIFICATION)
        .json(&body);
        let words = format!("{path} {}", shortened(&body.to_string()));
        async move {
            if let Some(mut after) = after {
                let _ = timeout(NOTIFICATION, after.wait_for(|it| *it)).await;
            }
            match request.send().await {
                Ok(response) if response.status().as_u16() == 200 => Ok(()),
                Ok(response) => Err(format!("{words}: {}", response.status())),
                Err(error) => Err(format!("{words}: {}", http::innermost(&error))),
            }
        }
    }
}

impl Connection for Thread {
    fn call(&self, new: NewCall) -> Arc<Call> {
        let call = Arc::new(Call::new(new.text_id(), new.key()));
        let name = call.id.as_str().unwrap_or_default().to_owned();
        self.results
            .0
            .lock()
            .insert((self.group.clone(), name.clone()), call.clone());
        let sent = self.invoke(&call, &new);
        self.sent.lock().insert(name, sent);
        call
    }

    fn cancel(&self, id: &Value, _reason: Option<&str>) -> Arc<Cancel> {
        let after = self
            .sent
            .lock()
            .get(id.as_str().unwrap_or_default())
            .cloned();
        let told = self.notify(
            "cancel_tool_call",
            json!({ "thread_id": self.group, "tool_call_id": id }),
            after,
        );
        let cancel = Arc::new(Cancel::acknowledged());
        let (stray, acknowledged) = (self.stray.clone(), cancel.clone());
        tokio::spawn(async move {
            if let Err(why) = told.await {
                stray.lock().push(why);
            }
            acknowledged.saw(Confirmation::default());
        });
        cancel
    }

    fn cancel_with(&self, _params: Value) -> bool {
        false
    }

    fn repeat(&self, call: &Call, again: NewCall) {
        let name = call.id.as_str().unwrap_or_default().to_owned();
        let first = self
            .results
            .0
            .lock()
            .get(&(self.group.clone(), name))
            .cloned();
        if let Some(first) = first {
            self.invoke(&first, &again);
        }
    }

    fn cut(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn end(&self) -> BoxFuture<'_, Result<(), String>> {
        self.notify("close_thread", json!({ "thread_id": self.group }), None)
            .boxed()
    }

    fn stray(&self) -> Vec<String> {
        std::mem::take(&mut self.stray.lock())
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
