//! Who sends a request.

use std::borrow::Cow;

use axum::http::Uri;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use url::form_urlencoded;

use super::refusal::Refusal;
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
    // Several secrets where one belongs are a guess: none of them counts.
    let shown = shown(headers, query);
    let is_guess = shown.iter().any(|[_, another]| another.is_some());
    let secrets = shown.iter().flatten().flatten().map(|secret| &**secret);
    hub.tokens.identify(wanted, secrets.filter(|_| !is_guess))
}

/// Who asks. Agents see their own, admins see everything.
pub(crate) fn viewer(hub: &Hub, headers: &HeaderMap, uri: &Uri) -> Result<Identity, Refusal> {
    let needed = "A valid token of role agent or admin is needed";
    authenticate(hub, Role::Agent, headers, uri.query())
        .map_err(|denied| Refusal::denied(denied, needed, needed))
}

/// Whether a request shows a secret, right or wrong.
pub(crate) fn shows_secret(headers: &HeaderMap, query: Option<&str>) -> bool {
    let shown = shown(headers, query);
    shown.iter().any(|[secret, _]| secret.is_some())
}

/// The secret in each of the places where one may be, and another that is there too: they come with
/// `Authorization: Bearer …`, as `token` in the query, or as subprotocols.
fn shown<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> [[Option<Cow<'a, str>>; 2]; 3] {
    let bearers = headers.get_all(AUTHORIZATION).into_iter();
    let mut bearers = bearers.filter_map(bearer).map(Cow::Borrowed);
    let query = query.unwrap_or_default().as_bytes();
    let in_query = form_urlencoded::parse(query).filter(|(name, _)| name == "token");
    let mut in_query = in_query.map(|(_, secret)| secret);
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
    let offered = offered.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let offered = offered.filter_map(|protocol| str::from_utf8(protocol).ok());
    let offered = offered.filter_map(|protocol| protocol.trim().strip_prefix(TOKEN_PROTOCOL));
    let mut offered = offered.map(Cow::Borrowed);
    // No more is read than is needed.
    [
        [bearers.next(), bearers.next()],
        [in_query.next(), in_query.next()],
        [offered.next(), offered.next()],
    ]
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::tokens::Tokens;

    fn offers(protocols: &str) -> HeaderMap {
        let protocols = HeaderValue::from_str(protocols).unwrap();
        HeaderMap::from_iter([(SEC_WEBSOCKET_PROTOCOL, protocols)])
    }

    #[test]
    fn secrets_come_in_three_ways() {
        let shown = |headers: &HeaderMap, query| {
            shown(headers, query).map(|[secret, another]| {
                assert_eq!(another, None);
                secret.map(Cow::into_owned)
            })
        };
        let secret = |text: &str| Some(text.to_string());
        let mut headers = HeaderMap::new();
        assert!(!shows_secret(&headers, Some("app=a")));
        headers.insert(AUTHORIZATION, HeaderValue::from_static("bearer  one"));
        headers.extend(offers("abp, caphost.token.three"));
        let all = [secret("one"), secret("two"), secret("three")];
        assert_eq!(shown(&headers, Some("token=tw%6F&app=a")), all);
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic b25l"));
        assert_eq!(shown(&headers, None), [None, None, secret("three")]);
    }

    #[test]
    fn nobody_guesses_a_thousand_secrets_with_one_request() {
        let token = "agent=the-secret-of-an-agent".parse().unwrap();
        let hub = Hub::new(Limits::default(), Tokens::new(vec![token]));
        let open = Hub::new(Limits::default(), Tokens::default());
        let is_let_in = |hub: &Hub, headers: &HeaderMap, query| {
            authenticate(hub, Role::Agent, headers, query).is_ok()
        };
        let right = "caphost.token.the-secret-of-an-agent";
        assert!(is_let_in(&hub, &offers(right), Some("token=wrong")));
        let guesses: String = (0..1_000)
            .map(|it| format!("caphost.token.{it},"))
            .collect();
        let many = offers(&format!("{guesses}{right}"));
        let mut twice = offers(right);
        twice.append(
            SEC_WEBSOCKET_PROTOCOL,
            HeaderValue::from_static("caphost.token.a"),
        );
        let mut bearers = HeaderMap::new();
        for bearer in ["Bearer the-secret-of-an-agent", "Bearer other"] {
            bearers.append(AUTHORIZATION, HeaderValue::from_static(bearer));
        }
        let query = Some("token=the-secret-of-an-agent&token=other");
        for (headers, query) in [
            (&many, None),
            (&twice, None),
            (&bearers, None),
            (&HeaderMap::new(), query),
        ] {
            assert!(!is_let_in(&hub, headers, query));
            assert!(shows_secret(headers, query));
            assert!(is_let_in(&open, headers, query), "there are no tokens");
        }
    }
}
