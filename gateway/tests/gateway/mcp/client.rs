//! An MCP client in raw HTTP.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::support::*;

pub const LEGACY: &str = "2025-11-25";
pub const MODERN: &str = "2026-07-28";
pub const ALL_VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY, MODERN];

#[derive(Clone)]
pub struct Client {
    pub http: reqwest::Client,
    pub url: String,
    pub session: Option<String>,
    pub token: Option<String>,
}

impl Client {
    /// A client that has not sent anything yet.
    pub fn new(gateway: &Gateway, path: &str) -> Self {
        Client {
            http: http().build().unwrap(),
            url: format!("http://{}{path}", gateway.address),
            session: None,
            token: None,
        }
    }

    /// A client with a session.
    pub async fn open(gateway: &Gateway, path: &str) -> Self {
        let mut client = Client::new(gateway, path);
        client.initialize().await;
        client
    }

    pub async fn initialize(&mut self) -> Value {
        let response = self.post(&initialize(LEGACY)).await;
        assert_eq!(response.status(), 200);
        let session = response.headers()["mcp-session-id"].to_str().unwrap();
        self.session = Some(session.to_string());
        let answer = Events(response).last().await;
        let told = self
            .post(&notification("notifications/initialized", json!({})))
            .await;
        assert_eq!(told.status(), 202);
        answer
    }

    pub fn request(&self, method: Method) -> RequestBuilder {
        let mut request = self
            .http
            .request(method, &self.url)
            // A stream begins at once, so the test does not have to wait.
            .header("accept", "text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
            request = request.header("mcp-protocol-version", LEGACY);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        request
    }

    pub async fn send(&self, request: RequestBuilder) -> Response {
        soon("an answer", request.send()).await.unwrap()
    }

    pub async fn post(&self, body: &Value) -> Response {
        self.send(self.request(Method::POST).json(body)).await
    }

    /// Posts a text that need not be JSON.
    pub async fn post_text(&self, body: impl Into<reqwest::Body>) -> Response {
        let request = self.request(Method::POST).body(body);
        self.send(request.header("content-type", "application/json"))
            .await
    }

    /// Posts a request, and reads its stream as it comes.
    pub async fn stream(&self, body: &Value) -> Events {
        let response = self.post(body).await;
        assert_eq!(response.status(), 200);
        Events(response)
    }

    /// Posts a request, and waits for its answer.
    pub async fn ask(&self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        self.stream(&rpc(id, method, params)).await.last().await
    }

    pub async fn call_tool(&self, id: impl Into<Value>, name: &str) -> Events {
        let params = json!({ "name": name, "arguments": {} });
        self.stream(&rpc(id, "tools/call", params)).await
    }

    pub async fn cancel(&self, id: impl Into<Value>, reason: &str) {
        let params = json!({ "requestId": id.into(), "reason": reason });
        let answer = self
            .post(&notification("notifications/cancelled", params))
            .await;
        assert_eq!(answer.status(), 202);
    }

    /// A stream of messages that answer no request.
    pub async fn listen(&self) -> Events {
        let response = self.send(self.request(Method::GET)).await;
        assert_eq!(response.status(), 200);
        Events(response)
    }
}

/// The messages of one response.
pub struct Events(pub Response);

impl Events {
    /// The next message, or `None` if the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        // The timeout is for the whole message, because comments come all the time.
        soon("an event", self.message()).await
    }

    async fn message(&mut self) -> Option<Value> {
        if self.0.headers()["content-type"] == "application/json" {
            let mut text = Vec::new();
            while let Some(chunk) = self.0.chunk().await.unwrap() {
                text.extend_from_slice(&chunk);
            }
            return (!text.is_empty()).then(|| serde_json::from_slice(&text).unwrap());
        }
        let mut text = Vec::new();
        loop {
            let chunk = self.0.chunk().await.unwrap()?;
            text.extend_from_slice(&chunk);
            if !text.ends_with(b"\n\n") {
                continue;
            }
            let whole = String::from_utf8(std::mem::take(&mut text)).unwrap();
            assert!(!whole.contains("id:"), "no event has an id: {whole}");
            let data: String = whole
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .collect();
            if !data.is_empty() {
                return Some(serde_json::from_str(data.trim()).unwrap());
            }
        }
    }

    /// The last message of the stream.
    pub async fn last(mut self) -> Value {
        let mut last = None;
        while let Some(message) = self.next().await {
            last = Some(message);
        }
        last.expect("an answer")
    }
}

pub fn rpc(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub fn initialize(version: &str) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
    rpc(0, "initialize", params)
}

/// A request of version 2026-07-28.
pub fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    let mut meta = params["_meta"].take();
    if meta.is_null() {
        meta = json!({});
    }
    meta[key("protocolVersion")] = json!(MODERN);
    meta[key("clientInfo")] = json!({ "name": "test", "version": "1" });
    meta[key("clientCapabilities")] = json!({});
    params["_meta"] = meta;
    rpc(id, method, params)
}
