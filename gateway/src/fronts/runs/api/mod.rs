//! `/api/runs`: the runs as JSON, and their cancels, for the command line and the page. The shapes
//! are in docs/protocol.md, "The runs API".

mod cancel;
mod list;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};

use crate::broker::runs::ID_CHARS;
use crate::fronts::auth::authenticate;
use crate::fronts::refusal::{Refusal, found};
use crate::gateway::{Hub, Placed};
use crate::tokens::{Identity, Role};
use list::RunJson;

/// Bytes of a request's body, 64 KiB.
const BODY_BYTES: usize = 64 << 10;
/// Ended runs in a list, unless told otherwise.
const LIST_LIMIT: usize = 500;
/// Ended runs in a list at most.
const LIST_LIMIT_MAX: usize = 10_000;

/// The routes.
pub fn routes(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/api/runs", get(list::list))
        .route("/api/runs/{id}", get(one))
        .route("/api/runs/{id}/cancel", post(cancel::cancel))
        .method_not_allowed_fallback(async || Refusal::method("There is no such method here"))
        .with_state(hub)
}

/// Who asks. Agents see their own runs, admins those of all.
fn viewer(hub: &Hub, headers: &HeaderMap, uri: &Uri) -> Result<Identity, Refusal> {
    let needed = "A valid token of role agent or admin is needed";
    authenticate(hub, Role::Agent, headers, uri.query())
        .map_err(|denied| Refusal::denied(denied, needed, needed))
}

/// An id in the path.
type Named = Result<Path<String>, PathRejection>;

/// `GET /api/runs/{id}`
async fn one(
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
async fn find(hub: &Hub, id: Named, viewer: &Identity) -> Result<Box<Placed>, Refusal> {
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
