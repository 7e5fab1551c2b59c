//! The options of the tool server.

use std::time::Duration;

use clap::Args;

use crate::fronts::rap::egress::AllowedHost;
use crate::options::{bytes, count, defaults, duration, rate};

/// The options of the RAP tool server.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "RAP tool server")]
pub struct Options {
    /// Whether arguments that are texts are read as the schema wants: `--coerce` of the gateway.
    #[arg(skip)]
    pub coerce: bool,
    /// A host, network or origin that results may be sent to, such as `runtime.example`, `*.example`, `10.0.0.7:8080`, `10.1.0.0/16` or `https://runtime.example`. Only these. Default: any public address, so none that is private, loopback or link-local. A gateway on loopback without tokens also reaches loopback. Repeatable.
    #[arg(
        long = "rap-callback-allow",
        env = "CAPHOST_RAP_CALLBACK_ALLOW",
        value_delimiter = ',',
        value_name = "HOST"
    )]
    pub callback_allow: Vec<AllowedHost>,
    /// How long a callback URL may take to accept a result, from connecting to its answer.
    #[arg(long = "rap-callback-timeout", env = "CAPHOST_RAP_CALLBACK_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub callback_timeout: Duration,
    /// How long to retry a result at a callback URL that fails.
    #[arg(long = "rap-callback-retry-for", env = "CAPHOST_RAP_CALLBACK_RETRY_FOR", default_value = "5m", value_parser = duration, value_name = "TIME")]
    pub callback_retry_for: Duration,
    /// How long a call may take before it is cancelled.
    #[arg(long = "rap-call-timeout", env = "CAPHOST_RAP_CALL_TIMEOUT", default_value = "60m", value_parser = duration, value_name = "TIME")]
    pub call_timeout: Duration,
    /// How long a caller's session with an app lives without a call in any of its threads.
    #[arg(long = "rap-thread-idle", env = "CAPHOST_RAP_THREAD_IDLE", default_value = "5m", value_parser = duration, value_name = "TIME")]
    pub thread_idle: Duration,
    /// Sessions with apps at once, one for each caller and app; also the open threads known in each. Beyond it, a session without a call makes room.
    #[arg(long = "rap-max-threads", env = "CAPHOST_RAP_MAX_THREADS", default_value = "500", value_parser = count, value_name = "N")]
    pub max_threads: usize,
    /// Invocations whose results are not delivered yet. Beyond it, more are answered 503.
    #[arg(long = "rap-max-pending", env = "CAPHOST_RAP_MAX_PENDING", default_value = "10000", value_parser = count, value_name = "N")]
    pub max_pending: usize,
    /// Invocations of one token whose results are not delivered yet. Beyond it, more are answered 429.
    #[arg(long = "rap-max-pending-per-token", env = "CAPHOST_RAP_MAX_PENDING_PER_TOKEN", default_value = "2500", value_parser = count, value_name = "N")]
    pub max_pending_per_token: usize,
    /// The largest result. For a larger one an error is delivered instead.
    #[arg(long = "rap-max-result-bytes", env = "CAPHOST_RAP_MAX_RESULT_BYTES", default_value = "16MiB", value_parser = bytes, value_name = "SIZE")]
    pub max_result_bytes: usize,
    /// Bytes of results waiting for delivery; beyond it errors are sent instead. Also bounds the bytes of pending invocations: beyond it, more are answered 503.
    #[arg(long = "rap-max-pending-bytes", env = "CAPHOST_RAP_MAX_PENDING_BYTES", default_value = "256MiB", value_parser = bytes, value_name = "SIZE")]
    pub max_pending_bytes: usize,
    /// Bytes of one token's results waiting for delivery; beyond it errors are sent instead. Also bounds the bytes of its pending invocations: beyond it, more are answered 429.
    #[arg(long = "rap-max-pending-bytes-per-token", env = "CAPHOST_RAP_MAX_PENDING_BYTES_PER_TOKEN", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    pub max_pending_bytes_per_token: usize,
    /// Cancellations per second of one caller; also its closures of threads.
    #[arg(long = "rap-notifications-per-second", env = "CAPHOST_RAP_NOTIFICATIONS_PER_SECOND", default_value = "1000", value_parser = rate, value_name = "N")]
    pub notifications_per_second: f64,
    /// Burst of cancellations, and of closures, of one caller.
    #[arg(long = "rap-notifications-burst", env = "CAPHOST_RAP_NOTIFICATIONS_BURST", default_value = "2000", value_parser = rate, value_name = "N")]
    pub notifications_burst: f64,
}

impl Default for Options {
    fn default() -> Self {
        defaults()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn what_the_command_line_says_by_default() {
        assert_eq!(Line::parse_from(["serve"]).options, Options::default());
    }

    #[test]
    fn hosts_are_checked() {
        let read = |host: &str| Line::try_parse_from(["serve", "--rap-callback-allow", host]);
        assert!(
            read("a.example,*.b.example").is_ok_and(|line| line.options.callback_allow.len() == 2)
        );
        assert!(read("http://a.example,10.0.0.0/8").is_ok());
        assert!(read("http://a.example/path").is_err());
    }
}
