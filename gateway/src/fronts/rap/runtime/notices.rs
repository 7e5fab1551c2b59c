//! Notifications to every tool server: a call was cancelled, a thread was closed.
//!
//! Best effort: each is sent once to each server, to all at the same time, and nobody waits.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::app::KeepAlive;
use super::client::ToolServerClient;
use super::options::RuntimeLimits;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{
    CANCEL_TOOL_CALL_PATH, CLOSE_THREAD_PATH, CancelToolCall, CloseThread,
};

/// An invocation that may still be on its way.
pub(super) struct Underway {
    /// To which server.
    pub server: Arc<ToolServerClient>,
    /// Ends when the server has acknowledged it, or has failed for good.
    pub delivery: JoinHandle<()>,
}

/// Notifies every tool server.
pub(super) struct Notices {
    servers: Vec<Arc<ToolServerClient>>,
    tasks: Handle,
    limits: Arc<RuntimeLimits>,
}

impl Notices {
    pub fn new(
        servers: Vec<Arc<ToolServerClient>>,
        tasks: Handle,
        limits: Arc<RuntimeLimits>,
    ) -> Self {
        Notices {
            servers,
            tasks,
            limits,
        }
    }

    /// A call was cancelled. Its own server is told only once it has acknowledged the invocation, or
    /// has taken too long: before that it would not know the call.
    pub fn cancelled(
        &self,
        thread_id: &Identifier,
        tool_call_id: &Identifier,
        underway: Option<Underway>,
        keep: &KeepAlive,
    ) {
        let notice = CancelToolCall {
            thread_id: thread_id.clone(),
            tool_call_id: tool_call_id.clone(),
        };
        self.send(CANCEL_TOOL_CALL_PATH, &notice, underway, keep);
    }

    /// A thread was closed.
    pub fn closed(&self, thread_id: &Identifier, keep: &KeepAlive) {
        let notice = CloseThread {
            thread_id: thread_id.clone(),
        };
        self.send(CLOSE_THREAD_PATH, &notice, None, keep);
    }

    fn send(
        &self,
        path: &'static str,
        notice: &impl Serialize,
        mut underway: Option<Underway>,
        keep: &KeepAlive,
    ) {
        let Ok(body) = serde_json::to_vec(notice).map(Bytes::from) else {
            return;
        };
        for server in &self.servers {
            let awaited = underway.take_if(|it| Arc::ptr_eq(&it.server, server));
            let (server, body, keep) = (server.clone(), body.clone(), keep.clone());
            let patience = self.limits.notice_timeout;
            self.tasks.spawn(async move {
                let _keep = keep;
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
