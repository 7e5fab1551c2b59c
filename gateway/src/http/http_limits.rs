//! The bounds of HTTP requests: how many, and how large. How slow: see `body_timeout`.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue, RETRY_AFTER};
use axum::middleware::Next;
use axum::response::Response;
use clap::Args;
use serde_json::json;

use crate::fronts::auth::authenticate;
use crate::fronts::rate_limit::RateLimiter;
use crate::fronts::refusal::refuse;
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use crate::options::{self, defaults, duration};
use crate::tokens::Role;
use caphost::call::{Code, Error};

/// The bounds of HTTP. The size of a body is that of a message,
/// [`Limits::message_bytes`](crate::limits::Limits::message_bytes).
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "Operation")]
pub struct HttpLimits {
    /// How long a TLS handshake may take.
    #[arg(id = "tls_handshake_timeout", long = "tls-handshake-timeout", env = "CAPHOST_TLS_HANDSHAKE_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub handshake_timeout: Duration,
    /// For the next request on an HTTP connection, after which it is closed.
    #[arg(id = "http_idle_timeout", long = "http-idle-timeout", env = "CAPHOST_HTTP_IDLE_TIMEOUT", default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub idle_timeout: Duration,
    /// How long the body of an HTTP request may take to come, after its head. One that takes longer is answered 408.
    #[arg(id = "http_body_timeout", long = "http-body-timeout", env = "CAPHOST_HTTP_BODY_TIMEOUT", default_value = "2m", value_parser = duration, value_name = "TIME")]
    pub body_timeout: Duration,
    /// HTTP requests per second with one token, or from one address without a token. A second's worth may come at once.
    #[arg(id = "max_http_requests_per_second", long = "max-http-requests-per-second", env = "CAPHOST_MAX_HTTP_REQUESTS_PER_SECOND", default_value = "10000", value_parser = options::rate, value_name = "N")]
    pub requests_per_second: f64,
}

impl Default for HttpLimits {
    fn default() -> Self {
        defaults()
    }
}

/// Counts requests.
pub(crate) struct RequestRate {
    per_second: f64,
    limiter: RateLimiter,
    hub: Arc<Hub>,
}

/// Whose requests are counted together.
#[derive(Debug, Hash, PartialEq, Eq)]
enum Requester {
    Bearer(Arc<str>),
    Network(IpAddr),
}

impl RequestRate {
    pub(crate) fn new(per_second: f64, hub: Arc<Hub>) -> Self {
        RequestRate {
            per_second,
            limiter: RateLimiter::per_second(per_second),
            hub,
        }
    }
}

/// Turns away a request that comes too soon.
pub(crate) async fn rate(
    State(rate): State<Arc<RequestRate>>,
    ConnectInfo(PeerAddress(address)): ConnectInfo<PeerAddress>,
    request: Request,
    next: Next,
) -> Response {
    let bearer = identity(&rate.hub, request.headers(), request.uri().query());
    let requester = bearer.map_or_else(
        || Requester::Network(network(address.ip())),
        Requester::Bearer,
    );
    let Err(wait) = rate.limiter.check(&requester) else {
        return next.run(request).await;
    };
    let per_second = rate.per_second;
    let mut error = Error::new(Code::RATE_LIMITED, "Too many requests per second").with_details(
        Box::new(json!({ "limit": "httpRequestsPerSecond", "max": per_second })),
    );
    error.retry_after = Some((wait.as_secs_f64() * 1_000.0).ceil());
    let mut response = refuse(StatusCode::TOO_MANY_REQUESTS, &error);
    let seconds = HeaderValue::from(wait.as_secs_f64().ceil() as u64);
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

/// Turns away a request whose body is announced to be larger than a message may be. One that is
/// larger without saying so fails when it is read.
pub(crate) async fn body(State(max): State<usize>, request: Request, next: Next) -> Response {
    match announced(request.headers()) {
        Some(bytes) if bytes > max as u64 => {
            let message = format!("The body has {bytes} bytes; at most {max} are accepted");
            let details = json!({ "limit": "messageBytes", "max": max });
            let error = Error::invalid_params(message).with_details(Box::new(details));
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &error)
        }
        _ => next.run(request).await,
    }
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The name of the token shown, of whatever role.
fn identity(hub: &Hub, headers: &HeaderMap, query: Option<&str>) -> Option<Arc<str>> {
    if hub.tokens.is_empty() {
        return None;
    }
    let roles = [Role::Agent, Role::App].into_iter();
    let mut known = roles.filter_map(|role| authenticate(hub, role, headers, query).ok());
    known.next().map(|identity| identity.name)
}

/// What one party owns: an IPv4 address, or the /64 network of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let prefix = v6.to_bits() & !u128::from(u64::MAX);
            Ipv6Addr::from_bits(prefix).into()
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_counts_as_one() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8::1:2:3:4"), "2001:db8::");
        assert_eq!(network("2001:db8:0:1::9"), "2001:db8:0:1::");
        assert_eq!(network("10.1.2.3"), "10.1.2.3");
        assert_eq!(network("::ffff:10.1.2.3"), "10.1.2.3");
    }
}
