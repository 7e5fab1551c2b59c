//! `POST /cancellation/cancel`

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::refusal::Refusal;
use super::request::CancelRequest;
use super::{BODY_BYTES, admin};
use crate::gateway::router::CancelNotice;
use crate::gateway::runs::{Found, Run, RunId, RunState};
use crate::gateway::server::Hub;
use crate::gateway::tokens::Identity;

/// How an app says that a call had ended before the cancel came.
const ALREADY_COMPLETED: &str = "Operation already completed";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// The app has confirmed it.
    Cancelled,
    /// Nothing is confirmed.
    Queued,
    /// The run had ended otherwise.
    Completed,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    status: Status,
    request_id: String,
    reason: Option<String>,
}

pub(super) async fn cancel(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    uri: Uri,
    body: Body,
) -> Result<Response, Refusal> {
    let by = admin(&hub, &headers, &uri)?;
    let body = to_bytes(body, BODY_BYTES).await;
    let body = body.map_err(|_| Refusal::body())?;
    let CancelRequest { request_id, reason } = CancelRequest::read(&headers, &body)?;
    let status = match find_or_keep(&hub, &request_id, reason.clone(), &by)? {
        Some(run) => cancel_run(&hub, &run, &request_id, reason.clone(), &by).await,
        None => {
            announce(&hub, &request_id, reason.clone(), None);
            Status::Queued
        }
    };
    tracing::info!(request_id, by = %by.name, ?status, "cancel");
    let answer = Answer {
        status,
        request_id,
        reason,
    };
    Ok(Json(answer).into_response())
}

/// The run that is meant. If there is none, the cancel is kept for when it comes.
fn find_or_keep(
    hub: &Hub,
    request_id: &str,
    reason: Option<String>,
    by: &Identity,
) -> Result<Option<Box<Run>>, Refusal> {
    match hub.find_or_cancel_early(request_id, reason, by) {
        Found::One(run) => Ok(Some(run)),
        Found::Several(runs) => Err(Refusal::ambiguous(&runs)),
        Found::None => Ok(None),
    }
}

async fn cancel_run(
    hub: &Hub,
    run: &Run,
    request_id: &str,
    reason: Option<String>,
    by: &Identity,
) -> Status {
    if let Some(status @ Status::Completed) = ended(run) {
        return status;
    }
    announce(hub, request_id, reason.clone(), Some(run.id));
    let confirmation = hub.cancel(run.id, reason, by).await;
    if confirmation.cancelled {
        return Status::Cancelled;
    }
    // The call's own response may have come while its app was asked.
    let since = hub.run(run.id, by);
    let had_ended = confirmation.reason.as_deref() == Some(ALREADY_COMPLETED);
    since
        .as_ref()
        .and_then(ended)
        .or(had_ended.then_some(Status::Completed))
        .unwrap_or(Status::Queued)
}

/// What to say of a run that is over.
fn ended(run: &Run) -> Option<Status> {
    match run.state {
        RunState::Cancelled => Some(Status::Cancelled),
        RunState::Completed | RunState::Failed => Some(Status::Completed),
        RunState::Unknown => Some(Status::Queued),
        RunState::Queued | RunState::Running | RunState::Cancelling => None,
    }
}

fn announce(hub: &Hub, request_id: &str, reason: Option<String>, run: Option<RunId>) {
    let notice = CancelNotice {
        request_id: request_id.into(),
        reason,
        run,
    };
    let sessions = hub.announce_cancelled(notice);
    tracing::debug!(request_id, sessions, "cancel announced");
}
