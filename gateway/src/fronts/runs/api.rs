//! `/api/runs`: the runs as JSON, and cancels, for the command line and the page. "The runs API" in
//! docs/protocol.md describes the shapes.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use super::list::{self, RunJson};
use crate::broker::calls::{ID_CHARS, REASON_CHARS};
use crate::fronts::auth::Bearer;
use crate::fronts::body;
use crate::fronts::lists::Listing;
use crate::fronts::refusal::{Refusal, found};
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use crate::wire::{mended_bytes, stops};

/// How many runs a list may have to be made at once.
const SHORT: usize = 100;
/// How many bytes a request's body may have: 64 KiB.
const BODY_BYTES: usize = 64 << 10;

/// The routes.
pub fn routes(hub: Arc<Hub>) -> Router {
    let listing = Listing::new(hub.clone());
    Router::new()
        .route("/api/runs", get(list_all).with_state(listing))
        .route("/api/runs/{id}", get(one))
        .route("/api/runs/{id}/cancel", post(cancel))
        .method_not_allowed_fallback(async || Refusal::method("There is no such method here"))
        .with_state(hub)
}

/// An id in the path.
type Named = Result<Path<String>, PathRejection>;

/// `GET /api/runs`
async fn list_all(
    State(listing): State<Arc<Listing>>,
    address: PeerAddress,
    bearer: Bearer,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    let hub = &listing.hub;
    let viewer = bearer.viewer()?;
    let limit = list::limit(uri.query())?;
    let turn = listing.turn(&viewer, address).await?;
    let listed = hub.list(&viewer, limit).await;
    let now = hub.now().unix_ms;
    let is_short = listed.runs.len() <= SHORT;
    let make = move || {
        let text = list::text(&listed, &viewer);
        turn.end(text.len());
        list::respond(text, now, &headers)
    };
    if is_short {
        return Ok(make());
    }
    // Making the list takes milliseconds, and nothing else must wait for it.
    let made = spawn_blocking(make).await;
    made.map_err(|error| Refusal::internal(error.to_string()))
}

/// `GET /api/runs/{id}`
async fn one(State(hub): State<Arc<Hub>>, id: Named, bearer: Bearer) -> Result<Response, Refusal> {
    let viewer = bearer.viewer()?;
    let placed = found(hub.seek(&checked(id)?, &viewer).await)?;
    Ok(Json(RunJson::from(&*placed.run)).into_response())
}

/// `POST /api/runs/{id}/cancel`
async fn cancel(
    State(hub): State<Arc<Hub>>,
    id: Named,
    bearer: Bearer,
    request: Request,
) -> Result<Response, Refusal> {
    let (of, body) = request.into_parts();
    let viewer = bearer.viewer()?;
    let reason = reason(&body::read(&of.extensions, body, BODY_BYTES).await?)?;
    let id = checked(id)?;
    let placed = found(hub.seek_to_cancel(&id, &viewer).await)?;
    let run = &placed.run;
    if !run.state.is_over() {
        hub.publish_cancel(&run.id.to_string(), reason.as_deref(), &viewer);
    }
    let confirmation = hub.cancel_at_home(&placed, reason, &viewer).await;
    let grade = confirmation.grade();
    let mut answer = json!({ "runId": run.id.to_string(), "cancelled": grade.is_some() });
    if let Some(reason) = confirmation.reason {
        answer["reason"] = reason.into();
    }
    if let Some(error) = confirmation.error {
        answer["error"] = error.body.value().unwrap_or_default();
    }
    if let Some(grade) = grade {
        stops::put(&mut answer, grade);
    }
    Ok(Json(answer).into_response())
}

/// The reason in a body, which may be empty.
pub(super) fn reason(body: &[u8]) -> Result<Option<String>, Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut body: Map<String, Value> =
        serde_json::from_slice(&mended_bytes(body)).map_err(|error| {
            Refusal::invalid_at("", format!("The body is not a JSON object: {error}"))
        })?;
    match body.remove("reason") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(reason)) if reason.chars().count() <= REASON_CHARS => Ok(Some(reason)),
        Some(_) => {
            let message = format!("A reason is a string of at most {REASON_CHARS} characters");
            Err(Refusal::invalid_at("reason", message))
        }
    }
}

/// An id that a run may have.
fn checked(id: Named) -> Result<String, Refusal> {
    // An id that is not UTF-8 is not a valid id.
    let Ok(Path(id)) = id else {
        return Err(Refusal::no_run());
    };
    if id.chars().count() > ID_CHARS {
        let message = format!("An id has at most {ID_CHARS} characters");
        return Err(Refusal::invalid_at("id", message));
    }
    Ok(id)
}
