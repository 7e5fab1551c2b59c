//! The sender of a request.

use std::borrow::Cow;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use axum::http::request::Parts;
use url::form_urlencoded;

use super::refusal::Refusal;
use crate::tokens::{Denied, Identity, Known, Role, Tokens};

/// The prefix of a secret that is offered as a subprotocol of a WebSocket, where a browser cannot set
/// `Authorization`.
pub(crate) const TOKEN_PROTOCOL: &str = "caphost.token.";

/// The sender of a request: one of its extensions, and an extractor.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    /// Whether the request shows a secret, right or wrong.
    pub shows_secret: bool,
    known: Known,
}

impl Bearer {
    /// Reads the secrets of a request; `query` is the raw query string.
    pub fn of(tokens: &Tokens, headers: &HeaderMap, query: Option<&str>) -> Self {
        let shown = shown(headers, query);
        // Several secrets in one place are a guess, and none of them counts.
        let is_guess = shown.iter().any(|[_, another]| another.is_some());
        let secrets = shown.iter().flatten().flatten().map(|secret| &**secret);
        Bearer {
            shows_secret: shown.iter().any(|[secret, _]| secret.is_some()),
            known: tokens.known(secrets.filter(|_| !is_guess)),
        }
    }

    /// The identity of the sender, if it may act as `wanted`.
    pub fn acts_as(&self, wanted: Role) -> Result<Identity, Denied> {
        self.known.acts_as(wanted)
    }

    /// The identity of a viewer. Agents see their own runs, admins see all.
    pub fn viewer(&self) -> Result<Identity, Refusal> {
        let needed = "A valid token of role agent or admin is needed";
        let viewer = self.acts_as(Role::Agent);
        viewer.map_err(|denied| Refusal::denied(denied, needed, needed))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Bearer {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let unknown = || Refusal::internal("The sender of the request is not known");
        parts.extensions.get().cloned().ok_or_else(unknown)
    }
}

/// The secret in each place where a request may have one, and a second secret in the same place. The places
/// are `Authorization: Bearer …`, `token` in the query, and subprotocols.
fn shown<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> [[Option<Cow<'a, str>>; 2]; 3] {
    let bearers = headers.get_all(AUTHORIZATION).into_iter();
    let mut bearers = bearers.filter_map(bearer);
    let query = query.unwrap_or_default().as_bytes();
    let in_query = form_urlencoded::parse(query).filter(|(name, _)| name == "token");
    let mut in_query = in_query.map(|(_, secret)| secret);
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
    let offered = offered.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let offered = offered.map(<[u8]>::trim_ascii);
    let offered = offered.filter_map(|it| it.strip_prefix(TOKEN_PROTOCOL.as_bytes()));
    let mut offered = offered.map(String::from_utf8_lossy);
    // Each place is read only as far as needed.
    [
        [bearers.next(), bearers.next()],
        [in_query.next(), in_query.next()],
        [offered.next(), offered.next()],
    ]
}

/// The secret in an `Authorization`. A secret that is not UTF-8 is a wrong one.
fn bearer(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let value = value.as_bytes();
    let scheme = value.split(|byte| *byte == b' ').next()?;
    let secret = value.get(scheme.len() + 1..)?.trim_ascii();
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer");
    is_bearer.then(|| String::from_utf8_lossy(secret))
}

#[cfg(test)]
mod tests;
