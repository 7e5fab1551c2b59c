//! The URL at which a client reaches the gateway.

use axum::http::header::{HOST, HeaderMap, HeaderName};
use url::Url;

/// The scheme that the client used to reach a proxy in front of the gateway.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The root of the gateway, as the sender of a request with these headers reaches it. `secure` is whether the
/// gateway serves TLS.
pub(crate) fn root(headers: &HeaderMap, secure: bool) -> Option<Url> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let forwarded =
        text(FORWARDED_PROTO).map(|value| value.split(',').next().unwrap_or_default().trim());
    let scheme = match forwarded {
        Some(proto) if proto.eq_ignore_ascii_case("https") => "https",
        Some(proto) if proto.eq_ignore_ascii_case("http") => "http",
        _ if secure => "https",
        _ => "http",
    };
    Url::parse(&format!("{scheme}://{}/", text(HOST)?)).ok()
}
