//! `POST {base}/cancel_tool_call` and `POST {base}/close_thread`. Both are answered at once with an empty
//! 200, whatever the result. Other workers are told, because the call may be on any of them.
//!
//! A runtime tells every server of every call. So a notification about an unknown call is not an error,
//! whatever its ids look like.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use super::request::{Target, parse, read};
use super::state::RapServer;
use crate::bounds::RateLimiter;
use crate::cluster::{Cluster, Notice};
use crate::fronts::auth::Bearer;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{CancelToolCall, CloseThread};
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::PeerAddress;
use crate::gateway::Unsure;
use crate::tokens::Identity;

/// How many bytes a notification may have: two ids, and room for unknown members.
const BODY_BYTES: usize = 64 << 10;
/// The reason for the app when a call is cancelled.
const CANCELLED: &str = "The runtime has cancelled the tool call";
/// The reason for the app when a thread is closed.
const CLOSED: &str = "The thread is closed";

/// Cancels the call with that thread and id, if the caller may see the call.
pub(super) async fn cancel_tool_call(
    State(server): State<Arc<RapServer>>,
    target: Target,
    address: PeerAddress,
    bearer: Bearer,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (by, app, notification) = server
        .read(target, address, &bearer, request, &server.cancels)
        .await?;
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
        })?;
    }
    Ok(StatusCode::OK)
}

/// Cancels the calls of a thread. Later calls in a thread with the same id go on.
pub(super) async fn close_thread(
    State(server): State<Arc<RapServer>>,
    target: Target,
    address: PeerAddress,
    bearer: Bearer,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (by, app, notification) = server
        .read(target, address, &bearer, request, &server.closures)
        .await?;
    let CloseThread { thread_id } = notification;
    if may_be_ours(&thread_id) {
        server.cancel_everywhere(Notice::CloseThread { thread_id, app, by })?;
    }
    Ok(StatusCode::OK)
}

/// Whether a call or a thread here may have this id.
fn may_be_ours(id: &str) -> bool {
    Identifier::new(id).is_ok()
}

impl RapServer {
    /// Tells the other workers as well. If that fails, the caller must try again.
    fn cancel_everywhere(&self, notice: Notice) -> Result<(), Refusal> {
        self.cancel(&notice);
        let is_told = |cluster: &Arc<Cluster>| cluster.tell_all(notice);
        match self.hub.cluster().is_none_or(is_told) {
            true => Ok(()),
            false => Err(Unsure::Full.into()),
        }
    }

    /// Cancels the calls here that the notice means. Their results tell the runtime the outcome.
    pub(super) fn cancel(&self, notice: &Notice) {
        let (thread, id, app, by, reason) = match notice {
            Notice::CancelToolCall {
                thread_id,
                tool_call_id,
                app,
                by,
            } => (thread_id, Some(&**tool_call_id), app, by, CANCELLED),
            Notice::CloseThread { thread_id, app, by } => (thread_id, None, app, by, CLOSED),
            _ => return,
        };
        let app = app.as_deref();
        if id.is_none() {
            self.sessions.close_thread(thread, |owner, its| {
                app.is_none_or(|app| its == Some(app)) && by.may_see(owner, its)
            });
        }
        // Usually the call has ended or belongs to another server, because every server is told.
        if let Some(in_flight) = self.threads.find(thread) {
            let is_answered = id.is_some();
            in_flight.cancel_each(|it| it.is_meant(id, app, by), reason, is_answered);
        }
    }

    async fn read<T: DeserializeOwned>(
        &self,
        target: Target,
        address: PeerAddress,
        bearer: &Bearer,
        request: Request,
        limiter: &RateLimiter,
    ) -> Result<(Identity, Option<String>, T), Refusal> {
        let (parts, body) = request.into_parts();
        let (caller, app) = self.admit(target, bearer)?;
        limiter
            .check(&(&caller.name, address.network()))
            .map_err(|wait| {
                Refusal::later(
                    StatusCode::TOO_MANY_REQUESTS,
                    "Too many notifications",
                    wait,
                )
            })?;
        let body = read(&parts, body, BODY_BYTES).await?;
        let notification = parse(&body, self.hub.limits.depth)?;
        Ok((caller, app, notification))
    }
}
