//! Who sends an HTTP request.

use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use url::form_urlencoded;

use crate::gateway::Hub;
use crate::tokens::{Denied, Identity, Role};

/// `WWW-Authenticate` of an answer with status 401.
pub const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"caphost\"");

/// Who sends a request, if it may act as `wanted`: by `Authorization: Bearer …`, or by `token` in
/// the raw query string.
pub fn authenticate(
    hub: &Hub,
    wanted: Role,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Identity, Denied> {
    let query = query.unwrap_or_default().as_bytes();
    let token = form_urlencoded::parse(query).find(|(name, _)| name == "token");
    let presented = bearer(headers).into_iter();
    hub.tokens
        .identify(wanted, presented.chain(token.as_ref().map(|(_, it)| &**it)))
}

/// The secret in `Authorization: Bearer …`.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}
