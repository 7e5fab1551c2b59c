//! `caphost serve`

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderValue;
use clap::Args;
use clap::error::ErrorKind;
use tokio::sync::oneshot;

use super::operation_args::OperationArgs;
use super::signals::Signals;
use super::units::{bytes, count, depth, duration, rate};
use crate::gateway::cancellation::CancellationOptions;
use crate::gateway::limits::Limits;
use crate::gateway::mcp::McpOptions;
use crate::gateway::rap;
use crate::gateway::rap::runtime::ToolServerOptions;
use crate::gateway::runs::Retention;
use crate::gateway::server::{Config, DEFAULT_CONTENT_SECURITY_POLICY, Server, parse_origin};
use crate::gateway::tokens::{Token, Tokens};

#[derive(Args, Debug)]
pub(super) struct Serve {
    /// A TOML file of these options: each key is the long name of one. What is given here or in the environment wins.
    #[arg(long, env = "CAPHOST_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The port; 0 lets the system pick one.
    #[arg(long, env = "PORT", default_value_t = 8787)]
    port: u16,
    /// The address to listen on. Any but a loopback address needs tokens.
    #[arg(long, env = "CAPHOST_HOST", default_value = "127.0.0.1")]
    host: String,
    /// The directory of the demo page, served at /.
    #[arg(
        long,
        env = "CAPHOST_WWW",
        default_value = "www/dist",
        value_name = "DIR"
    )]
    www: PathBuf,
    /// The directory of the npm package, served under /caphost/.
    #[arg(
        long,
        env = "CAPHOST_PACKAGE",
        default_value = "pkg",
        value_name = "DIR"
    )]
    package: PathBuf,
    /// A bearer token, its role (app, agent or admin), and the id of the app it is for, if it is for one only. Repeatable; in the environment separated by commas.
    #[arg(
        long = "token",
        env = "CAPHOST_TOKENS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "ROLE[@APP]=SECRET"
    )]
    tokens: Vec<Token>,
    /// An origin whose pages may connect, besides the gateway's own. Repeatable.
    #[arg(long = "allow-origin", env = "CAPHOST_ALLOW_ORIGINS", value_delimiter = ',', value_name = "ORIGIN", value_parser = parse_origin)]
    allow_origins: Vec<String>,
    /// The Content-Security-Policy of the pages; empty for none.
    #[arg(long, env = "CAPHOST_CONTENT_SECURITY_POLICY", default_value = DEFAULT_CONTENT_SECURITY_POLICY, hide_default_value = true, value_name = "POLICY", value_parser = parse_policy)]
    content_security_policy: HeaderValue,
    #[command(flatten)]
    cancellation: CancellationOptions,
    #[command(flatten)]
    operation: OperationArgs,
    #[command(flatten)]
    rap: rap::server::Options,
    #[command(flatten)]
    tool_servers: ToolServerOptions,
    #[command(flatten)]
    mcp: McpOptions,
    #[command(flatten)]
    bounds: Bounds,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
struct Bounds {
    /// Between two WebSocket pings.
    #[arg(long, env = "CAPHOST_PING_INTERVAL", default_value = "15s", value_parser = duration, value_name = "TIME")]
    ping_interval: Duration,
    /// Without a sign of life, after which a peer counts as gone.
    #[arg(long, env = "CAPHOST_DEAD_PEER_TIMEOUT", default_value = "40s", value_parser = duration, value_name = "TIME")]
    dead_peer_timeout: Duration,
    /// For an app to register after it connected.
    #[arg(long, env = "CAPHOST_REGISTER_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    register_timeout: Duration,
    /// For an app to confirm a cancel an operator asked for.
    #[arg(long, env = "CAPHOST_CONFIRM_TIMEOUT", default_value = "5s", value_parser = duration, value_name = "TIME")]
    confirm_timeout: Duration,
    /// For which a run is remembered after its end, and a cancel kept for a run yet to come.
    #[arg(long, env = "CAPHOST_RETENTION_TIME", default_value = "60m", value_parser = duration, value_name = "TIME")]
    retention_time: Duration,
    /// Runs remembered after their end, and cancels kept.
    #[arg(long, env = "CAPHOST_MAX_RETAINED", default_value = "10000", value_parser = count, value_name = "N")]
    max_retained: usize,
    /// For a peer to take its last messages when it is closed.
    #[arg(long, env = "CAPHOST_CLOSE_TIMEOUT", default_value = "3s", value_parser = duration, value_name = "TIME")]
    close_timeout: Duration,
    /// In one message; a larger one is refused.
    #[arg(long, env = "CAPHOST_MAX_MESSAGE_BYTES", default_value = "16MiB", value_parser = bytes, value_name = "SIZE")]
    max_message_bytes: usize,
    /// In one message, past which it is not even read: the connection closes.
    #[arg(long, env = "CAPHOST_MAX_FRAME_BYTES", default_value = "256MiB", value_parser = bytes, value_name = "SIZE")]
    max_frame_bytes: usize,
    /// Levels of nesting in one message.
    #[arg(long, env = "CAPHOST_MAX_DEPTH", default_value = "127", value_parser = depth, value_name = "N")]
    max_depth: usize,
    /// In the `id` of one message, as JSON.
    #[arg(long, env = "CAPHOST_MAX_ID_BYTES", default_value = "256B", value_parser = bytes, value_name = "SIZE")]
    max_id_bytes: usize,
    /// Requests of one agent waiting for an answer, of each type.
    #[arg(long, env = "CAPHOST_MAX_IN_FLIGHT", default_value = "16384", value_parser = count, value_name = "N")]
    max_in_flight: usize,
    /// Agents connected at once.
    #[arg(long, env = "CAPHOST_MAX_SESSIONS", default_value = "1000", value_parser = count, value_name = "N")]
    max_sessions: usize,
    /// Apps connected at once.
    #[arg(long, env = "CAPHOST_MAX_APPS", default_value = "1000", value_parser = count, value_name = "N")]
    max_apps: usize,
    /// Messages of one agent, with bursts of one second's worth.
    #[arg(long, env = "CAPHOST_MAX_REQUESTS_PER_SECOND", default_value = "100000", value_parser = rate, value_name = "N")]
    max_requests_per_second: f64,
    /// Waiting to be written to one peer; one that does not read is disconnected.
    #[arg(long, env = "CAPHOST_MAX_QUEUED_BYTES", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    max_queued_bytes: usize,
}

impl Serve {
    /// What cannot be right together.
    pub(super) fn check(&self) -> Result<(), (ErrorKind, String)> {
        let Bounds {
            ping_interval,
            dead_peer_timeout,
            ..
        } = self.bounds;
        if dead_peer_timeout <= ping_interval {
            let message = "--dead-peer-timeout must be longer than --ping-interval: \
                only a ping makes a silent peer answer";
            return Err((ErrorKind::ArgumentConflict, message.into()));
        }
        let operation = self.operation.check();
        operation.map_err(|message| (ErrorKind::MissingRequiredArgument, message))
    }

    /// Serves until a signal.
    pub(super) async fn run(self) -> Result<(), String> {
        if let Some(file) = &self.config {
            tracing::info!(file = %file.display(), "configured");
        }
        let wanted = format!("{}:{}", bracketed(&self.host), self.port);
        let config = self.into_config().await?;
        let listening = Signals::listen();
        let mut signals =
            listening.map_err(|error| format!("cannot listen to signals: {error}"))?;
        let cannot = |error| format!("cannot listen on {wanted}: {error}");
        let server = Server::bind(config).await.map_err(cannot)?;
        let address = server.address().map_err(cannot)?;
        let scheme = server.scheme();
        // Whoever started us may not read standard output.
        let _ = writeln!(std::io::stdout(), "caphost: serving {scheme}://{address}/");
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = server.run(async {
            let _ = stopped.await;
        });
        let signalled = async {
            signals.first().await;
            let _ = stop.send(());
            signals.second().await;
        };
        tokio::select! {
            ended = serving => ended.map_err(|error| error.to_string()),
            () = signalled => Err("a second signal has ended it at once".into()),
        }
    }

    async fn into_config(self) -> Result<Config, String> {
        let host = bracketed(&self.host);
        let bare = host.trim_matches(['[', ']']).to_string();
        let found = tokio::net::lookup_host((bare.as_str(), self.port)).await;
        let addresses: Vec<_> = found
            .map_err(|error| format!("cannot listen on {host}: {error}"))?
            .collect();
        let Some(address) = addresses.first().copied() else {
            return Err(format!("cannot listen on {host}: it has no address"));
        };
        if !address.ip().is_loopback() && self.tokens.is_empty() {
            return Err(format!(
                "{host} is not a loopback address: give a --token for each role that may connect"
            ));
        }
        Ok(Config {
            address,
            host,
            tls: self.operation.tls()?,
            http_limits: self.operation.http_limits(),
            drain: self.operation.drain,
            www: self.www,
            package: self.package,
            allow_origins: self.allow_origins,
            content_security_policy: Some(self.content_security_policy).filter(|it| !it.is_empty()),
            tokens: Tokens::new(self.tokens),
            limits: self.bounds.into(),
            mcp: self.mcp,
            rap: self.rap,
            tool_servers: self.tool_servers.into(),
            cancellation: self.cancellation,
        })
    }
}

impl From<Bounds> for Limits {
    fn from(bounds: Bounds) -> Self {
        Limits {
            message_bytes: bounds.max_message_bytes,
            frame_bytes: bounds.max_frame_bytes,
            depth: bounds.max_depth,
            id_bytes: bounds.max_id_bytes,
            in_flight: bounds.max_in_flight,
            sessions: bounds.max_sessions,
            apps: bounds.max_apps,
            requests_per_second: bounds.max_requests_per_second,
            queued_bytes: bounds.max_queued_bytes,
            ping_interval: bounds.ping_interval,
            dead_peer_timeout: bounds.dead_peer_timeout,
            register_timeout: bounds.register_timeout,
            confirm_timeout: bounds.confirm_timeout,
            retention: Retention {
                count: bounds.max_retained,
                time: bounds.retention_time,
            },
            close_timeout: bounds.close_timeout,
        }
    }
}

/// An IPv6 address in the brackets it has in a URL.
fn bracketed(host: &str) -> String {
    let is_v6 = host.parse::<std::net::Ipv6Addr>().is_ok();
    if is_v6 {
        format!("[{host}]")
    } else {
        host.to_string()
    }
}

fn parse_policy(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        serve: Serve,
    }

    #[test]
    fn defaults_are_those_of_the_limits() {
        let serve = Line::parse_from(["serve"]).serve;
        assert_eq!(Limits::from(serve.bounds), Limits::default());
    }

    #[test]
    fn an_ipv6_address_gets_brackets() {
        assert_eq!(
            (&*bracketed("::1"), &*bracketed("[::1]"), &*bracketed("a.b")),
            ("[::1]", "[::1]", "a.b")
        );
    }
}
