//! `GET /api/runs/{id}`

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use super::refusal::Refusal;
use super::run_json::RunJson;
use super::{ID_CHARS, viewer};
use crate::gateway::runs::{Found, Run};
use crate::gateway::server::Hub;
use crate::gateway::tokens::Identity;

/// An id in the path.
pub(super) type Named = Result<Path<String>, PathRejection>;

pub(super) async fn one(
    State(hub): State<Arc<Hub>>,
    id: Named,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    let viewer = viewer(&hub, &headers, &uri)?;
    let run = find(&hub, id, &viewer)?;
    Ok(Json(RunJson::from(&*run)).into_response())
}

/// The run that `id` means: a run id, or a dialect's own that only one run has.
pub(super) fn find(hub: &Hub, id: Named, viewer: &Identity) -> Result<Box<Run>, Refusal> {
    // What is not UTF-8 is no id.
    let Ok(Path(id)) = id else {
        return Err(Refusal::not_found());
    };
    if id.chars().count() > ID_CHARS {
        let message = format!("An id has at most {ID_CHARS} characters");
        return Err(Refusal::invalid("id", message));
    }
    match hub.find(&id, viewer) {
        Found::One(run) => Ok(run),
        Found::None => Err(Refusal::not_found()),
        Found::Several(runs) => Err(Refusal::ambiguous(&runs)),
    }
}
