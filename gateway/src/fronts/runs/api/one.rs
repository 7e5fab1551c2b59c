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
use crate::gateway::Hub;
use crate::gateway::Placed;
use crate::gateway::Sought;
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
    let placed = find(&hub, id, &viewer).await?.1;
    Ok(Json(RunJson::from(&placed.run)).into_response())
}

/// The id, and the run that it means: a run id, or a dialect's own that only one run has.
pub(super) async fn find(
    hub: &Hub,
    id: Named,
    viewer: &Identity,
) -> Result<(String, Box<Placed>), Refusal> {
    // What is not UTF-8 is no id.
    let Ok(Path(id)) = id else {
        return Err(Refusal::not_found());
    };
    if id.chars().count() > ID_CHARS {
        let message = format!("An id has at most {ID_CHARS} characters");
        return Err(Refusal::invalid("id", message));
    }
    match hub.seek(&id, viewer).await {
        Sought::One(placed) => Ok((id, placed)),
        Sought::None => Err(Refusal::not_found()),
        Sought::Several(runs) => Err(Refusal::ambiguous(&runs)),
        Sought::Unsure(unsure) => Err(Refusal::unsure(unsure)),
    }
}
