//! ContextForge's cancellation API: `POST /cancellation/cancel` and
//! `GET /cancellation/status/{request_id}`, and the same under `/v1`.
//!
//! Written after ContextForge's published description, but without the mistakes of the original. An id that
//! several clients use is ambiguous, and does not mean the latest run. A run is still known after its end. A
//! cancel that comes before its run takes effect if the id cannot belong to another client. The status is
//! `cancelled` only if the app has confirmed the cancel.

mod request;

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use clap::ArgAction;
use clap::builder::BoolishValueParser;
use serde::Serialize;
use serde_json::{Value, json};

use crate::broker::calls::{ID_CHARS, Run, RunState};
use crate::fronts::auth::Bearer;
use crate::fronts::body;
use crate::fronts::refusal::{FastApi, Refusal, found};
use crate::gateway::{Gone, Hub, Placed, Sought};
use crate::options::defaults;
use crate::tokens::{Identity, Role};
use crate::wire::stops::ALREADY_COMPLETED;
use crate::wire::{for_log, stopped_by};
use caphost::call::{Stop, StoppedBy};
use request::{CancelRequest, refusal, too_long};

/// How many bytes a request's body may have: 64 KiB.
pub(crate) const BODY_BYTES: usize = 64 << 10;

/// The options of the cancellation API.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct CancellationOptions {
    /// Serve the cancellation API at /cancellation: true or false.
    #[arg(
        id = "tool_cancellation_enabled",
        long = "tool-cancellation-enabled",
        env = "MCPGATEWAY_TOOL_CANCELLATION_ENABLED",
        default_value = "true",
        action = ArgAction::Set,
        value_parser = BoolishValueParser::new(),
        value_name = "BOOL"
    )]
    pub enabled: bool,
}

impl Default for CancellationOptions {
    fn default() -> Self {
        defaults()
    }
}

/// The routes. If the API is off, they answer 404.
pub fn routes(hub: Arc<Hub>, options: &CancellationOptions) -> Router {
    let api = if options.enabled {
        Router::new()
            .route("/cancel", post(cancel))
            .route("/status/{request_id}", get(status))
            .method_not_allowed_fallback(async || FastApi(Refusal::method("Method Not Allowed")))
            .with_state(hub)
    } else {
        Router::new()
            .route("/cancel", any(off))
            .route("/status/{request_id}", any(off))
    };
    Router::new()
        .nest("/cancellation", api.clone())
        .nest("/v1/cancellation", api)
}

/// The requester, if it has the permission `admin.system_config`. The role admin has this permission.
fn admin(bearer: &Bearer) -> Result<Identity, Refusal> {
    bearer.acts_as(Role::Admin).map_err(|denied| {
        let forbidden = "Insufficient permissions. Required: admin.system_config";
        Refusal::denied(denied, "Not authenticated", forbidden)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// The app has confirmed the cancel.
    Cancelled,
    /// The cancel is not confirmed.
    Queued,
    /// The run had ended in another way.
    Completed,
}

/// `POST /cancellation/cancel`
async fn cancel(
    State(hub): State<Arc<Hub>>,
    bearer: Bearer,
    request: Request,
) -> Result<Response, FastApi> {
    let (of, body) = request.into_parts();
    let viewer = admin(&bearer)?;
    let body = body::read(&of.extensions, body, BODY_BYTES).await?;
    let read = CancelRequest::read(&of.headers, &body);
    let CancelRequest { request_id, reason } = read.map_err(refusal)?;
    let sought = hub.seek_or_cancel_early(&request_id, reason.clone(), &viewer);
    let placed = match sought.await {
        Sought::One(placed) => Some(placed),
        // Nobody can confirm a cancel of a run that may be lost.
        Sought::None | Sought::Gone(Gone::SomeWorker) => None,
        Sought::Gone(gone) => return Err(gone.into()),
        Sought::Several(runs) => return Err(Refusal::ambiguous(&runs).into()),
        Sought::Unsure(unsure) => return Err(unsure.into()),
    };
    let run = placed.as_ref().map(|placed| &*placed.run);
    let (status, stop, stopped) = if run.and_then(ended) == Some(Status::Completed) {
        (Status::Completed, None, None)
    } else {
        // The listening sessions of all workers, and other gateways, are told.
        let sessions = hub.announce_cancel(&request_id, run, reason.as_deref(), &viewer);
        tracing::debug!(
            request_id = for_log(&request_id),
            sessions,
            "cancel announced"
        );
        match &placed {
            Some(placed) => cancel_run(&hub, placed, reason.clone(), &viewer).await,
            None => (Status::Queued, None, None),
        }
    };
    let stop = stop.map(Stop::as_str);
    let logged = for_log(&request_id);
    tracing::info!(request_id = logged, by = %viewer.name, ?status, stop, "cancel");
    let mut answer = json!({ "status": status, "requestId": request_id, "reason": reason });
    // An addition to ContextForge's answer: how far the work of a cancelled run was seen to stop, and what
    // has stopped it.
    if let Some(stop) = stop {
        answer["stop"] = stop.into();
    }
    stopped_by::put(&mut answer, stopped, "");
    Ok(Json(answer).into_response())
}

/// The result of a cancel. For a cancelled run it also says how far the work was seen to stop, and what has
/// stopped it.
type Answered = (Status, Option<Stop>, Option<StoppedBy>);

/// Cancels a run that may still be cancelled.
async fn cancel_run(
    hub: &Hub,
    placed: &Placed,
    reason: Option<String>,
    viewer: &Identity,
) -> Answered {
    let confirmation = hub.cancel_at_home(placed, reason, viewer).await;
    if confirmation.cancelled() {
        return (Status::Cancelled, confirmation.stop, confirmation.by);
    }
    // The call's own response may have come while the app was asked.
    if let Sought::One(placed) = hub.seek(&placed.run.id.to_string(), viewer).await
        && let Some(status) = ended(&placed.run)
    {
        return (status, placed.run.stop(), placed.run.by);
    }
    let had_ended = confirmation.reason.as_deref() == Some(ALREADY_COMPLETED);
    let status = match had_ended {
        true => Status::Completed,
        false => Status::Queued,
    };
    (status, None, None)
}

/// The status of a run that is over.
fn ended(run: &Run) -> Option<Status> {
    match run.state {
        RunState::Cancelled => Some(Status::Cancelled),
        RunState::Completed | RunState::Failed => Some(Status::Completed),
        RunState::Unknown => Some(Status::Queued),
        RunState::Queued | RunState::Running | RunState::Cancelling => None,
    }
}

/// Times are Unix seconds.
#[derive(Debug, PartialEq, Serialize)]
struct StatusJson<'a> {
    name: String,
    registered_at: f64,
    cancelled: bool,
    cancelled_at: Option<f64>,
    cancel_reason: Option<&'a str>,
    run_id: String,
    state: &'static str,
    /// How far the work of a cancelled run was seen to stop.
    stop: Option<&'static str>,
    /// What has stopped the work, if the app says so.
    step: Option<&'static str>,
    /// How many milliseconds the stop took.
    took: Option<Value>,
}

impl<'a> From<&'a Run> for StatusJson<'a> {
    fn from(run: &'a Run) -> Self {
        StatusJson {
            name: run.name(),
            registered_at: seconds(run.registered_at),
            cancelled: run.state == RunState::Cancelled,
            cancelled_at: run.cancelled_at.map(seconds),
            cancel_reason: run.cancel_reason.as_deref(),
            run_id: run.id.to_string(),
            state: run.state.as_str(),
            stop: run.stop().map(Stop::as_str),
            step: run.by.map(|by| by.step.as_str()),
            took: run.by.map(|by| stopped_by::number(by.took)),
        }
    }
}

fn seconds(unix_ms: u64) -> f64 {
    unix_ms as f64 / 1_000.0
}

/// `GET /cancellation/status/{request_id}`
async fn status(
    State(hub): State<Arc<Hub>>,
    request_id: Result<Path<String>, PathRejection>,
    bearer: Bearer,
) -> Result<Response, FastApi> {
    let viewer = admin(&bearer)?;
    // An id that is not UTF-8 is not a valid id.
    let Ok(Path(id)) = request_id else {
        return Err(Refusal::no_run().into());
    };
    if id.chars().count() > ID_CHARS {
        let problem = too_long(json!(["path", "request_id"]), ID_CHARS, id.into());
        return Err(refusal(vec![problem]).into());
    }
    let placed = found(hub.seek(&id, &viewer).await)?;
    Ok(Json(StatusJson::from(&*placed.run)).into_response())
}

/// The API is off: there is nothing at this path.
async fn off() -> FastApi {
    FastApi(Refusal::not_found("Not Found"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: CancellationOptions,
    }

    #[test]
    fn on_unless_it_is_turned_off() {
        let parse = |given: &[&str]| {
            let line = ["serve"].iter().chain(given);
            Line::try_parse_from(line).map(|line| line.options.enabled)
        };
        assert!(parse(&[]).unwrap() && CancellationOptions::default().enabled);
        for off in ["false", "False", "0", "no", "off"] {
            assert!(
                !parse(&["--tool-cancellation-enabled", off]).unwrap(),
                "{off}"
            );
        }
        for on in ["true", "TRUE", "1", "yes", "on"] {
            assert!(parse(&["--tool-cancellation-enabled", on]).unwrap(), "{on}");
        }
        assert!(parse(&["--tool-cancellation-enabled", "maybe"]).is_err());
    }

    #[test]
    fn times_are_seconds_with_a_fraction() {
        assert_eq!(seconds(1_763_745_324_250), 1_763_745_324.25);
        assert_eq!(
            serde_json::to_string(&seconds(1_763_745_324_000)).unwrap(),
            "1763745324.0"
        );
    }
}
