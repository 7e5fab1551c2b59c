//! `GET /cancellation/status/{request_id}`

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::admin;
use super::problem::Problem;
use crate::broker::runs::{ID_CHARS, Run, RunState};
use crate::fronts::refusal::{FastApi, Refusal, found};
use crate::gateway::Hub;
use caphost::call::Stop;

/// Times are Unix seconds.
#[derive(Debug, PartialEq, Serialize)]
struct Status<'a> {
    name: String,
    registered_at: f64,
    cancelled: bool,
    cancelled_at: Option<f64>,
    cancel_reason: Option<&'a str>,
    run_id: String,
    state: &'static str,
    /// How far the stop of a cancelled run was seen.
    stop: Option<&'static str>,
}

impl<'a> From<&'a Run> for Status<'a> {
    fn from(run: &'a Run) -> Self {
        Status {
            name: run.name(),
            registered_at: seconds(run.registered_at),
            cancelled: run.state == RunState::Cancelled,
            cancelled_at: run.cancelled_at.map(seconds),
            cancel_reason: run.cancel_reason.as_deref(),
            run_id: run.id.to_string(),
            state: run.state.as_str(),
            stop: run.stop().map(Stop::as_str),
        }
    }
}

fn seconds(unix_ms: u64) -> f64 {
    unix_ms as f64 / 1_000.0
}

pub(super) async fn status(
    State(hub): State<Arc<Hub>>,
    request_id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, FastApi> {
    let by = admin(&hub, &headers, &uri)?;
    // What is not UTF-8 is no id.
    let Ok(Path(id)) = request_id else {
        return Err(Refusal::no_run().into());
    };
    if id.chars().count() > ID_CHARS {
        let problem = Problem::too_long("path", "request_id", ID_CHARS, id.into());
        return Err(vec![problem].into());
    }
    let placed = found(hub.seek(&id, &by).await)?;
    Ok(Json(Status::from(&placed.run)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_with_a_fraction() {
        assert_eq!(seconds(1_763_745_324_250), 1_763_745_324.25);
        assert_eq!(
            serde_json::to_string(&seconds(1_763_745_324_000)).unwrap(),
            "1763745324.0"
        );
    }
}
