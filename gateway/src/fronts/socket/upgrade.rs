//! Requests that ask for a WebSocket: who may have one, and its opening.

use std::future::Future;
use std::time::Duration;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::header::{HeaderMap, HeaderValue, UPGRADE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::fronts::auth::{TOKEN_PROTOCOL, authenticate, shows_secret};
use crate::fronts::refusal::{Refusal, refuse};
use crate::fronts::shares::{Holder, Share};
use crate::fronts::socket::{Connection, Socket};
use crate::gateway::Hub;
use crate::limits::{Limits, REGISTRATION_BYTES};
use crate::tokens::{Identity, Role};
use caphost::call::Error;

/// When somebody may try again whose share is taken.
pub(crate) const RETRY_SHARE: Duration = Duration::from_secs(5);

/// A request that asks for a WebSocket. Others are refused.
pub struct SocketRequest {
    app: Option<String>,
    query: Option<String>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
    connection: Connection,
    /// Whether no token is shown although there are tokens.
    is_strange: bool,
}

#[derive(Default, Deserialize)]
struct Wanted {
    app: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for SocketRequest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let upgrade = WebSocketUpgrade::from_request_parts(parts, state).await;
        let upgrade = upgrade.map_err(|_| {
            let method = &parts.method;
            let message = format!("This is a WebSocket: a plain {method} is not answered");
            let error = Error::invalid_params(message);
            let mut response = refuse(StatusCode::UPGRADE_REQUIRED, &error);
            let web_socket = HeaderValue::from_static("websocket");
            response.headers_mut().insert(UPGRADE, web_socket);
            response
        })?;
        let wanted = Query::<Wanted>::try_from_uri(&parts.uri)
            .map_err(|error| Refusal::invalid(error.body_text()).into_response())?;
        let connection = parts.extensions.get().cloned();
        let unknown = || Refusal::invalid("This connection cannot be a WebSocket").into_response();
        Ok(SocketRequest {
            // `?app=` alone asks for none in particular.
            app: wanted.0.app.filter(|app| !app.is_empty()),
            query: parts.uri.query().map(str::to_string),
            headers: parts.headers.clone(),
            upgrade,
            connection: connection.ok_or_else(unknown)?,
            is_strange: false,
        })
    }
}

impl SocketRequest {
    /// The app wanted, if one is named.
    pub fn app(&self) -> Option<String> {
        self.app.clone()
    }

    /// Who asks, if it may act as `role`.
    pub(crate) fn identify(&self, hub: &Hub, role: Role) -> Result<Identity, Refusal> {
        let identity = authenticate(hub, role, &self.headers, self.query.as_deref());
        if let Ok(identity) = &identity
            && (role != Role::App || !hub.tokens.is_empty())
        {
            self.connection.belongs_to(hub, identity, role);
        }
        identity.map_err(|denied| {
            let message = match role {
                Role::App => "A valid token of role app is needed",
                Role::Agent => "A valid token of role agent is needed",
                Role::Admin => "A valid token of role admin is needed",
            };
            Refusal::denied(denied, message, message)
        })
    }

    /// Whether a secret is shown, right or wrong.
    pub(crate) fn shows_secret(&self) -> bool {
        shows_secret(&self.headers, self.query.as_deref())
    }

    /// It comes from somebody who may show a token later.
    pub(crate) fn is_strange(&mut self) {
        self.is_strange = true;
    }

    /// The connection it comes on.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Takes one connection of an agent's share, if it has a token and that allows.
    pub(crate) fn share(&self, hub: &Hub, owner: &Identity) -> Result<Option<Share>, Refusal> {
        if hub.tokens.is_empty() {
            return Ok(None);
        }
        let Connection {
            address, bounds, ..
        } = &self.connection;
        let taken = bounds.agents.take(&Holder::of(hub, owner, address.0.ip()));
        taken.map(Some).map_err(|_| {
            let message = "This token has its share of the connections";
            Refusal::later(StatusCode::TOO_MANY_REQUESTS, message, RETRY_SHARE)
        })
    }

    /// Opens the WebSocket, in `protocol` if the client offers it.
    pub fn accept<F: Future<Output = ()> + Send + 'static>(
        self,
        protocol: &'static str,
        limits: &Limits,
        serve: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Response {
        let SocketRequest {
            mut upgrade,
            connection,
            is_strange,
            ..
        } = self;
        let offered: Vec<_> = upgrade.requested_protocols().cloned().collect();
        let is_ours = |offer: &&HeaderValue| *offer == protocol;
        let has_token =
            |offer: &&HeaderValue| offer.as_bytes().starts_with(TOKEN_PROTOCOL.as_bytes());
        let chosen = offered
            .iter()
            .find(is_ours)
            .or_else(|| offered.iter().find(has_token));
        if let Some(protocol) = chosen {
            upgrade.set_selected_protocol(protocol.clone());
        }
        // A longer frame is not read at all; a message over its own limit is read and refused.
        let mut frame_bytes = limits.frame_bytes.max(limits.message_bytes);
        if is_strange {
            // For as much as a frame says it has, room is made at once.
            frame_bytes = limits.message_bytes.max(REGISTRATION_BYTES);
        }
        upgrade
            .read_buffer_size(32 << 10)
            .max_message_size(frame_bytes)
            .max_frame_size(frame_bytes)
            .on_upgrade(move |socket| {
                let watch = connection.watch;
                watch.is_socket(frame_bytes);
                serve(Socket { socket, watch })
            })
    }
}
