//! `GET /api/runs/{id}`

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use super::run_json::RunJson;
use super::{ID_CHARS, viewer};
use crate::fronts::refusal::{Refusal, found};
use crate::gateway::Hub;
use crate::gateway::Placed;
use crate::tokens::Identity;

/// An id in the path.
pub(super) type Named = Result<Path<String>, PathRejection>;

pub(super) async fn one(
    State(hub): State<Arc<Hub>>,
    id: Named,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    let viewer = viewer(&hub, &headers, &uri)?;
    let placed = find(&hub, id, &viewer).await?;
    Ok(Json(RunJson::from(&placed.run)).into_response())
}

/// The run that an id means: a run id, or a dialect's own that only one run has.
pub(super) async fn find(hub: &Hub, id: Named, viewer: &Identity) -> Result<Box<Placed>, Refusal> {
    // What is not UTF-8 is no id.
    let Ok(Path(id)) = id else {
        return Err(Refusal::no_run());
    };
    if id.chars().count() > ID_CHARS {
        let message = format!("An id has at most {ID_CHARS} characters");
        return Err(Refusal::invalid_at("id", message));
    }
    found(hub.seek(&id, viewer).await)
}
