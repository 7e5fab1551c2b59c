//! HTTP to one tool server.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use bytes::Bytes;
use reqwest::{Client, Method, RequestBuilder, Response};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use url::Url;

use super::options::RuntimeLimits;
use super::tool_server::ToolServer;
use super::toolset;
use crate::fronts::rap::wire::{TOOLSET_PATH, Toolset};
use crate::gateway::metrics::Metrics;

const JSON: &str = "application/json";

/// Sends requests to one tool server, with its token.
pub(super) struct ToolServerClient {
    pub server: ToolServer,
    http: Client,
    limits: Arc<RuntimeLimits>,
    metrics: Arc<Metrics>,
    invocations: Semaphore,
    notices: Semaphore,
}

impl ToolServerClient {
    pub fn new(
        server: ToolServer,
        http: Client,
        limits: Arc<RuntimeLimits>,
        metrics: Arc<Metrics>,
    ) -> Self {
        ToolServerClient {
            server,
            http,
            invocations: Semaphore::new(limits.invocations_at_once),
            notices: Semaphore::new(limits.notices_at_once),
            limits,
            metrics,
        }
    }

    /// The toolset, and the text it was read from.
    pub async fn toolset(&self) -> Result<(Vec<u8>, Toolset), String> {
        let within = self.limits.toolset_timeout;
        let request = self.request(Method::GET, &self.server.at(TOOLSET_PATH), within)?;
        let sent = request.header(ACCEPT, JSON).send().await;
        let mut response = sent.map_err(describe)?;
        if !response.status().is_success() {
            return Err(format!("answered {}", response.status()));
        }
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(describe)? {
            if text.len() + chunk.len() > self.limits.toolset_bytes {
                return Err(format!("more than {} bytes", self.limits.toolset_bytes));
            }
            text.extend_from_slice(&chunk);
        }
        let toolset = toolset::read(&text)?;
        Ok((text, toolset))
    }

    /// Waits for the turn to send an invocation.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.invocations.acquire().await.ok()
    }

    /// Sends an invocation once. The answer's body is not read.
    pub async fn invoke(&self, endpoint: &Url, body: Bytes) -> Result<Response, reqwest::Error> {
        let within = self.limits.invoke_timeout;
        let request = self.to(Method::POST, endpoint.clone(), within);
        request.header(CONTENT_TYPE, JSON).body(body).send().await
    }

    /// Sends a notification once, whether or not it gets through. Takes no longer than the notice
    /// timeout.
    pub async fn notify(&self, path: &str, body: Bytes) {
        let within = self.limits.notice_timeout;
        let sending = async {
            let _turn = self.notices.acquire().await;
            let request = self.request(Method::POST, &self.server.at(path), within)?;
            let sent = request.header(CONTENT_TYPE, JSON).body(body).send().await;
            sent.map(|answer| answer.status()).map_err(describe)
        };
        let counters = &self.metrics.tool_servers;
        let lost = match timeout(within, sending).await {
            Ok(Ok(status)) if status.is_success() => return counters.notices.add(),
            Ok(Ok(status)) => format!("answered {status}"),
            Ok(Err(error)) => error,
            Err(_) => format!("no answer within {within:?}"),
        };
        counters.notices_lost.add();
        tracing::debug!(server = ?self.server, path, lost, "notification not acknowledged");
    }

    fn request(
        &self,
        method: Method,
        url: &str,
        within: Duration,
    ) -> Result<RequestBuilder, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        Ok(self.to(method, url, within))
    }

    fn to(&self, method: Method, url: Url, within: Duration) -> RequestBuilder {
        let authorization = self.server.authorization(&url).cloned();
        let request = self.http.request(method, url).timeout(within);
        match authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }
}

/// What went wrong, with its causes, and without the URL, which may hold a secret.
pub(super) fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        text.push_str(": ");
        text.push_str(&found.to_string());
        cause = found.source();
    }
    text
}
