//! `POST /api/runs/{id}/cancel`

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::{BODY_BYTES, Named, find, viewer};
use crate::broker::runs::REASON_CHARS;
use crate::fronts::refusal::Refusal;
use crate::gateway::Hub;
use crate::wire::mended_bytes;
use crate::wire::stops;

pub(super) async fn cancel(
    State(hub): State<Arc<Hub>>,
    id: Named,
    headers: HeaderMap,
    uri: Uri,
    body: Body,
) -> Result<Response, Refusal> {
    let viewer = viewer(&hub, &headers, &uri)?;
    let body = to_bytes(body, BODY_BYTES).await;
    let body = body.map_err(|_| Refusal::body(BODY_BYTES))?;
    let reason = reason(&body)?;
    let placed = find(&hub, id, &viewer).await?;
    let run = &placed.run;
    if !run.state.is_over() {
        hub.publish_cancel(&run.id.to_string(), reason.as_deref(), &viewer);
    }
    let confirmation = hub.cancel_at_home(&placed, reason, &viewer).await;
    tracing::info!(run = %run.id, by = %viewer.name, cancelled = confirmation.cancelled, "cancel");
    let mut answer = json!({ "runId": run.id.to_string(), "cancelled": confirmation.cancelled });
    if let Some(reason) = confirmation.reason {
        answer["reason"] = reason.into();
    }
    if let Some(error) = confirmation.error {
        answer["error"] = error.body;
    }
    if let Some(stop) = confirmation.stop {
        answer["stop"] = stop.as_str().into();
    }
    if let Some(ended) = confirmation.ended {
        answer["ended"] = stops::ended_json(ended);
    }
    Ok(Json(answer).into_response())
}

/// The reason in a body, which may be empty.
pub(super) fn reason(body: &[u8]) -> Result<Option<String>, Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut body: Map<String, Value> = serde_json::from_slice(&mended_bytes(body))
        .map_err(|error| Refusal::invalid_at("", format!("The body is no JSON object: {error}")))?;
    match body.remove("reason") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(reason)) if reason.chars().count() <= REASON_CHARS => Ok(Some(reason)),
        Some(_) => {
            let message = format!("A reason is a string of at most {REASON_CHARS} characters");
            Err(Refusal::invalid_at("reason", message))
        }
    }
}
