//! Who sends a request.

use std::borrow::Cow;

use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use url::form_urlencoded;

use crate::gateway::Hub;
use crate::tokens::{Denied, Identity, Role};

/// `WWW-Authenticate` of an answer with status 401.
pub const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"caphost\"");

/// What stands before a secret that is offered as a subprotocol of a WebSocket: a browser cannot set
/// `Authorization` there.
pub(crate) const TOKEN_PROTOCOL: &str = "caphost.token.";

/// Who sends a request, if it may act as `wanted`; `query` is the raw query string.
pub fn authenticate(
    hub: &Hub,
    wanted: Role,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Identity, Denied> {
    let secrets: Vec<_> = secrets(headers, query).collect();
    hub.tokens
        .identify(wanted, secrets.iter().map(|secret| &**secret))
}

/// Whether a request shows a secret, right or wrong.
pub(crate) fn shows_secret(headers: &HeaderMap, query: Option<&str>) -> bool {
    secrets(headers, query).next().is_some()
}

/// The secrets shown: with `Authorization: Bearer …`, as `token` in the query, or as subprotocols.
fn secrets<'a>(
    headers: &'a HeaderMap,
    query: Option<&'a str>,
) -> impl Iterator<Item = Cow<'a, str>> {
    let query = query.unwrap_or_default().as_bytes();
    let in_query = form_urlencoded::parse(query).find(|(name, _)| name == "token");
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
    let offered = offered.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let offered = offered.filter_map(|protocol| str::from_utf8(protocol).ok());
    let offered = offered.filter_map(|protocol| protocol.trim().strip_prefix(TOKEN_PROTOCOL));
    let bearer = bearer(headers).map(Cow::Borrowed).into_iter();
    bearer
        .chain(in_query.map(|(_, secret)| secret))
        .chain(offered.map(Cow::Borrowed))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_come_in_three_ways() {
        let mut headers = HeaderMap::new();
        assert!(!shows_secret(&headers, Some("app=a")));
        headers.insert(AUTHORIZATION, HeaderValue::from_static("bearer  one"));
        let protocols = HeaderValue::from_static("abp, caphost.token.three,caphost.token.four");
        headers.insert(SEC_WEBSOCKET_PROTOCOL, protocols);
        let shown: Vec<_> = secrets(&headers, Some("token=tw%6F&token=no")).collect();
        assert_eq!(shown, ["one", "two", "three", "four"]);
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic b25l"));
        assert_eq!(secrets(&headers, None).count(), 2);
    }
}
