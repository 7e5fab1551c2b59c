//! How `caphost serve` is operated: TLS, the rate of HTTP requests, and how it stops.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::http::HttpLimits;
use crate::http::Tls;
use crate::units::{duration, duration_or_none, rate};

/// The options of the operation.
#[derive(Args, Debug)]
#[command(next_help_heading = "Operation")]
pub(super) struct OperationArgs {
    /// A PEM file with the certificate to serve TLS with, and those between it and its authority. Goes with --tls-key.
    #[arg(long, env = "CAPHOST_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the certificate's private key.
    #[arg(long, env = "CAPHOST_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// How long a TLS handshake may take.
    #[arg(long, env = "CAPHOST_TLS_HANDSHAKE_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    tls_handshake_timeout: Duration,
    /// For the next request on an HTTP connection, after which it is closed.
    #[arg(long, env = "CAPHOST_HTTP_IDLE_TIMEOUT", default_value = "60s", value_parser = duration, value_name = "TIME")]
    http_idle_timeout: Duration,
    /// How long the body of an HTTP request may take to come, after its head. One that takes longer is answered 408.
    #[arg(long, env = "CAPHOST_HTTP_BODY_TIMEOUT", default_value = "2m", value_parser = duration, value_name = "TIME")]
    http_body_timeout: Duration,
    /// HTTP requests per second with one token, or from one address without a token. A second's worth may come at once.
    #[arg(long, env = "CAPHOST_MAX_HTTP_REQUESTS_PER_SECOND", default_value = "10000", value_parser = rate, value_name = "N")]
    max_http_requests_per_second: f64,
    /// How long calls in flight may go on after a signal to stop, while no new ones are taken. 0 cancels them at once. A second signal ends the process at once.
    #[arg(long, env = "CAPHOST_DRAIN", default_value = "0", value_parser = duration_or_none, value_name = "TIME")]
    pub drain: Duration,
}

impl OperationArgs {
    /// What cannot be right together.
    pub(super) fn check(&self) -> Result<(), String> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(_), None) => Err("--tls-cert needs --tls-key".into()),
            (None, Some(_)) => Err("--tls-key needs --tls-cert".into()),
            _ => Ok(()),
        }
    }

    /// The certificate, if one is given.
    pub(super) fn tls(&self) -> Result<Option<Tls>, String> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Tls::load(certificate, key).map(Some),
            _ => Ok(None),
        }
    }

    /// The bounds of HTTP.
    pub(super) fn http_limits(&self) -> HttpLimits {
        HttpLimits {
            requests_per_second: self.max_http_requests_per_second,
            handshake_timeout: self.tls_handshake_timeout,
            idle_timeout: self.http_idle_timeout,
            body_timeout: self.http_body_timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        operation: OperationArgs,
    }

    #[test]
    fn defaults_are_those_of_the_server() {
        let operation = Line::parse_from(["serve"]).operation;
        assert_eq!(operation.http_limits(), HttpLimits::default());
        assert_eq!(operation.drain, Duration::ZERO);
    }

    #[test]
    fn a_certificate_goes_with_a_key() {
        for (arguments, right) in [
            (&["serve"][..], true),
            (&["serve", "--tls-cert", "c"], false),
            (&["serve", "--tls-key", "k"], false),
            (&["serve", "--tls-key", "k", "--tls-cert", "c"], true),
        ] {
            let operation = Line::parse_from(arguments).operation;
            assert_eq!(operation.check().is_ok(), right, "{arguments:?}");
        }
    }
}
