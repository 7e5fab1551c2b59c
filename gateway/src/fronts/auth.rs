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
    // Several secrets where one belongs are a guess: none of them counts.
    let secrets = carriers(headers, query).map(Carrier::only);
    let is_guess = secrets.iter().any(Result::is_err);
    let secrets = secrets.iter().flatten().flatten();
    let secrets = secrets.map(|secret| &**secret).filter(|_| !is_guess);
    hub.tokens.identify(wanted, secrets)
}

/// Whether a request shows a secret, right or wrong.
pub(crate) fn shows_secret(headers: &HeaderMap, query: Option<&str>) -> bool {
    let shown = carriers(headers, query).map(|carrier| carrier.first.is_some());
    shown.contains(&true)
}

/// A place of a request where a secret may be.
struct Carrier<'a> {
    first: Option<Cow<'a, str>>,
    /// Whether there are more.
    more: bool,
}

/// More secrets than one.
#[derive(Debug, PartialEq)]
struct Several;

impl<'a> Carrier<'a> {
    /// What is shown there; no more of it is read than is needed.
    fn of(mut shown: impl Iterator<Item = Cow<'a, str>>) -> Self {
        let first = shown.next();
        let more = shown.next().is_some();
        Carrier { first, more }
    }

    fn only(self) -> Result<Option<Cow<'a, str>>, Several> {
        if self.more {
            Err(Several)
        } else {
            Ok(self.first)
        }
    }
}

/// Secrets come with `Authorization: Bearer …`, as `token` in the query, or as subprotocols.
fn carriers<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> [Carrier<'a>; 3] {
    let bearers = headers.get_all(AUTHORIZATION).into_iter();
    let bearers = bearers.filter_map(bearer).map(Cow::Borrowed);
    let query = query.unwrap_or_default().as_bytes();
    let in_query = form_urlencoded::parse(query).filter(|(name, _)| name == "token");
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
    let offered = offered.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let offered = offered.filter_map(|protocol| str::from_utf8(protocol).ok());
    let offered = offered.filter_map(|protocol| protocol.trim().strip_prefix(TOKEN_PROTOCOL));
    [
        Carrier::of(bearers),
        Carrier::of(in_query.map(|(_, secret)| secret)),
        Carrier::of(offered.map(Cow::Borrowed)),
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
            let carriers = carriers(headers, query).map(Carrier::only);
            carriers.map(|secret| secret.unwrap().map(Cow::into_owned))
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
