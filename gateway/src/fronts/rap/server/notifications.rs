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

use super::request::{Target, read_json};
use super::state::RapServer;
use crate::cluster::Notice;
use crate::fronts::rap::names::{AnyServersId, Identifier};
use crate::fronts::rap::wire::{CancelToolCall, CloseThread};
use crate::fronts::rate_limit::RateLimiter;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::PeerAddress;
use crate::gateway::calls::Canceller;
use crate::tokens::Identity;
use crate::wire::for_log;
use caphost::call::Stop;

/// How many bytes a notification may have: two ids, and room for members we do not know.
const BODY_BYTES: usize = 64 << 10;
/// The reason that the app is told.
const CANCELLED: &str = "The runtime has cancelled the tool call";
/// The reason that the app is told when a thread is closed.
const CLOSED: &str = "The thread is closed";

/// Cancels the call, if thread and id are those of one that the caller may see.
pub(super) async fn cancel_tool_call(
    State(server): State<Arc<RapServer>>,
    target: Target,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (by, app, notification) = server.read(target, request, &server.cancels).await?;
    let CancelToolCall::<AnyServersId> {
        thread_id,
        tool_call_id,
    } = notification;
    if let (Some(thread), Some(call)) = (thread_id.ours(), tool_call_id.ours()) {
        let call = Some(call);
        server.cancel_everywhere(Meant {
            thread,
            call,
            app,
            by,
        });
    }
    Ok(StatusCode::OK)
}

/// Cancels the calls of a thread. Later ones in a thread of that id are not concerned.
pub(super) async fn close_thread(
    State(server): State<Arc<RapServer>>,
    target: Target,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (by, app, notification) = server.read(target, request, &server.closures).await?;
    let CloseThread::<AnyServersId> { thread_id } = notification;
    if let Some(thread) = thread_id.ours() {
        let call = None;
        server.cancel_everywhere(Meant {
            thread,
            call,
            app,
            by,
        });
    }
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
        if let Some(meant) = Meant::told(notice) {
            server.cancel(&meant);
        }
    }
    ControlFlow::Break(())
}

/// What is to be cancelled.
struct Meant {
    thread: Identifier,
    /// One call of the thread; without it the thread is closed.
    call: Option<Identifier>,
    app: Option<String>,
    by: Identity,
}

impl Meant {
    /// What another worker tells, if it is about tool calls.
    fn told(notice: Notice) -> Option<Self> {
        let (thread, call, app, by) = match notice {
            Notice::CancelToolCall {
                thread_id,
                tool_call_id,
                app,
                by,
            } => (thread_id, Some(tool_call_id), app, by),
            Notice::CloseThread { thread_id, app, by } => (thread_id, None, app, by),
            _ => return None,
        };
        // That worker has checked them before.
        let read = |id: String| {
            let read = Identifier::new(&id);
            read.inspect_err(|error| tracing::warn!(%error, "another worker names no RAP id"))
        };
        Some(Meant {
            thread: read(thread).ok()?,
            call: call.map(read).transpose().ok()?,
            app,
            by,
        })
    }

    fn notice(self) -> Notice {
        let Meant {
            thread, app, by, ..
        } = self;
        let thread_id = thread.to_string();
        match self.call {
            Some(call) => Notice::CancelToolCall {
                thread_id,
                tool_call_id: call.to_string(),
                app,
                by,
            },
            None => Notice::CloseThread { thread_id, app, by },
        }
    }
}

impl RapServer {
    fn cancel_everywhere(self: &Arc<Self>, meant: Meant) {
        self.cancel(&meant);
        if let Some(workers) = self.hub.workers() {
            workers.tell_all(meant.notice());
        }
    }

    /// Cancels what is meant of the calls here.
    fn cancel(self: &Arc<Self>, meant: &Meant) {
        let Meant {
            thread,
            call,
            app,
            by,
        } = meant;
        let (found, reason) = match call {
            Some(call) => {
                let found = self.calls.cancellers(thread, call, app.as_deref(), by);
                (found, CANCELLED)
            }
            None => {
                let found = self.calls.close(thread, app.as_deref(), by);
                self.sessions.close_thread(thread.as_str(), |owner, its| {
                    app.as_deref().is_none_or(|app| its == Some(app)) && by.may_see(owner, its)
                });
                (found, CLOSED)
            }
        };
        if found.is_empty() {
            // Most often it has ended, or is another server's: every server is told.
            tracing::debug!(?thread, ?call, "cancel: no such tool call");
        }
        for canceller in found {
            let server = self.clone();
            tokio::spawn(server.see_cancelled(canceller, reason, thread.clone(), by.clone()));
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
        let network: Option<IpAddr> = peer.map(|peer| peer.0.network());
        limiter.check(&(&caller.name, network)).map_err(|wait| {
            Refusal::later(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many notifications",
                wait,
            )
        })?;
        let notification = read_json(&parts.headers, body, BODY_BYTES).await?;
        Ok((caller, app, notification))
    }

    /// Cancels a call and logs what came of it. The runtime learns that from the call's result.
    async fn see_cancelled(
        self: Arc<Self>,
        canceller: Canceller,
        reason: &'static str,
        thread_id: Identifier,
        by: Identity,
    ) {
        let confirmation = canceller.cancel(Some(reason.into())).await;
        let cancelled = confirmation.cancelled();
        let stop = confirmation.stop.map(Stop::as_str);
        let why = confirmation.reason.map(for_log);
        let Some(error) = confirmation.error else {
            tracing::debug!(?thread_id, cancelled, why, stop, "cancel");
            return;
        };
        let (code, message) = (for_log(error.code), for_log(error.message));
        match self.said.not_cancelled.is_due(&by.name) {
            Some(passed_over) => {
                let by = &*by.name;
                tracing::warn!(
                    ?thread_id,
                    code,
                    message,
                    by,
                    passed_over,
                    "a tool call was not cancelled"
                );
            }
            None => tracing::debug!(?thread_id, code, message, "a tool call was not cancelled"),
        }
    }
}
