//! What is checked of every request, and what every answer carries.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request};
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderMap,
    HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::fronts::auth::shows_secret;
use crate::fronts::mcp;
use crate::fronts::rap::runtime::CALLBACK_PATH;
use crate::fronts::refusal::{TokenRefused, refuse};
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use crate::http::guard::Guard;
use crate::http::http_limits::RequestRate;
use crate::refusals;
use crate::seldom::Seldom;
use crate::wire::{Failure, for_log};
use caphost::call::{Code, Error};

/// What the pages may do unless told otherwise: their own scripts, wasm, and blobs they made.
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

    /// The policy with these, unless it names some itself.
    pub(crate) fn in_policy(&self, policy: Option<HeaderValue>) -> io::Result<Option<HeaderValue>> {
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

    /// The value of `X-Frame-Options` for browsers that do not know it, where that can say it.
    pub(crate) fn in_header(&self) -> Option<HeaderValue> {
        match &*self.0 {
            "'none'" => Some(HeaderValue::from_static("DENY")),
            "'self'" => Some(HeaderValue::from_static("SAMEORIGIN")),
            _ => None,
        }
    }
}

/// The gateway's own pages.
impl Default for FrameAncestors {
    fn default() -> Self {
        FrameAncestors("'self'".into())
    }
}

/// How long a browser may remember what is allowed.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// The checks and the headers.
pub(crate) struct Policy {
    pub guard: Guard,
    pub hub: Arc<Hub>,
    pub rate: Arc<RequestRate>,
    pub content_security_policy: Option<HeaderValue>,
    /// What `X-Frame-Options` says of who may frame the pages, if it can say it.
    pub x_frame_options: Option<HeaderValue>,
}

impl Policy {
    /// Looks at a request before it is answered.
    pub fn look(&self, request: &Request) -> Option<Shown> {
        (!self.hub.tokens.is_empty()).then(|| Shown::of(request))
    }

    /// Adds the headers of every answer, and counts it.
    pub fn finish(&self, shown: Option<Shown>, response: &mut Response) {
        if let (Some(shown), Some(TokenRefused(reason))) =
            (shown, response.extensions_mut().remove())
        {
            let path = without_secret(shown.uri.path());
            refusals::request(&reason, path, shown.address, shown.token);
        }
        self.hub.metrics.http_answered(response.status().as_u16());
        let headers = response.headers_mut();
        let mut set = |name: HeaderName, value: &'static str| {
            headers
                .entry(name)
                .or_insert(HeaderValue::from_static(value));
        };
        set(X_CONTENT_TYPE_OPTIONS, "nosniff");
        set(REFERRER_POLICY, "no-referrer");
        // Files carry Last-Modified: a browser asks, and mostly gets 304.
        set(CACHE_CONTROL, "no-cache");
        if self.isolates() {
            // Pages that load nothing of others may share memory with their workers.
            set(OPENER_POLICY, "same-origin");
            set(EMBEDDER_POLICY, "require-corp");
        }
        for (name, value) in [
            (CONTENT_SECURITY_POLICY, &self.content_security_policy),
            (X_FRAME_OPTIONS, &self.x_frame_options),
        ] {
            if let Some(value) = value {
                headers.entry(name).or_insert(value.clone());
            }
        }
    }

    /// The answer to what is addressed to another name than ours.
    pub fn other_host(&self, request: &Request) -> Option<Response> {
        let (status, error) = self.wrong_host(request.headers())?;
        Some(self.turn_away(request, status, &error))
    }

    /// The answer to what the page of a foreign origin has sent. A native client sends no `Origin`; a
    /// browser does whenever it opens a WebSocket, and with every request that could change something
    /// or whose answer a script of another origin would read.
    pub fn other_origin(&self, request: &Request) -> Option<Response> {
        let error = self.foreign_origin(request.headers())?;
        warn_of_origin(&error);
        Some(self.turn_away(request, StatusCode::FORBIDDEN, &error))
    }
}

/// What the log says of a request, should it be refused for its token.
pub(crate) struct Shown {
    uri: Uri,
    address: Option<SocketAddr>,
    token: bool,
}

impl Shown {
    fn of(request: &Request) -> Self {
        let address = request.extensions().get::<ConnectInfo<PeerAddress>>();
        Shown {
            uri: request.uri().clone(),
            address: address.map(|ConnectInfo(address)| address.0),
            token: shows_secret(request.headers(), request.uri().query()),
        }
    }
}

/// Whoever the answer passes keeps nothing of it.
pub(crate) fn is_private(response: &mut Response) {
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
}

/// Says that an origin was refused, which its page cannot see: somebody may have forgotten to allow
/// it. Not of each: a page may try as often as it likes.
fn warn_of_origin(error: &Failure) {
    static REFUSED: Seldom = Seldom::new();
    if REFUSED.is_due() {
        tracing::warn!(error = error.message.as_ref(), "refused");
    }
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
    let told = [mcp::SESSION, mcp::APP].map(HeaderName::from_static);
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

/// The path up to what only one tool server knows.
fn without_secret(path: &str) -> &str {
    // Anywhere in it, as a proxy may have put something before.
    let callback = path.find(CALLBACK_PATH);
    callback.map_or(path, |at| &path[..at + CALLBACK_PATH.len()])
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let value = headers.get(name)?;
    Some(value.to_str().unwrap_or_default())
}

impl Policy {
    /// Refuses a request, which counts towards the rate like any other.
    fn turn_away(&self, request: &Request, status: StatusCode, error: &Failure) -> Response {
        if let Err(too_many) = self.rate.count(request) {
            return *too_many;
        }
        // Not the query: it may hold a token.
        let path = for_log(without_secret(request.uri().path()));
        tracing::info!(path, error = error.message.as_ref(), "refused");
        refuse(status, error)
    }

    /// Whether pages are cross-origin isolated: where the default policy forbids them to load
    /// anything of another origin, that takes nothing more away.
    fn isolates(&self) -> bool {
        let policy = self.content_security_policy.as_ref();
        // Who may frame the pages stands behind it.
        let default = DEFAULT_CONTENT_SECURITY_POLICY.as_bytes();
        policy.is_some_and(|it| it.as_bytes().starts_with(default))
    }

    fn wrong_host(&self, headers: &HeaderMap) -> Option<(StatusCode, Failure)> {
        let Some(host) = text(headers, &HOST) else {
            let error = Error::invalid_params("`Host` is missing");
            return Some((StatusCode::BAD_REQUEST, error));
        };
        if self.guard.accepts_host(host) {
            return None;
        }
        let host = for_log(host);
        let message = format!("`Host` {host:?} is not a name of this gateway");
        let error = Error::new(Code::PERMISSION_DENIED, message);
        Some((StatusCode::FORBIDDEN, error))
    }

    fn foreign_origin(&self, headers: &HeaderMap) -> Option<Failure> {
        let origin = text(headers, &ORIGIN)?;
        let host = text(headers, &HOST).unwrap_or_default();
        if self.guard.accepts_origin(origin, host) {
            return None;
        }
        let origin = for_log(origin);
        let message = format!("Origin {origin:?} may not connect: allow it with --allow-origin");
        Some(Error::new(Code::PERMISSION_DENIED, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_is_part_of_whatever_policy_there_is() {
        let own = FrameAncestors::default();
        let with = |ancestors: &FrameAncestors, policy: Option<&'static str>| {
            let policy = ancestors.in_policy(policy.map(HeaderValue::from_static));
            policy.unwrap().map(|it| it.to_str().unwrap().to_string())
        };
        let said = with(&own, Some("default-src 'self'"));
        assert_eq!(
            said.as_deref(),
            Some("default-src 'self'; frame-ancestors 'self'")
        );
        assert_eq!(with(&own, None).as_deref(), Some("frame-ancestors 'self'"));
        let theirs = Some("frame-ancestors https://a.example");
        assert_eq!(with(&own, theirs).as_deref(), theirs);
        let anybody = FrameAncestors::new("").unwrap();
        assert_eq!(with(&anybody, None), None);
        assert_eq!(
            (own.in_header().unwrap(), anybody.in_header()),
            ("SAMEORIGIN".parse().unwrap(), None)
        );
        assert!(FrameAncestors::new("'self'; script-src *").is_err());
    }
}
