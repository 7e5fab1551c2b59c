//! `POST /cancellation/cancel`

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::request::CancelRequest;
use super::{BODY_BYTES, admin};
use crate::broker::runs::{Run, RunState};
use crate::fronts::refusal::{FastApi, Refusal};
use crate::gateway::Hub;
use crate::gateway::Placed;
use crate::gateway::Sought;
use crate::tokens::Identity;
use caphost::call::Stop;

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
    /// Added to ContextForge's answer: how far the stop of a cancelled run was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'static str>,
}

pub(super) async fn cancel(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    uri: Uri,
    body: Body,
) -> Result<Response, FastApi> {
    let by = admin(&hub, &headers, &uri)?;
    let body = to_bytes(body, BODY_BYTES).await;
    let body = body.map_err(|_| Refusal::body(BODY_BYTES))?;
    let CancelRequest { request_id, reason } = CancelRequest::read(&headers, &body)?;
    let cancel = Cancel {
        hub: &hub,
        request_id: &request_id,
        reason: &reason,
        by: &by,
    };
    let sought = hub.seek_or_cancel_early(&request_id, reason.clone(), &by);
    let (status, stop) = match sought.await {
        Sought::One(placed) => cancel.run(&placed).await,
        Sought::Several(runs) => return Err(Refusal::ambiguous(&runs).into()),
        Sought::Unsure(unsure) => return Err(unsure.into()),
        Sought::None => {
            cancel.announce(None);
            (Status::Queued, None)
        }
    };
    let stop = stop.map(Stop::as_str);
    tracing::info!(request_id, by = %by.name, ?status, stop, "cancel");
    let answer = Answer {
        status,
        request_id,
        reason,
        stop,
    };
    Ok(Json(answer).into_response())
}

/// A cancel, as it was asked for.
struct Cancel<'a> {
    hub: &'a Hub,
    request_id: &'a str,
    reason: &'a Option<String>,
    by: &'a Identity,
}

impl Cancel<'_> {
    async fn run(&self, placed: &Placed) -> (Status, Option<Stop>) {
        if let Some(status @ Status::Completed) = ended(&placed.run) {
            return (status, None);
        }
        self.announce(Some(&placed.run));
        let (hub, by) = (self.hub, self.by);
        let confirmation = hub.cancel_at_home(placed, self.reason.clone(), by).await;
        if confirmation.cancelled {
            return (Status::Cancelled, confirmation.stop);
        }
        let had_ended = confirmation.reason.as_deref() == Some(ALREADY_COMPLETED);
        // The call's own response may have come while its app was asked.
        let since = match hub.seek(&placed.run.id.to_string(), by).await {
            Sought::One(placed) => ended(&placed.run).map(|status| (status, placed.run.stop())),
            _ => None,
        };
        since
            .or(had_ended.then_some((Status::Completed, None)))
            .unwrap_or((Status::Queued, None))
    }

    /// Tells the sessions that listen, on all workers, and other gateways.
    fn announce(&self, run: Option<&Run>) {
        let (request_id, reason) = (self.request_id, self.reason.as_deref());
        let sessions = self.hub.announce_cancel(request_id, run, reason, self.by);
        tracing::debug!(request_id, sessions, "cancel announced");
    }
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
