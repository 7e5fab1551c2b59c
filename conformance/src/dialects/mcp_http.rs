//! Streamable HTTP of MCP: each message is a request of its own, answered as JSON or as a stream of events.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use sse_stream::SseStream;
use tokio::sync::watch;

use crate::http;
use crate::rpc::connection::Transport;
use crate::rpc::pending::Pending;

/// The version that the suite speaks.
pub const VERSION: &str = "2025-11-25";

/// How long the end of a session may take.
const END: Duration = Duration::from_secs(5);

/// A session over HTTP.
#[derive(Clone)]
pub struct Http(Arc<Shared>);

struct Shared {
    client: Client,
    url: String,
    token: Option<String>,
    session: Mutex<Option<String>>,
    pending: Arc<Pending>,
    over: watch::Sender<bool>,
}

impl Http {
    pub fn new(url: &str, token: Option<&str>, pending: Arc<Pending>) -> Self {
        Self(Arc::new(Shared {
            client: http::client(),
            url: url.to_owned(),
            token: token.map(str::to_owned),
            session: Mutex::default(),
            pending,
            over: watch::Sender::new(false),
        }))
    }

    fn headers(&self, request: RequestBuilder) -> RequestBuilder {
        let request = http::with_token(request, self.0.token.as_deref());
        match &*self.0.session.lock() {
            Some(session) => request
                .header("mcp-session-id", session)
                .header("mcp-protocol-version", VERSION),
            None => request,
        }
    }

    /// Does `work` in a task that ends when the connection is cut.
    fn until_cut(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut over = self.0.over.subscribe();
        tokio::spawn(async move {
            tokio::select! {
                () = work => {}
                _ = over.wait_for(|it| *it) => {}
            }
        });
    }

    async fn post(&self, message: Value) -> Result<(), String> {
        let request = self
            .headers(self.0.client.post(&self.0.url))
            .header("accept", "application/json, text/event-stream");
        let response = request
            .json(&message)
            .send()
            .await
            .map_err(|error| http::innermost(&error))?;
        if let Some(session) = response
            .headers()
            .get("mcp-session-id")
            .and_then(|it| it.to_str().ok())
        {
            self.0
                .session
                .lock()
                .get_or_insert_with(|| session.to_owned());
        }
        if message["method"] == "notifications/initialized" {
            self.listen();
        }
        if response.status() == StatusCode::NOT_FOUND {
            self.0.over.send_replace(true);
        }
        let status = response.status();
        self.read(response).await?;
        if status.is_success() {
            Ok(())
        } else {
            Err(format!("HTTP {status}"))
        }
    }

    /// Listens to what the server says beside its answers, if it offers that.
    fn listen(&self) {
        let this = self.clone();
        self.until_cut(async move {
            let request = this
                .headers(this.0.client.get(&this.0.url))
                .header("accept", "text/event-stream");
            if let Ok(response) = request.send().await
                && response.status().is_success()
            {
                let _ = this.read(response).await;
            }
        });
    }

    async fn read(&self, response: Response) -> Result<(), String> {
        let is_stream = response
            .headers()
            .get("content-type")
            .is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
        let is_refused = !response.status().is_success();
        if !is_stream {
            let body = response
                .bytes()
                .await
                .map_err(|error| http::innermost(&error))?;
            if let Ok(message) = serde_json::from_slice::<Value>(&body)
                && message.is_object()
                // A body that says why a notification is refused is no message.
                && !(is_refused && message.get("id").is_none_or(Value::is_null))
            {
                self.receive(message);
            }
            return Ok(());
        }
        let mut events = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| error.to_string())?;
            if let Some(message) = event.data.and_then(|data| serde_json::from_str(&data).ok()) {
                self.receive(message);
            }
        }
        Ok(())
    }

    fn receive(&self, message: Value) {
        if let Some(reply) = self.0.pending.receive(message) {
            self.send(reply);
        }
    }
}

impl Transport for Http {
    fn send(&self, message: Value) {
        let this = self.clone();
        self.until_cut(async move {
            let id = message
                .get("id")
                .filter(|_| message.get("method").is_some())
                .cloned();
            let ended = this.post(message).await;
            if let Some(id) = id {
                this.0.pending.lose(
                    &id,
                    &ended
                        .err()
                        .unwrap_or_else(|| "the response has ended".into()),
                );
            }
        });
    }

    fn cut(&self) {
        self.0.over.send_replace(true);
        self.0.pending.close("cut");
    }

    fn end(&self) -> BoxFuture<'_, Result<(), String>> {
        async move {
            let answer = self
                .headers(self.0.client.delete(&self.0.url))
                .timeout(END)
                .send()
                .await;
            let status = answer.map_err(|error| http::innermost(&error))?.status();
            if status.is_success() {
                Ok(())
            } else {
                Err(format!("DELETE was answered with {status}"))
            }
        }
        .boxed()
    }

    fn is_over(&self) -> bool {
        *self.0.over.borrow()
    }
}
