//! Requests that ask for a WebSocket: who may have one, and its opening.

use std::future::Future;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::header::{HeaderMap, HeaderValue, UPGRADE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::fronts::auth::{CHALLENGE, bearer};
use crate::fronts::refusal::refuse;
use crate::fronts::socket::pulse::{Pulse, Socket};
use crate::gateway::Hub;
use crate::limits::Limits;
use crate::tokens::{Denied, Identity, Role};
use caphost::call::{Code, Error};

/// A browser cannot set `Authorization`: it offers this and the secret as a subprotocol.
const TOKEN_PROTOCOL: &str = "caphost.token.";

/// A request that asks for a WebSocket. Others are refused.
pub struct Knock {
    wanted: Wanted,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
    pulse: Pulse,
}

/// Refuses a client: 401 without a token that is known, 403 with one of a role that may not.
#[derive(Clone, Copy, Debug)]
pub struct NotAllowed {
    denied: Denied,
    role: Role,
}

impl IntoResponse for NotAllowed {
    fn into_response(self) -> Response {
        let message = format!("A valid token of role {} is needed", self.role.as_str());
        let error = Error::new(Code::PERMISSION_DENIED, message);
        if self.denied == Denied::Forbidden {
            return refuse(StatusCode::FORBIDDEN, &error);
        }
        let mut response = refuse(StatusCode::UNAUTHORIZED, &error);
        response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
        response
    }
}

#[derive(Default, Deserialize)]
struct Wanted {
    app: Option<String>,
    token: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Knock {
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
        let wanted = Query::<Wanted>::try_from_uri(&parts.uri).map_err(|error| {
            let error = Error::invalid_params(error.body_text());
            refuse(StatusCode::BAD_REQUEST, &error)
        })?;
        Ok(Knock {
            wanted: wanted.0,
            headers: parts.headers.clone(),
            upgrade,
            pulse: parts.extensions.get().cloned().unwrap_or_default(),
        })
    }
}

impl Knock {
    /// The app wanted, if one is named. `?app=` alone asks for none in particular.
    pub fn app(&self) -> Option<String> {
        self.wanted.app.clone().filter(|app| !app.is_empty())
    }

    /// Who asks, if it may act as `role`.
    pub fn identify(&self, hub: &Hub, role: Role) -> Result<Identity, NotAllowed> {
        let identity = hub.tokens.identify(role, self.presented());
        identity.map_err(|denied| NotAllowed { denied, role })
    }

    /// Opens the WebSocket, in `protocol` if the client offers it.
    pub fn accept<F: Future<Output = ()> + Send + 'static>(
        self,
        protocol: &'static str,
        limits: &Limits,
        serve: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Response {
        let Knock {
            mut upgrade, pulse, ..
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
        // A frame past this is not read; one past the message limit is read, refused and dropped.
        let frame_bytes = limits.frame_bytes.max(limits.message_bytes);
        upgrade
            .read_buffer_size(32 << 10)
            .max_message_size(frame_bytes)
            .max_frame_size(frame_bytes)
            .on_upgrade(move |socket| serve(Socket { socket, pulse }))
    }

    /// The secrets shown.
    pub(crate) fn presented(&self) -> impl Iterator<Item = &str> {
        let offered = self.upgrade.requested_protocols();
        let offered = offered.filter_map(|protocol| protocol.to_str().ok());
        let offered = offered.filter_map(|protocol| protocol.strip_prefix(TOKEN_PROTOCOL));
        let token = self.wanted.token.as_deref();
        bearer(&self.headers)
            .into_iter()
            .chain(token)
            .chain(offered)
    }
}
