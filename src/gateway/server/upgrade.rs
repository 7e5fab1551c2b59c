//! WebSocket upgrades: `/abp` for agents, `/abp/app` for apps.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Query, State};
use axum::http::header::{HeaderMap, HeaderValue, UPGRADE, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde::Deserialize;

use super::answer::refuse;
use super::auth::{CHALLENGE, bearer};
use super::hub::Hub;
use super::reader::{Side, serve};
use crate::call::{Code, Error};
use crate::gateway::relay::{Event, Profile};
use crate::gateway::runs::Dialect;
use crate::gateway::tokens::{Denied, Identity, Role};

/// The subprotocol a browser offers beside a token's, as it must be answered with one of its own.
const PROTOCOL: &str = "abp";
/// A browser cannot set `Authorization`: it offers this and the secret as a subprotocol.
const TOKEN_PROTOCOL: &str = "caphost.token.";

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;
type Parameters = Result<Query<Wanted>, QueryRejection>;

#[derive(Default, Deserialize)]
pub(super) struct Wanted {
    app: Option<String>,
    token: Option<String>,
}

/// `/abp`
pub(super) async fn agent(
    State(hub): State<Arc<Hub>>,
    method: Method,
    headers: HeaderMap,
    query: Parameters,
    upgrade: Upgrade,
) -> Response {
    let (wanted, upgrade) = match ready(query, upgrade, &method) {
        Ok(ready) => ready,
        Err(refusal) => return refusal,
    };
    let owner = match identify(&hub, Role::Agent, &headers, &wanted, &upgrade) {
        Ok(owner) => owner,
        Err(denied) => return refused(denied, Role::Agent),
    };
    // `?app=` alone asks for none in particular.
    let app = wanted.app.filter(|app| !app.is_empty());
    let hub_too = hub.clone();
    configure(upgrade, &hub).on_upgrade(move |socket| {
        serve(socket, hub_too, Side::Agent, move |peer| {
            let profile = Profile {
                dialect: Dialect::Abp,
                owner,
                local: false,
            };
            Event::AgentJoined { peer, app, profile }
        })
    })
}

/// `/abp/app`. A token may also come with `app/register`, but a wrong one is refused at once.
pub(super) async fn app(
    State(hub): State<Arc<Hub>>,
    method: Method,
    headers: HeaderMap,
    query: Parameters,
    upgrade: Upgrade,
) -> Response {
    let (wanted, upgrade) = match ready(query, upgrade, &method) {
        Ok(ready) => ready,
        Err(refusal) => return refusal,
    };
    let identity = match identify(&hub, Role::App, &headers, &wanted, &upgrade) {
        Ok(identity) => Some(identity),
        Err(_) if presented(&headers, &wanted, &upgrade).is_empty() => None,
        Err(denied) => return refused(denied, Role::App),
    };
    let hub_too = hub.clone();
    configure(upgrade, &hub).on_upgrade(move |socket| {
        serve(socket, hub_too, Side::App, move |peer| Event::AppJoined {
            peer,
            identity,
        })
    })
}

#[expect(clippy::result_large_err, reason = "the error is the response")]
fn ready(
    query: Parameters,
    upgrade: Upgrade,
    method: &Method,
) -> Result<(Wanted, WebSocketUpgrade), Response> {
    let upgrade = upgrade.map_err(|_| {
        let message = format!("This is a WebSocket: a plain {method} is not answered");
        let error = Error::invalid_params(message);
        let mut response = refuse(StatusCode::UPGRADE_REQUIRED, &error);
        response
            .headers_mut()
            .insert(UPGRADE, HeaderValue::from_static("websocket"));
        response
    })?;
    match query {
        Ok(Query(wanted)) => Ok((wanted, upgrade)),
        Err(error) => Err(refuse(
            StatusCode::BAD_REQUEST,
            &Error::invalid_params(error.body_text()),
        )),
    }
}

fn presented<'a>(
    headers: &'a HeaderMap,
    wanted: &'a Wanted,
    upgrade: &'a WebSocketUpgrade,
) -> Vec<&'a str> {
    let text = |value: &'a HeaderValue| value.to_str().ok();
    let offered = upgrade.requested_protocols().filter_map(text);
    let offered = offered.filter_map(|protocol| protocol.strip_prefix(TOKEN_PROTOCOL));
    bearer(headers)
        .into_iter()
        .chain(wanted.token.as_deref())
        .chain(offered)
        .collect()
}

fn identify(
    hub: &Hub,
    role: Role,
    headers: &HeaderMap,
    wanted: &Wanted,
    upgrade: &WebSocketUpgrade,
) -> Result<Identity, Denied> {
    hub.tokens
        .identify(role, presented(headers, wanted, upgrade))
}

fn refused(denied: Denied, role: Role) -> Response {
    let message = format!("A valid token of role {} is needed", role.as_str());
    let error = Error::new(Code::PERMISSION_DENIED, message);
    if denied == Denied::Forbidden {
        return refuse(StatusCode::FORBIDDEN, &error);
    }
    let mut response = refuse(StatusCode::UNAUTHORIZED, &error);
    response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    response
}

fn configure(mut upgrade: WebSocketUpgrade, hub: &Hub) -> WebSocketUpgrade {
    let offered: Vec<_> = upgrade.requested_protocols().cloned().collect();
    let is_ours = |protocol: &&HeaderValue| *protocol == PROTOCOL;
    let has_token =
        |protocol: &&HeaderValue| protocol.as_bytes().starts_with(TOKEN_PROTOCOL.as_bytes());
    let chosen = offered
        .iter()
        .find(is_ours)
        .or_else(|| offered.iter().find(has_token));
    if let Some(protocol) = chosen {
        upgrade.set_selected_protocol(protocol.clone());
    }
    // A frame past this is not read; one past the message limit is read, refused and dropped.
    let frame_bytes = hub.limits.frame_bytes.max(hub.limits.message_bytes);
    upgrade
        .read_buffer_size(32 << 10)
        .max_message_size(frame_bytes)
        .max_frame_size(frame_bytes)
}
