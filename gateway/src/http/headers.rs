//! The checks of every request, and the headers of every answer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderMap,
    HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::fronts::auth::Bearer;
use crate::fronts::mcp::header as mcp;
use crate::fronts::rap::runtime::CALLBACK_PATH;
use crate::fronts::refusal::{Refusal, TokenRefused};
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use crate::http::guard::{Guard, name_of};
use crate::refusals;
use crate::seldom::Seldom;
use crate::wire::for_log;

/// What pages may do by default: run their own scripts and wasm, and use blobs that they made.
pub const DEFAULT_CONTENT_SECURITY_POLICY: &str = "default-src 'self'; \
    script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' blob: data:; media-src 'self' blob: data:; object-src 'self' blob: data:; \
    frame-src 'self' blob: data:; worker-src 'self' blob:; \
    connect-src 'self' ws: wss: blob: data:; base-uri 'none'; form-action 'self'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const EMBEDDER_POLICY: HeaderName = HeaderName::from_static("cross-origin-embedder-policy");

/// Who may show the gateway's pages in a frame: sources as in `frame-ancestors` of a
/// Content-Security-Policy. Empty: anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameAncestors(String);

impl FrameAncestors {
    /// The frames that `sources` names, such as `'none'`, `'self'` or `https://a.example`.
    pub fn new(sources: &str) -> Result<Self, String> {
        let is_source =
            |byte: u8| byte == b' ' || byte.is_ascii_graphic() && !b",;".contains(&byte);
        match sources.bytes().all(is_source) {
            true => Ok(FrameAncestors(sources.trim().into())),
            false => Err("expected sources such as 'self' or https://a.example".into()),
        }
    }

    /// The policy with these frame ancestors, unless it names some itself.
    fn in_policy(&self, policy: Option<HeaderValue>) -> io::Result<Option<HeaderValue>> {
        const DIRECTIVE: &str = "frame-ancestors";
        let said = policy
            .as_ref()
            .map(|it| String::from_utf8_lossy(it.as_bytes()));
        if self.0.is_empty() || said.as_ref().is_some_and(|it| it.contains(DIRECTIVE)) {
            return Ok(policy);
        }
        let mut whole = said.map_or_else(String::new, |it| format!("{it}; "));
        whole.push_str(&format!("{DIRECTIVE} {}", self.0));
        let whole = HeaderValue::from_str(&whole);
        whole.map(Some).map_err(io::Error::other)
    }

    /// The value of `X-Frame-Options`, for browsers that know no `frame-ancestors`, if that header can say
    /// the same.
    fn in_header(&self) -> Option<HeaderValue> {
        match &*self.0 {
            "'none'" => Some(HeaderValue::from_static("DENY")),
            "'self'" => Some(HeaderValue::from_static("SAMEORIGIN")),
            _ => None,
        }
    }
}

/// Only the gateway's own pages.
impl Default for FrameAncestors {
    fn default() -> Self {
        FrameAncestors("'self'".into())
    }
}

/// How long a browser may remember the answer to a preflight.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// The checks and the headers.
pub(crate) struct Policy {
    guard: Guard,
    hub: Arc<Hub>,
    /// The headers of answers that do not set them themselves.
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Policy {
    /// A policy with that `Content-Security-Policy`, if any, and with pages that those may frame.
    pub fn new(
        guard: Guard,
        hub: Arc<Hub>,
        content_security_policy: Option<HeaderValue>,
        framing: &FrameAncestors,
    ) -> io::Result<Self> {
        let content_security_policy = framing.in_policy(content_security_policy)?;
        let mut headers = vec![
            (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            // Files carry Last-Modified: a browser asks, and mostly gets 304.
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        // Pages that load nothing of others may share memory with their workers. The default policy already
        // forbids such loads, so this header takes nothing away.
        let default = DEFAULT_CONTENT_SECURITY_POLICY.as_bytes();
        let policy = content_security_policy.as_ref();
        if policy.is_some_and(|it| it.as_bytes().starts_with(default)) {
            headers.push((OPENER_POLICY, HeaderValue::from_static("same-origin")));
            headers.push((EMBEDDER_POLICY, HeaderValue::from_static("require-corp")));
        }
        headers.extend(content_security_policy.map(|it| (CONTENT_SECURITY_POLICY, it)));
        headers.extend(framing.in_header().map(|it| (X_FRAME_OPTIONS, it)));
        Ok(Policy {
            guard,
            hub,
            headers,
        })
    }

    /// Notes what the log says of a request, before the request is answered.
    pub fn look(&self, address: PeerAddress, bearer: &Bearer, uri: &Uri) -> Option<Shown> {
        let shown = || Shown {
            uri: uri.clone(),
            address: address.0,
            token: bearer.shows_secret,
        };
        (!self.hub.tokens.is_empty()).then(shown)
    }

    /// Adds the headers of every answer, and counts it.
    pub fn finish(&self, shown: Option<Shown>, response: &mut Response) {
        if let (Some(shown), Some(TokenRefused(reason))) =
            (shown, response.extensions_mut().remove())
        {
            let path = without_secret(shown.uri.path());
            let token = match response.status() {
                _ if !shown.token => "none",
                StatusCode::FORBIDDEN => "not allowed",
                _ => "wrong",
            };
            refusals::request(&reason, path, shown.address, token);
        }
        self.hub.metrics.http_answered(response.status().as_u16());
        for (name, value) in &self.headers {
            let headers = response.headers_mut();
            headers.entry(name).or_insert_with(|| value.clone());
        }
    }

    /// Refuses a request whose name or origin cannot be read, or that two readers could take for different
    /// names or origins (RFC 9112, 3.2). A proxy in between may have read the other.
    pub fn ambiguous(&self, request: &Request) -> Option<Refusal> {
        let headers = request.headers();
        for (name, shown) in [(&HOST, "Host"), (&ORIGIN, "Origin")] {
            if headers.get_all(name).iter().nth(1).is_some() {
                let message = format!("There is more than one `{shown}`");
                return Some(Refusal::invalid(message));
            }
            let value = headers.get(name);
            if value.is_some_and(|value| value.to_str().is_err()) {
                return Some(Refusal::invalid(format!("`{shown}` is not ASCII")));
            }
        }
        let host = text(headers, &HOST)?;
        if !is_host(host) {
            let host = for_log(host);
            let message = format!("`Host` {host:?} is no name or address with a port");
            return Some(Refusal::invalid(message));
        }
        let target = request.uri().authority()?;
        let port = match request.uri().scheme_str() {
            Some("http") => ":80",
            Some("https") => ":443",
            _ => "",
        };
        let bare = |authority: &str| {
            let authority = authority.to_ascii_lowercase();
            authority
                .strip_suffix(port)
                .unwrap_or(&authority)
                .to_owned()
        };
        if bare(target.as_str()) == bare(host) {
            return None;
        }
        let (target, host) = (for_log(target.as_str()), for_log(host));
        let message = format!("The target is at {target:?}, and `Host` is {host:?}");
        Some(Refusal::invalid(message))
    }

    /// Refuses a request that is addressed to another name than the gateway's.
    pub fn other_host(&self, headers: &HeaderMap) -> Option<Refusal> {
        let Some(host) = text(headers, &HOST) else {
            return Some(Refusal::invalid("`Host` is missing"));
        };
        if self.guard.accepts_host(host) {
            return None;
        }
        let name = for_log(name_of(host));
        let (scheme, host) = (self.guard.scheme(), for_log(host));
        let message = format!(
            "`Host` {host:?} is not a name of this gateway: allow it with --allow-origin {scheme}://{name}"
        );
        static REFUSED: Seldom = Seldom::new();
        Some(forbidden_aloud(message, &REFUSED))
    }

    /// Refuses a request from a page of a foreign origin. A native client sends no `Origin`. A browser sends
    /// it whenever it opens a WebSocket, and with every request that could change something or whose answer a
    /// script of another origin would read.
    pub fn other_origin(&self, headers: &HeaderMap) -> Option<Refusal> {
        let origin = text(headers, &ORIGIN)?;
        let host = text(headers, &HOST).unwrap_or_default();
        if self.guard.accepts_origin(origin, host) {
            return None;
        }
        let origin = for_log(origin);
        let message = format!("Origin {origin:?} may not connect: allow it with --allow-origin");
        static REFUSED: Seldom = Seldom::new();
        Some(forbidden_aloud(message, &REFUSED))
    }
}

/// A refusal that the log warns of: its client may not show the reason, and an operator may have forgotten an
/// option. The log warns only now and then, because a client may try as often as it likes.
fn forbidden_aloud(message: String, seldom: &Seldom) -> Refusal {
    if seldom.is_due() {
        tracing::warn!(error = message, "refused");
    }
    Refusal::forbidden(message)
}

/// What the log says of a request that is refused for its token.
pub(crate) struct Shown {
    uri: Uri,
    address: SocketAddr,
    token: bool,
}

/// Forbids caches to keep the answer.
pub(crate) fn forbid_storing(response: &mut Response) {
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
}

/// Lets scripts of the allowed origins read the answers.
pub(crate) fn cross_origin(policy: Arc<Policy>) -> CorsLayer {
    let allowed = move |origin: &HeaderValue, request: &Parts| {
        let host = text(&request.headers, &HOST).unwrap_or_default();
        origin
            .to_str()
            .is_ok_and(|origin| policy.guard.accepts_origin(origin, host))
    };
    let asked = [
        mcp::SESSION,
        mcp::VERSION,
        mcp::METHOD,
        mcp::NAME,
        "last-event-id",
    ];
    let asked = asked.map(HeaderName::from_static).into_iter();
    let told = [mcp::SESSION].map(HeaderName::from_static);
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(allowed))
        .allow_methods([
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::PUT,
            Method::DELETE,
        ])
        .allow_headers(Vec::from_iter(
            [AUTHORIZATION, CONTENT_TYPE, ACCEPT]
                .into_iter()
                .chain(asked),
        ))
        .expose_headers(Vec::from_iter(
            [RETRY_AFTER, WWW_AUTHENTICATE].into_iter().chain(told),
        ))
        .allow_private_network(true)
        .max_age(PREFLIGHT_AGE)
}

/// The path without the part that only one tool server knows.
pub(crate) fn without_secret(path: &str) -> &str {
    // Anywhere in the path, because a proxy may have put something before.
    let callback = path.find(CALLBACK_PATH);
    callback.map_or(path, |at| &path[..at + CALLBACK_PATH.len()])
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let value = headers.get(name)?;
    Some(value.to_str().unwrap_or_default())
}

/// Whether a `Host` is a name or an address, with a port or without. An empty one names nothing.
fn is_host(host: &str) -> bool {
    let is_host = |it: Authority| {
        let port = host.strip_prefix(it.host());
        port.is_some_and(|port| matches!(port, "" | ":") || it.port_u16().is_some())
    };
    host.is_empty() || host.parse().is_ok_and(is_host)
}

#[cfg(test)]
mod tests;
