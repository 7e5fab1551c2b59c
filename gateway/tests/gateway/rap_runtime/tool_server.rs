//! A tool server that follows the test's instructions.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Invoked;
use crate::support::soon;

/// A request that a tool server has received.
pub struct Received {
    pub path: String,
    pub authorization: Option<String>,
    pub body: Value,
}

/// A tool server that follows the test's instructions.
pub struct Tools {
    pub base: String,
    pub wishes: Arc<Wishes>,
    pub received: mpsc::UnboundedReceiver<Received>,
    serving: JoinHandle<()>,
}

pub struct Wishes {
    pub toolset: Mutex<Value>,
    /// The statuses of the next answers, by path. Without an entry the status is 200. The value 0 means no
    /// answer.
    answers: Mutex<HashMap<&'static str, VecDeque<u16>>>,
    received: mpsc::UnboundedSender<Received>,
}

impl Tools {
    pub async fn start(name: &str) -> Self {
        Self::at(name, "127.0.0.1:0").await
    }

    pub async fn at(name: &str, address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let base = format!("http://{}/base", listener.local_addr().unwrap());
        let (to_test, received) = mpsc::unbounded_channel();
        let wishes = Arc::new(Wishes {
            toolset: Mutex::new(toolset(name, &base, &["work"])),
            answers: Mutex::default(),
            received: to_test,
        });
        let router = Router::new()
            .fallback(answer_as_wished)
            .with_state(wishes.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Tools {
            base,
            wishes,
            received,
            serving,
        }
    }

    pub fn wish(&self, path: &'static str, answers: impl IntoIterator<Item = u16>) {
        let mut wishes = self.wishes.answers.lock().unwrap();
        wishes.entry(path).or_default().extend(answers);
    }

    /// The next request, which must be for that path.
    pub async fn next(&mut self, path: &str) -> Value {
        let received = soon(path, self.received.recv()).await.unwrap();
        assert_eq!(received.path, path, "{}", received.body);
        received.body
    }

    pub async fn invoked(&mut self) -> Invoked {
        Invoked(self.next("/base/invoke").await)
    }

    /// Stops the server and closes all of its connections.
    pub async fn stop(self) -> String {
        self.serving.abort();
        let _ = self.serving.await;
        self.base
    }
}

async fn answer_as_wished(
    State(wishes): State<Arc<Wishes>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let path = uri.path().to_string();
    if path == "/base/.well-known/rap-toolset" {
        return (StatusCode::OK, wishes.toolset.lock().unwrap().to_string());
    }
    assert_eq!(headers["content-type"], "application/json");
    let authorization = headers.get("authorization");
    let received = Received {
        authorization: authorization.map(|it| it.to_str().unwrap().to_string()),
        body: serde_json::from_slice(&body).unwrap(),
        path,
    };
    let wish = {
        let mut answers = wishes.answers.lock().unwrap();
        let path = received.path.as_str();
        let wished = answers.iter_mut().find(|(it, _)| path.ends_with(**it));
        wished.and_then(|(_, answers)| answers.pop_front())
    };
    let _ = wishes.received.send(received);
    match wish.unwrap_or(200) {
        0 => std::future::pending().await,
        status => (StatusCode::from_u16(status).unwrap(), "not read".into()),
    }
}

pub fn toolset(name: &str, base: &str, tools: &[&str]) -> Value {
    let tool = |name: &&str| json!({ "name": name, "description": "d", "inputSchema": { "type": "object" } });
    let tools: Vec<_> = tools.iter().map(tool).collect();
    json!({ "name": name, "endpoint": format!("{base}/invoke"), "tools": tools })
}
