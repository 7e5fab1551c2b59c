//! `/api/runs`: the runs as JSON, and their cancels, for the command line and the page. The shapes
//! are in docs/protocol.md, "The runs API".

mod cancel;
mod list;
mod one;
mod run_json;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, Uri};
use axum::routing::{get, post};

use crate::fronts::auth::authenticate;
use crate::fronts::refusal::Refusal;
use crate::gateway::Hub;
use crate::tokens::{Identity, Role};

/// Bytes of a request's body, 64 KiB.
const BODY_BYTES: usize = 64 << 10;
/// Characters of an id, 256: as many as a JSON-RPC id may have bytes.
const ID_CHARS: usize = 256;
/// Characters of a reason, 4 096.
const REASON_CHARS: usize = 4_096;
/// Ended runs in a list, unless told otherwise.
const LIST_LIMIT: usize = 500;
/// Ended runs in a list at most.
const LIST_LIMIT_MAX: usize = 10_000;

/// The routes.
pub fn routes(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/api/runs", get(list::list))
        .route("/api/runs/{id}", get(one::one))
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
