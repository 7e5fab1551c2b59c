//! `POST {base}/cancel_tool_call` and `POST {base}/close_thread`: answered with an empty 200 at
//! once, whatever comes of them. Other workers are told: the call may be on any of them.
//!
//! A runtime tells every server of every call. So a notification about a call that is unknown here is
//! no error, whatever its ids look like.

use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;

use super::RapServer;
use super::body::read_json;
use super::target::Target;
use crate::cluster::Notice;
use crate::fronts::rap::names::{AnyServersId, Identifier};
use crate::fronts::rap::wire::{CancelToolCall, CloseThread};
use crate::fronts::rate_limit::RateLimiter;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::PeerAddress;
use crate::gateway::calls::{Canceller, Confirmation};
use crate::tokens::Identity;
use caphost::call::Stop;

/// How many bytes a notification may have: two ids, and room for members we do not know.
const BODY_BYTES: usize = 64 << 10;
/// The reason that the app is told.
const CANCELLED: &str = "The runtime has cancelled the tool call";
/// The same, when a thread is closed.
const CLOSED: &str = "The thread is closed";

/// Cancels the call, if thread and id are those of one that the caller may see.
pub(super) async fn cancel_tool_call(
    State(server): State<Arc<RapServer>>,
    target: Target,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (caller, app, notification) = server.read(target, request, &server.cancels).await?;
    let CancelToolCall::<AnyServersId> {
        thread_id,
        tool_call_id,
    } = notification;
    let (Some(thread_id), Some(tool_call_id)) = (thread_id.ours(), tool_call_id.ours()) else {
        return Ok(StatusCode::OK);
    };
    server.cancel(&thread_id, &tool_call_id, app.as_deref(), &caller);
    server.tell(|| Notice::CancelToolCall {
        thread_id: thread_id.to_string(),
        tool_call_id: tool_call_id.to_string(),
        app,
        by: caller,
    });
    Ok(StatusCode::OK)
}

/// Cancels the calls of a thread and forgets it.
pub(super) async fn close_thread(
    State(server): State<Arc<RapServer>>,
    target: Target,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (caller, app, notification) = server.read(target, request, &server.closures).await?;
    let CloseThread::<AnyServersId> { thread_id } = notification;
    let Some(thread_id) = thread_id.ours() else {
        return Ok(StatusCode::OK);
    };
    server.close(&thread_id, app.as_deref(), &caller);
    server.tell(|| Notice::CloseThread {
        thread_id: thread_id.to_string(),
        app,
        by: caller,
    });
    Ok(StatusCode::OK)
}

/// Does what other workers tell, as long as there is a server: a notification may have come to any
/// of them.
pub(super) async fn obey(
    server: Weak<RapServer>,
    told: Arc<Mutex<UnboundedReceiver<Notice>>>,
) -> ControlFlow<()> {
    let mut told = told.lock().await;
    while let Some(notice) = told.recv().await {
        let Some(server) = server.upgrade() else {
            break;
        };
        match notice {
            Notice::CancelToolCall {
                thread_id,
                tool_call_id,
                app,
                by,
            } => {
                if let (Some(thread), Some(call)) = (read(&thread_id), read(&tool_call_id)) {
                    server.cancel(&thread, &call, app.as_deref(), &by);
                }
            }
            Notice::CloseThread { thread_id, app, by } => {
                if let Some(thread) = read(&thread_id) {
                    server.close(&thread, app.as_deref(), &by);
                }
            }
            _ => {}
        }
    }
    ControlFlow::Break(())
}

/// Cancels a call and logs what came of it. The runtime learns that from the call's result.
async fn cancel(canceller: Canceller, reason: &'static str, thread_id: Identifier) {
    let Confirmation {
        cancelled,
        reason: why,
        error,
        stop,
        ..
    } = canceller.cancel(Some(reason.into())).await;
    match error {
        Some(error) => {
            let (code, message) = (&*error.code, &*error.message);
            tracing::warn!(?thread_id, code, message, "a tool call was not cancelled");
        }
        None => {
            let stop = stop.map(Stop::as_str);
            tracing::debug!(?thread_id, cancelled, why, stop, "cancel");
        }
    }
}

impl RapServer {
    /// Cancels a call here that `by` may see.
    pub(super) fn cancel(
        &self,
        thread_id: &Identifier,
        tool_call_id: &Identifier,
        app: Option<&str>,
        by: &Identity,
    ) {
        let found = self.threads.cancellers(thread_id, tool_call_id, app, by);
        if found.is_empty() {
            // Most often it has ended, or is another server's: every server is told.
            tracing::debug!(?thread_id, ?tool_call_id, "cancel: no such tool call");
        }
        for canceller in found {
            tokio::spawn(cancel(canceller, CANCELLED, thread_id.clone()));
        }
    }

    /// Closes a thread here that `by` may see.
    pub(super) fn close(&self, thread_id: &Identifier, app: Option<&str>, by: &Identity) {
        let closed = self.threads.take(thread_id, app, by);
        if closed.is_empty() {
            tracing::debug!(?thread_id, "close: no such thread");
        }
        for thread in closed {
            // Later calls with that thread id are in a new thread.
            for canceller in thread.close() {
                tokio::spawn(cancel(canceller, CLOSED, thread_id.clone()));
            }
        }
    }

    fn tell(&self, notice: impl FnOnce() -> Notice) {
        if let Some(workers) = self.hub.workers() {
            workers.tell_all(notice());
        }
    }

    async fn read<T: DeserializeOwned>(
        &self,
        target: Target,
        request: Request,
        limiter: &RateLimiter,
    ) -> Result<(Identity, Option<String>, T), Refusal> {
        let (parts, body) = request.into_parts();
        let (caller, app) = self.admit(target, &parts.headers, parts.uri.query())?;
        let peer = parts.extensions.get::<ConnectInfo<PeerAddress>>();
        let address: Option<IpAddr> = peer.map(|peer| peer.0.0.ip());
        limiter.check(&(&caller.name, address)).map_err(|wait| {
            Refusal::later(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many notifications",
                wait,
            )
        })?;
        let notification = read_json(&parts.headers, body, BODY_BYTES).await?;
        Ok((caller, app, notification))
    }
}

/// An id of another worker, which has checked it before.
fn read(id: &str) -> Option<Identifier> {
    let read = Identifier::new(id);
    read.inspect_err(|error| tracing::warn!(%error, "another worker names no RAP id"))
        .ok()
}
