//! `GET {base}/.well-known/rap-toolset`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::Value;

use super::ToolServer;
use super::refusal::Refusal;
use super::target::Target;
use caphost::call::{Code, Error};

/// The manifest. 404 without an app, or without a tool; 409 with several apps and none named.
pub(super) async fn manifest(
    State(server): State<Arc<ToolServer>>,
    target: Target,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Json<Value>, Refusal> {
    let endpoint = target.endpoint(&headers, server.secure);
    let endpoint = endpoint.ok_or_else(|| Refusal::invalid("`Host` is no host"))?;
    let (_, app) = server.admit(target, &headers, uri.query())?;
    let tools = server.catalogue.tools(&server.hub, app.as_deref());
    let tools = tools.map_err(|error| {
        let several = error.code == Code::INVALID_PARAMS;
        let status = if several {
            StatusCode::CONFLICT
        } else {
            StatusCode::NOT_FOUND
        };
        Refusal::new(status, error)
    })?;
    if tools.is_empty() {
        // A toolset has one tool at least.
        let message = format!("The app {:?} offers no tools", tools.app);
        let error = Error::new(Code::CAPABILITY_UNAVAILABLE, message);
        return Err(Refusal::new(StatusCode::NOT_FOUND, error));
    }
    Ok(Json(tools.manifest(endpoint)))
}
