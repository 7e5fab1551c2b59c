//! The bounds of HTTP requests: how many, how large, and how slow.

use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, HeaderMap};
use clap::Args;
use serde_json::json;

use crate::bounds::Ledgers;
use crate::fronts::refusal::Refusal;
use crate::options::{self, defaults, duration};
use caphost::call::Error;

/// The bounds of HTTP. The size of a body is that of a message,
/// [`Limits::message_bytes`](crate::limits::Limits::message_bytes).
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "Operation")]
pub struct HttpLimits {
    /// How long a TLS handshake may take.
    #[arg(id = "tls_handshake_timeout", long = "tls-handshake-timeout", env = "CAPHOST_TLS_HANDSHAKE_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub handshake_timeout: Duration,
    /// How often to check the files of the TLS certificate for changes. On SIGHUP they are read at once.
    #[arg(id = "tls_reload_interval", long = "tls-reload-interval", env = "CAPHOST_TLS_RELOAD_INTERVAL", default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub reload_interval: Duration,
    /// How long a new connection may take to send the head of its first request before it is closed.
    #[arg(id = "http_head_timeout", long = "http-head-timeout", env = "CAPHOST_HTTP_HEAD_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub head_timeout: Duration,
    /// How long an HTTP connection may wait for its next request before it is closed.
    #[arg(id = "http_idle_timeout", long = "http-idle-timeout", env = "CAPHOST_HTTP_IDLE_TIMEOUT", default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub idle_timeout: Duration,
    /// How long the body of an HTTP request may take after its head. A slower one is answered 408.
    #[arg(id = "http_body_timeout", long = "http-body-timeout", env = "CAPHOST_HTTP_BODY_TIMEOUT", default_value = "2m", value_parser = duration, value_name = "TIME")]
    pub body_timeout: Duration,
    /// How long a client may read nothing of an answer before its connection is closed.
    #[arg(id = "http_write_timeout", long = "http-write-timeout", env = "CAPHOST_HTTP_WRITE_TIMEOUT", default_value = "30s", value_parser = duration, value_name = "TIME")]
    pub write_timeout: Duration,
    /// Unsent bytes of answers larger than 64 KiB. When there are more, the token or address with the most loses the connection that holds most, or is answered 503. Peers without a token, where tokens are needed, have a quarter as much for themselves.
    #[arg(id = "max_unsent_bytes", long = "max-unsent-bytes", env = "CAPHOST_MAX_UNSENT_BYTES", default_value = "64MiB", value_parser = options::bytes, value_name = "SIZE")]
    pub unsent_bytes: usize,
    /// HTTP connections at once, WebSockets not counted. Beyond it an idle connection is closed. If none is idle, the one that has not read for longest is.
    #[arg(id = "max_http_connections", long = "max-http-connections", env = "CAPHOST_MAX_HTTP_CONNECTIONS", default_value = "4096", value_parser = options::count, value_name = "N")]
    pub connections: usize,
    /// HTTP connections at once from one address, or one IPv6 /64 network. Beyond it, one of them is closed as for --max-http-connections.
    #[arg(id = "max_http_connections_per_address", long = "max-http-connections-per-address", env = "CAPHOST_MAX_HTTP_CONNECTIONS_PER_ADDRESS", default_value = "1024", value_parser = options::count, value_name = "N")]
    pub connections_per_address: usize,
    /// HTTP requests of one token under way at once, until their answers are read. Beyond it, more are answered 503. At most three quarters of --max-http-connections-per-address, so that one token cannot take all connections of an address.
    #[arg(id = "max_http_connections_per_token", long = "max-http-connections-per-token", env = "CAPHOST_MAX_HTTP_CONNECTIONS_PER_TOKEN", default_value = "768", value_parser = options::count, value_name = "N")]
    pub connections_per_token: usize,
    /// HTTP requests per second with one token, or from one address without a token. A second's worth may come at once.
    #[arg(id = "max_http_requests_per_second", long = "max-http-requests-per-second", env = "CAPHOST_MAX_HTTP_REQUESTS_PER_SECOND", default_value = "10000", value_parser = options::rate, value_name = "N")]
    pub requests_per_second: f64,
}

impl HttpLimits {
    /// Lowers the bounds of one address and one token so that others get connections too.
    pub(crate) fn fit(&mut self) {
        let of_one = self.connections_per_address.min(self.connections);
        self.connections_per_address = of_one;
        let share = (of_one * 3 / 4).max(1);
        if self.connections_per_token > share {
            tracing::info!(
                max_http_connections_per_address = of_one,
                max_http_connections_per_token = share,
                "one token would take all connections of an address: its bound is lowered"
            );
            self.connections_per_token = share;
        }
    }

    /// The ledgers of unsent answers.
    pub(crate) fn unsent(&self) -> Ledgers {
        Ledgers::new(self.unsent_bytes, self.unsent_bytes / 4)
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        defaults()
    }
}

/// Refuses a request whose announced body is too large. A body that is larger than announced fails when it is
/// read.
pub(crate) fn announced_too_large(request: &Request, max: usize) -> Option<Refusal> {
    let bytes = announced(request.headers()).filter(|bytes| *bytes > max as u64)?;
    let message = format!("The body has {bytes} bytes; at most {max} are accepted");
    let details = json!({ "limit": "messageBytes", "max": max });
    let error = Error::invalid_params(message).with_details(Box::new(details));
    let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error);
    Some(refusal.unread())
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
