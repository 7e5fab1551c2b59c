//! A RAP runtime, which sends requests to the tool server and receives callbacks.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::support::*;

/// A result, or the body that was sent instead.
#[derive(Clone, Debug)]
pub struct Taken {
    pub at: Instant,
    pub path: String,
    pub headers: axum::http::HeaderMap,
    pub body: Value,
}

/// Receives callbacks. It answers `/ok` with 200, and `/status/503,404` with each status in turn and then
/// with 200. `/redirect` points to `/ok`, and `/hang` is never answered.
pub struct Receiver {
    pub address: SocketAddr,
    taken: watch::Receiver<Vec<Taken>>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone)]
struct Shared {
    took: Arc<watch::Sender<Vec<Taken>>>,
    tries: Arc<Mutex<HashMap<String, usize>>>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        Self::on(listener)
    }

    pub fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let (took, taken) = watch::channel(Vec::new());
        let shared = Shared {
            took: Arc::new(took),
            tries: Arc::default(),
        };
        let router = Router::new().fallback(take).with_state(shared);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Receiver {
            address,
            taken,
            task,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn taken(&self) -> Vec<Taken> {
        self.taken.borrow().clone()
    }

    /// Waits until `count` callbacks were received.
    pub async fn took(&self, count: usize) -> Vec<Taken> {
        let mut taken = self.taken.clone();
        let enough = taken.wait_for(|taken| taken.len() >= count);
        soon("a callback", enough).await.unwrap().clone()
    }

    /// The body of the only callback.
    pub async fn result(&self) -> Value {
        let taken = self.took(1).await;
        assert_eq!(taken.len(), 1, "{taken:?}");
        taken[0].body.clone()
    }
}

async fn take(State(shared): State<Shared>, request: Request) -> Response {
    let path = request.uri().path().to_string();
    let headers = request.headers().clone();
    assert_eq!(request.method(), "POST");
    let body = axum::body::to_bytes(request.into_body(), 64 << 20)
        .await
        .unwrap();
    let body = serde_json::from_slice(&body).unwrap();
    let tries = {
        let mut tries = shared.tries.lock().unwrap();
        let tries = tries.entry(path.clone()).or_default();
        *tries += 1;
        *tries
    };
    let taken = Taken {
        at: Instant::now(),
        path: path.clone(),
        headers,
        body,
    };
    shared.took.send_modify(|all| all.push(taken));
    if path.starts_with("/hang") {
        std::future::pending::<()>().await;
    }
    if path.starts_with("/slow") {
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    if path == "/redirect" {
        return Redirect::temporary("/ok").into_response();
    }
    let statuses = path.strip_prefix("/status/").unwrap_or_default();
    let status = statuses
        .split(',')
        .nth(tries - 1)
        .and_then(|status| status.parse().ok());
    StatusCode::from_u16(status.unwrap_or(200))
        .unwrap()
        .into_response()
}

/// Waits until `count` results have been delivered or given up. None of them is sent again.
pub async fn delivered(gateway: &Gateway, count: u64) {
    let ended = || {
        let readings = gateway.hub.readings();
        let text = gateway.hub.metrics.render(readings);
        let results = ["delivered", "failed"].map(|result| {
            let name = format!("caphost_callbacks_total{{result=\"{result}\"}} ");
            let sample = text.lines().find_map(|line| line.strip_prefix(&name));
            sample.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0)
        });
        results.iter().sum::<u64>()
    };
    let wait = async {
        while ended() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the end of the deliveries", wait).await;
    assert_eq!(ended(), count);
}

/// Sends requests to a tool server.
#[derive(Clone)]
pub struct Runtime {
    pub http: reqwest::Client,
    pub base: String,
    token: Option<&'static str>,
}

impl Runtime {
    pub fn new(gateway: &Gateway, base: &str) -> Self {
        Runtime {
            http: http_within(Duration::from_secs(20)),
            base: format!("http://{}{base}", gateway.address),
            token: None,
        }
    }

    pub fn with_token(self, token: &'static str) -> Self {
        Runtime {
            token: Some(token),
            ..self
        }
    }

    pub async fn manifest(&self, query: &str) -> (u16, Value) {
        let request = self
            .http
            .get(format!("{}/.well-known/rap-toolset{query}", self.base));
        let response = soon("the manifest", self.authorised(request).send())
            .await
            .unwrap();
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Posts JSON. Returns the status and the body.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, String) {
        self.post_text(path, Some("application/json"), body.to_string())
            .await
    }

    pub async fn post_text(
        &self,
        path: &str,
        kind: Option<&str>,
        body: impl Into<reqwest::Body>,
    ) -> (u16, String) {
        let mut request = self.http.post(format!("{}{path}", self.base)).body(body);
        if let Some(kind) = kind {
            request = request.header(CONTENT_TYPE, kind);
        }
        let response = soon("an answer", self.authorised(request).send())
            .await
            .unwrap();
        let status = response.status().as_u16();
        (status, response.text().await.unwrap())
    }

    /// Invokes a tool. The invocation must be accepted.
    pub async fn invoke(
        &self,
        receiver: &Receiver,
        tool: &str,
        thread: &str,
        id: &str,
        arguments: Value,
    ) {
        let message = invocation(&receiver.url("/ok"), tool, thread, id, arguments);
        assert_eq!(self.post("/invoke", &message).await, (200, String::new()));
    }

    /// Cancels a call. The notification must be accepted.
    pub async fn cancel(&self, thread: &str, id: &str) {
        let message = json!({ "thread_id": thread, "tool_call_id": id });
        assert_eq!(
            self.post("/cancel_tool_call", &message).await,
            (200, String::new())
        );
    }

    /// Closes a thread. The notification must be accepted.
    pub async fn close(&self, thread: &str) {
        let message = json!({ "thread_id": thread });
        assert_eq!(
            self.post("/close_thread", &message).await,
            (200, String::new())
        );
    }

    fn authorised(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }
}

pub fn invocation(
    callback_url: &str,
    tool: &str,
    thread: &str,
    id: &str,
    arguments: Value,
) -> Value {
    json!({ "operation": tool, "arguments": arguments, "id": id, "callback_url": callback_url, "group_id": thread })
}
