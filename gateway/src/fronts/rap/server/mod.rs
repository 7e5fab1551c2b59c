//! The tool server: an app's capabilities as RAP tools.
//!
//! | request | answer |
//! |---|---|
//! | `GET {base}/.well-known/rap-toolset` | the manifest |
//! | `POST {base}/invoke` | 200 at once; the result goes to the callback URL |
//! | `POST {base}/cancel_tool_call` | 200 at once; the call is cancelled in the background |
//! | `POST {base}/close_thread` | 200 at once; its calls are cancelled in the background |
//!
//! `{base}` is `/rap/<app id>`; or the root, for the only app or the one named by `?app=`.
//! One call: `invocation` checks the request, claims its id for this worker (`claims`) and begins a
//! call (`calls`). A task of its own waits for the outcome, writes it as a tool result (`result`) and
//! posts it to the callback URL until it is taken (`delivery`).
//!
//! `docs/protocol.md` says what is ours, and what was decided where RAP leaves a choice.

mod calls;
mod claims;
pub(crate) mod delivery;
mod invocation;
mod notifications;
mod options;
mod request;
mod result;
mod state;
mod toolset;

use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::Mutex;

pub use options::Options;

pub use super::egress::AllowedHost;
use super::wire::{CANCEL_TOOL_CALL_PATH, CLOSE_THREAD_PATH, TOOLSET_PATH};
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use caphost::call::{Code, Error};
use request::Target;
use state::RapServer;

/// Where invocations go, under a base.
const INVOKE_PATH: &str = "/invoke";

/// The routes of the tool server, on a hub whose gateway speaks TLS or does not, and listens on
/// loopback only or does not.
///
/// To be called within a Tokio runtime: a task in the background hears of other workers.
pub fn routes(hub: Arc<Hub>, options: Options, secure: bool, loopback: bool) -> Router {
    let server = Arc::new(RapServer::new(hub, options, secure, loopback));
    if server.hub.workers().is_some() {
        let (tasks, weak) = (server.hub.tasks.clone(), Arc::downgrade(&server));
        let told = Arc::new(Mutex::new(server.hub.from_others()));
        tokio::spawn(async move {
            let obey = || notifications::obey(weak.clone(), told.clone());
            tasks.keep_going("rap notifications", obey).await;
        });
    }
    let mut router = Router::new();
    for base in ["", "/rap/{app}"] {
        let path = |path: &str| format!("{base}{path}");
        router = router
            .route(&path(TOOLSET_PATH), get(manifest))
            .route(&path(INVOKE_PATH), post(invocation::invoke))
            .route(
                &path(CANCEL_TOOL_CALL_PATH),
                post(notifications::cancel_tool_call),
            )
            .route(&path(CLOSE_THREAD_PATH), post(notifications::close_thread));
    }
    router.with_state(server)
}

/// The manifest. 404 without an app, or without a tool; 409 with several apps and none named.
async fn manifest(
    State(server): State<Arc<RapServer>>,
    target: Target,
    ConnectInfo(address): ConnectInfo<PeerAddress>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    let endpoint = target.endpoint(&headers, server.secure);
    let endpoint = endpoint.ok_or_else(|| Refusal::invalid("`Host` is no host"))?;
    let (caller, app) = server.admit(target, &headers, uri.query())?;
    // There may be many tools.
    let turn = server.lists.turn(&caller, address).await?;
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
        let message = format!("The app {:?} offers no tools", tools.app());
        let error = Error::new(Code::CAPABILITY_UNAVAILABLE, message);
        return Err(Refusal::new(StatusCode::NOT_FOUND, error));
    }
    let text = tools.manifest(&endpoint);
    turn.end(text.len());
    let kind = HeaderValue::from_static("application/json");
    Ok(([(CONTENT_TYPE, kind)], text).into_response())
}
