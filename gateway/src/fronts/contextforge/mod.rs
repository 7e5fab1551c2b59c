//! ContextForge's cancellation API: `POST /cancellation/cancel` and
//! `GET /cancellation/status/{request_id}`, and the same under `/v1`.
//!
//! Written after its published description, and without what is wrong with the original: an id that
//! several clients use is ambiguous rather than the latest's, a run is still known when it has
//! ended, a cancel that comes before its run takes effect where its id can mean no stranger's, and
//! `cancelled` is only said when the app has confirmed it.

mod cancel;
mod options;
mod problem;
mod request;
mod status;

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, Uri};
use axum::routing::{any, get, post};

pub use options::CancellationOptions;

use crate::fronts::auth::authenticate;
use crate::fronts::refusal::{FastApi, Refusal};
use crate::gateway::Hub;
use crate::tokens::{Identity, Role};

/// Bytes of a request's body, 64 KiB.
const BODY_BYTES: usize = 64 << 10;
/// Characters of a `requestId`, 256: as many as a JSON-RPC id may have bytes.
const ID_CHARS: usize = 256;
/// Characters of a reason, 4 096.
const REASON_CHARS: usize = 4_096;

/// The routes; those of an API that is off answer 404.
pub fn routes(hub: Arc<Hub>, options: &CancellationOptions) -> Router {
    let api = if options.enabled {
        Router::new()
            .route("/cancel", post(cancel::cancel))
            .route("/status/{request_id}", get(status::status))
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

/// Whoever asks, if it has the permission `admin.system_config`, which the role admin brings.
fn admin(hub: &Hub, headers: &HeaderMap, uri: &Uri) -> Result<Identity, Refusal> {
    authenticate(hub, Role::Admin, headers, uri.query()).map_err(|denied| {
        let forbidden = "Insufficient permissions. Required: admin.system_config";
        Refusal::denied(denied, "Not authenticated", forbidden)
    })
}

/// The API is off: nothing is here.
async fn off() -> FastApi {
    FastApi(Refusal::not_found("Not Found"))
}
