//! The tool server: an app's capabilities as RAP tools.
//!
//! | request | answer |
//! |---|---|
//! | `GET {base}/.well-known/rap-toolset` | the manifest |
//! | `POST {base}/invoke` | 200 at once; the result goes to the callback URL |
//! | `POST {base}/cancel_tool_call` | 200 at once; the call is cancelled in the background |
//! | `POST {base}/close_thread` | 200 at once; its calls are cancelled in the background |
//!
//! `{base}` is `/rap/<app id>`. It may also be the root or `/rap`, for all apps or for the app in `?app=`. One
//! call: `invocation` checks the request, claims its id for this worker (`claims`) and begins a call
//! (`calls`). A separate task (`pending`) waits for the outcome, writes it as a tool result (`result`) and
//! posts it to the callback URL until it is accepted (`delivery`).
//!
//! `docs/protocol.md` describes caphost's additions, and its decisions where RAP leaves a choice.

mod calls;
mod claims;
mod delivery;
mod invocation;
mod notifications;
mod options;
mod pending;
mod request;
mod result;
pub(crate) mod send_limits;
mod state;
mod toolset;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use tokio::task::spawn_blocking;

pub use options::Options;

pub use super::egress::AllowedHost;
use super::wire::{CANCEL_TOOL_CALL_PATH, CLOSE_THREAD_PATH, TOOLSET_PATH};
use crate::fronts::auth::Bearer;
use crate::fronts::refusal::{Refusal, json_text};
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use caphost::call::{Code, Error};
use request::Target;
use state::RapServer;

/// The path of invocations under a base.
const INVOKE_PATH: &str = "/invoke";

/// The routes of the tool server. `secure` is whether the gateway speaks TLS. `loopback` is whether it
/// listens on loopback only.
pub fn routes(hub: Arc<Hub>, options: Options, secure: bool, loopback: bool) -> Router {
    let server = Arc::new(RapServer::new(hub, options, secure, loopback));
    let weak = Arc::downgrade(&server);
    // A notification may have come to any worker.
    server.hub.hear_others(move |notice| {
        let server = weak.upgrade();
        server.is_some_and(|server| {
            server.cancel(notice);
            true
        })
    });
    let mut router = Router::new();
    for base in ["", "/rap", "/rap/{app}"] {
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

/// The manifest. Answers 404 without an app or without a tool.
async fn manifest(
    State(server): State<Arc<RapServer>>,
    target: Target,
    address: PeerAddress,
    bearer: Bearer,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let endpoint = target.endpoint(&headers, server.secure);
    let endpoint = endpoint.ok_or_else(|| Refusal::invalid("`Host` is not a valid host"))?;
    let (caller, app) = server.admit(target, &bearer)?;
    // There may be many tools.
    let turn = server.lists.turn(&caller, address).await?;
    let all = server.hub.assortment(app.as_deref());
    let all = all.map_err(Refusal::no_app)?;
    let make = move || {
        let Some(text) = toolset::manifest(&all, endpoint) else {
            // A toolset has at least one tool.
            let message = match all.only() {
                Some(offer) => format!("The app {:?} offers no tools", offer.app.id),
                None => "The connected apps offer no tools".into(),
            };
            let error = Error::new(Code::CAPABILITY_UNAVAILABLE, message);
            return Err(Refusal::new(StatusCode::NOT_FOUND, error));
        };
        turn.end(text.len());
        Ok(json_text(StatusCode::OK, text))
    };
    // Making the manifest may take milliseconds, and nothing else must wait for it.
    spawn_blocking(make)
        .await
        .map_err(|error| Refusal::internal(error.to_string()))?
}
