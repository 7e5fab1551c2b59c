//! `POST {base}/cancel_tool_call` and `POST {base}/close_thread`: answered with an empty 200 at
//! once, whatever comes of them. Other workers are told: the call may be on any of them.
//!
//! A runtime tells every server of every call. So a notification about a call that is unknown here is
//! no error, whatever its ids look like.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use super::request::{Target, read_json};
use super::state::RapServer;
use crate::cluster::Notice;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{CancelToolCall, CloseThread};
use crate::fronts::rate_limit::RateLimiter;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::PeerAddress;
use crate::gateway::calls::Canceller;
use crate::seldom::SeldomOf;
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
    let CancelToolCall {
        thread_id,
        tool_call_id,
    } = notification;
    if may_be_ours(&thread_id) && may_be_ours(&tool_call_id) {
        server.cancel_everywhere(Notice::CancelToolCall {
            thread_id,
            tool_call_id,
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
    let CloseThread { thread_id } = notification;
    if may_be_ours(&thread_id) {
        server.cancel_everywhere(Notice::CloseThread { thread_id, app, by });
    }
    Ok(StatusCode::OK)
}

/// Whether it is an id that a call or a thread here may have.
fn may_be_ours(id: &str) -> bool {
    Identifier::new(id).is_ok()
}

impl RapServer {
    fn cancel_everywhere(self: &Arc<Self>, notice: Notice) {
        self.cancel(&notice);
        if let Some(workers) = self.hub.workers() {
            workers.tell_all(notice);
        }
    }

    /// Cancels what is meant of the calls here.
    pub(super) fn cancel(self: &Arc<Self>, notice: &Notice) {
        let (found, thread, by, reason) = match notice {
            Notice::CancelToolCall {
                thread_id,
                tool_call_id,
                app,
                by,
            } => {
                let app = app.as_deref();
                let found = self.calls.cancellers(thread_id, tool_call_id, app, by);
                (found, thread_id, by, CANCELLED)
            }
            Notice::CloseThread { thread_id, app, by } => {
                let app = app.as_deref();
                self.sessions.close_thread(thread_id, |owner, its| {
                    app.is_none_or(|app| its == Some(app)) && by.may_see(owner, its)
                });
                let found = self.calls.close(thread_id, app, by);
                (found, thread_id, by, CLOSED)
            }
            _ => return,
        };
        if found.is_empty() {
            // Most often it has ended, or is another server's: every server is told.
            tracing::debug!(?thread, "cancel: no such tool call");
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
        thread_id: String,
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
        static NOT_CANCELLED: SeldomOf = SeldomOf::new();
        match NOT_CANCELLED.is_due(&by.name) {
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
