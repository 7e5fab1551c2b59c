//! HTTP requests to tool servers: reading a toolset, sending invocations, and notifying all servers.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use bytes::Bytes;
use reqwest::{Method, RequestBuilder, Response};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use url::Url;

use super::options::{RuntimeLimits, ToolServer};
use crate::fronts::rap::egress::{Clients, Egress};
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{
    CANCEL_TOOL_CALL_PATH, CLOSE_THREAD_PATH, CancelToolCall, CloseThread, TOOLSET_PATH,
};
use crate::gateway::Connected;
use crate::gateway::metrics::Metrics;
use crate::limits::REGISTRATION_BYTES;

const JSON: &str = "application/json";

/// How long a tool server may take to answer with its toolset.
pub(crate) const TOOLSET_TIMEOUT: Duration = Duration::from_secs(5);
/// The size of the largest toolset: 1020 KiB. This leaves room for the app in the registration.
pub(crate) const TOOLSET_BYTES: usize = REGISTRATION_BYTES - (4 << 10);
/// How many notifications are sent to one tool server at once. Further notifications wait, and the wait
/// counts towards the notice timeout.
pub(crate) const NOTICES_AT_ONCE: usize = 64;

/// Sends requests to one tool server, with its token.
pub(super) struct ToolServerClient {
    pub server: ToolServer,
    pub limits: RuntimeLimits,
    /// The Tokio runtime that runs the requests.
    pub tasks: Handle,
    /// The clients for the server's host, which the operator has named, and for the endpoint's host, which
    /// the server has named.
    pub clients: Clients,
    metrics: Arc<Metrics>,
    invocations: Semaphore,
    notices: Semaphore,
}

impl ToolServerClient {
    pub fn new(server: ToolServer, limits: RuntimeLimits, metrics: Arc<Metrics>) -> Self {
        let egress = Egress::besides(server.base());
        ToolServerClient {
            server,
            tasks: Handle::current(),
            clients: Clients::new(egress, limits.invoke_timeout),
            invocations: Semaphore::new(limits.invocations_at_once),
            notices: Semaphore::new(NOTICES_AT_ONCE),
            limits,
            metrics,
        }
    }

    /// Reads the text of the toolset.
    pub async fn toolset(&self) -> Result<Vec<u8>, String> {
        let url = self.server.at(TOOLSET_PATH);
        let request = self.request(Method::GET, url, TOOLSET_TIMEOUT);
        let sent = request.header(ACCEPT, JSON).send().await;
        let mut response = sent.map_err(describe)?;
        if !response.status().is_success() {
            return Err(format!("answered {}", response.status()));
        }
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(describe)? {
            if text.len() + chunk.len() > TOOLSET_BYTES {
                return Err(format!("more than {TOOLSET_BYTES} bytes"));
            }
            text.extend_from_slice(&chunk);
        }
        Ok(text)
    }

    /// Waits for a turn to send an invocation.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.invocations.acquire().await.ok()
    }

    /// Sends an invocation once. Does not read the answer's body.
    pub async fn invoke(&self, endpoint: &Url, body: Bytes) -> Result<Response, reqwest::Error> {
        let within = self.limits.invoke_timeout;
        self.post(endpoint.clone(), within, body).send().await
    }

    /// Sends a notification once, whether or not it arrives. Takes no longer than the notice timeout.
    pub async fn notify(&self, path: &str, body: Bytes) {
        let within = self.limits.notice_timeout;
        let sending = async {
            let _turn = self.notices.acquire().await;
            let sent = self.post(self.server.at(path), within, body).send().await;
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

    fn post(&self, url: Url, within: Duration, body: Bytes) -> RequestBuilder {
        let request = self.request(Method::POST, url, within);
        request.header(CONTENT_TYPE, JSON).body(body)
    }

    fn request(&self, method: Method, url: Url, within: Duration) -> RequestBuilder {
        let authorization = self.server.authorization(&url).cloned();
        let request = self.clients.to(&url).request(method, url);
        let request = request.timeout(within);
        match authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }
}

/// An invocation that may still be on its way.
pub(super) struct Underway {
    /// The server of the invocation.
    pub server: Arc<ToolServerClient>,
    /// The delivery task. It ends when the server has acknowledged the invocation or has failed for good.
    pub delivery: JoinHandle<()>,
}

/// Notifies every tool server of a cancelled call or a closed thread. This is best effort: each server is
/// told once, all servers at the same time, and nobody waits.
pub(super) struct Notices(pub Vec<Arc<ToolServerClient>>);

impl Notices {
    /// A call was cancelled. The call's own server is told only after it has acknowledged the invocation or
    /// has taken too long, because before that it does not know the call.
    pub fn cancelled(
        &self,
        thread_id: &Identifier,
        tool_call_id: &Identifier,
        underway: Option<Underway>,
        keep: &Arc<Connected>,
    ) {
        let notice = CancelToolCall {
            thread_id: thread_id.to_string(),
            tool_call_id: tool_call_id.to_string(),
        };
        self.send(CANCEL_TOOL_CALL_PATH, &notice, underway, keep);
    }

    /// A thread was closed.
    pub fn closed(&self, thread_id: &Identifier, keep: &Arc<Connected>) {
        let notice = CloseThread {
            thread_id: thread_id.to_string(),
        };
        self.send(CLOSE_THREAD_PATH, &notice, None, keep);
    }

    fn send(
        &self,
        path: &'static str,
        notice: &impl Serialize,
        mut underway: Option<Underway>,
        keep: &Arc<Connected>,
    ) {
        let Ok(body) = serde_json::to_vec(notice).map(Bytes::from) else {
            return;
        };
        for server in &self.0 {
            let awaited = underway.take_if(|it| Arc::ptr_eq(&it.server, server));
            let tasks = &server.tasks;
            let (server, body, keep) = (server.clone(), body.clone(), keep.clone());
            tasks.spawn(async move {
                let (_keep, patience) = (keep, server.limits.notice_timeout);
                if let Some(Underway { mut delivery, .. }) = awaited
                    && timeout(patience, &mut delivery).await.is_err()
                {
                    delivery.abort();
                }
                server.notify(path, body).await;
            });
        }
    }
}

/// The error with its causes, but without the URL, which may contain a secret.
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
