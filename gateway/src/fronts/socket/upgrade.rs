//! Requests for a WebSocket: checking who may have one, and opening it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Query};
use axum::http::header::{HeaderMap, HeaderValue, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::http::request::Parts as RequestParts;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tungstenite::handshake::server::create_response_with_body;

use crate::bounds::{Permit, QuotaKey};
use crate::fronts::auth::{Bearer, TOKEN_PROTOCOL};
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::Connection;
use crate::fronts::socket::bounds::SocketBounds;
use crate::fronts::socket::messages::MessageBytes;
use crate::fronts::socket::stream::Watch;
use crate::gateway::Hub;
use crate::limits::{Limits, REGISTRATION_BYTES};
use crate::tokens::{Identity, Role};
use caphost::call::Error;

/// When a peer whose share is used up may try again.
pub(crate) const RETRY_SHARE: Duration = Duration::from_secs(5);

/// A request for a WebSocket. Other requests are refused.
pub struct SocketRequest {
    app: Option<String>,
    headers: HeaderMap,
    upgrade: OnUpgrade,
    /// The response to the client.
    response: Response,
    connection: Connection,
    bearer: Bearer,
    /// Whether the client has shown no token although tokens are configured.
    is_strange: bool,
}

/// A WebSocket and its connection.
pub struct Socket {
    pub(super) stream: TokioIo<Upgraded>,
    pub(super) bytes: MessageBytes,
    pub(super) watch: Watch,
    pub(super) bounds: Arc<SocketBounds>,
}

#[derive(Default, Deserialize)]
struct Wanted {
    app: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for SocketRequest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut RequestParts, state: &S) -> Result<Self, Response> {
        let mut request = Request::new(());
        *request.method_mut() = parts.method.clone();
        *request.version_mut() = parts.version;
        *request.headers_mut() = parts.headers.clone();
        let response = create_response_with_body(&request, Body::empty).ok();
        let upgrade = parts.extensions.remove::<OnUpgrade>();
        let (upgrade, response) = upgrade.zip(response).ok_or_else(|| {
            let method = &parts.method;
            let message = format!("This is a WebSocket: a plain {method} is not answered");
            let error = Error::invalid_params(message);
            let refusal = Refusal::new(StatusCode::UPGRADE_REQUIRED, error);
            let mut response = refusal.into_response();
            let web_socket = HeaderValue::from_static("websocket");
            response.headers_mut().insert(UPGRADE, web_socket);
            response
        })?;
        let wanted = Query::<Wanted>::try_from_uri(&parts.uri)
            .map_err(|error| Refusal::invalid(error.body_text()).into_response())?;
        let connection = parts.extensions.get().cloned();
        let bearer = Bearer::from_request_parts(parts, state).await;
        let bearer = bearer.map_err(IntoResponse::into_response)?;
        let unknown = || Refusal::invalid("This connection cannot be a WebSocket").into_response();
        Ok(SocketRequest {
            // An empty `?app=` names no app.
            app: wanted.0.app.filter(|app| !app.is_empty()),
            headers: request.into_parts().0.headers,
            upgrade,
            response,
            connection: connection.ok_or_else(unknown)?,
            bearer,
            is_strange: false,
        })
    }
}

impl SocketRequest {
    /// The headers of the request.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The requested app, if one is named.
    pub fn app(&self) -> Option<String> {
        self.app.clone()
    }

    /// The identity of the requester, if it may act as `role`.
    pub(crate) fn identify(&self, hub: &Hub, role: Role) -> Result<Identity, Refusal> {
        let identity = self.bearer.acts_as(role);
        if let Ok(identity) = &identity
            && (role != Role::App || !hub.tokens.is_empty())
        {
            self.connection.belongs_to(hub, identity, role);
        }
        identity
            .map_err(|denied| Refusal::of_token(denied, role.needed(denied, self.shows_secret())))
    }

    /// Whether the request comes from a browser or from Node. Both hide the status of an answer.
    pub(crate) fn hides_status(&self) -> bool {
        let said = |name| {
            self.headers
                .get(name)
                .map_or(&b""[..], HeaderValue::as_bytes)
        };
        // Chromium does not send the first header, and Node does not send the second.
        said("sec-fetch-mode") == b"websocket" || said("user-agent").starts_with(b"Mozilla/")
    }

    /// Whether the request shows a secret, right or wrong.
    pub(crate) fn shows_secret(&self) -> bool {
        self.bearer.shows_secret
    }

    /// The requester counts as a stranger, who may show a token later.
    pub(crate) fn treat_as_stranger(&mut self) {
        self.is_strange = true;
    }

    /// The connection of the request.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The holder whose share the connection counts towards.
    pub(crate) fn quota_key(&self, hub: &Hub, owner: &Identity) -> QuotaKey {
        QuotaKey::of(&hub.tokens, owner, self.connection.address.0.ip())
    }

    /// Takes a place of the agent's share. Without tokens there are no shares.
    pub(crate) fn share(&self, hub: &Hub, owner: &Identity) -> Result<Option<Permit>, Refusal> {
        if hub.tokens.is_empty() {
            return Ok(None);
        }
        let agents = &self.connection.bounds.agents;
        let taken = agents.take(&self.quota_key(hub, owner), 1);
        taken.map(Some).map_err(|_| {
            let max = hub.limits.sessions_per_token;
            let message = format!("{max} agents with this token are connected, and no more are accepted (--max-sessions-per-token)");
            Refusal::later(StatusCode::TOO_MANY_REQUESTS, message, RETRY_SHARE)
        })
    }

    /// Opens the WebSocket. Chooses `protocol` if the client offers it.
    pub fn accept<F: Future<Output = ()> + Send + 'static>(
        self,
        protocol: &'static str,
        limits: &Limits,
        serve: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Response {
        let SocketRequest {
            headers,
            upgrade,
            mut response,
            connection,
            is_strange,
            ..
        } = self;
        let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
        let offered = offered.flat_map(|list| list.as_bytes().split(|byte| *byte == b','));
        let offered: Vec<_> = offered.map(<[u8]>::trim_ascii).collect();
        let is_ours = |offer: &&&[u8]| **offer == protocol.as_bytes();
        let has_token = |offer: &&&[u8]| offer.starts_with(TOKEN_PROTOCOL.as_bytes());
        let chosen = offered.iter().find(is_ours);
        let chosen = chosen.or_else(|| offered.iter().find(has_token));
        if let Some(protocol) = chosen.and_then(|it| HeaderValue::from_bytes(it).ok()) {
            response
                .headers_mut()
                .insert(SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        // A longer frame is not read at all. Of a message over the message limit, the beginning is kept, and
        // the message is refused.
        let message_bytes = limits.message_bytes;
        let mut frame_bytes = limits.frame_bytes.max(message_bytes);
        if is_strange {
            frame_bytes = message_bytes.max(REGISTRATION_BYTES);
        }
        tokio::spawn(async move {
            let Ok(stream) = upgrade.await else {
                return;
            };
            let Connection { watch, bounds, .. } = connection;
            watch.becomes_socket();
            serve(Socket {
                stream: TokioIo::new(stream),
                bytes: MessageBytes {
                    kept: message_bytes,
                    read: frame_bytes,
                },
                watch,
                bounds,
            })
            .await;
        });
        response
    }
}
