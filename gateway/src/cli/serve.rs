//! `caphost serve`

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderValue;
use clap::Args;
use clap::error::ErrorKind;
use tokio::sync::oneshot;

use super::signals::Signals;
use crate::cluster::ClusterOptions;
use crate::fronts::contextforge::CancellationOptions;
use crate::fronts::mcp::McpOptions;
use crate::fronts::rap;
use crate::fronts::rap::runtime::RuntimeConfig;
use crate::http::{
    DEFAULT_CONTENT_SECURITY_POLICY, FrameAncestors, HttpLimits, TlsOptions, parse_origin,
};
use crate::limits::Limits;
use crate::options::duration_or_none;
use crate::server::{Config, Server};
use crate::tokens::{Token, Tokens};

#[derive(Args, Debug)]
pub(super) struct Serve {
    /// A TOML file with these options under their long names. The command line and the environment win over it.
    #[arg(long, env = "CAPHOST_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The port to listen on. 0 lets the system pick one.
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
    /// A bearer token with its role (app, agent or admin), and the id of an app if it is for that app only. Repeatable; in the environment separated by commas.
    #[arg(
        long = "token",
        env = "CAPHOST_TOKENS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "ROLE[@APP]=SECRET"
    )]
    tokens: Vec<Token>,
    /// Serve /abp.json, which says what apps offer, without a token.
    #[arg(long, env = "CAPHOST_PUBLIC_MANIFEST")]
    public_manifest: bool,
    /// An origin whose pages may connect, besides the gateway's own. Repeatable.
    #[arg(long = "allow-origin", env = "CAPHOST_ALLOW_ORIGINS", value_delimiter = ',', value_name = "ORIGIN", value_parser = parse_origin)]
    allow_origins: Vec<String>,
    /// The Content-Security-Policy of the pages; empty for none.
    #[arg(long, env = "CAPHOST_CONTENT_SECURITY_POLICY", default_value = DEFAULT_CONTENT_SECURITY_POLICY, hide_default_value = true, value_name = "POLICY", value_parser = parse_policy)]
    content_security_policy: HeaderValue,
    /// Who may show the pages in a frame, as in frame-ancestors of a Content-Security-Policy: 'none', 'self' or origins. Empty: anybody.
    #[arg(long, env = "CAPHOST_FRAME_ANCESTORS", default_value = "'self'", value_name = "SOURCES", value_parser = FrameAncestors::new)]
    frame_ancestors: FrameAncestors,
    #[command(flatten)]
    cancellation: CancellationOptions,
    #[command(flatten)]
    tls: TlsOptions,
    #[command(flatten)]
    http_limits: HttpLimits,
    /// How long calls in flight may go on after a stop signal, while new calls are refused. 0: these are cancelled at once. A second signal ends the process at once.
    #[arg(long, env = "CAPHOST_DRAIN", default_value = "0", value_parser = duration_or_none, value_name = "TIME", help_heading = "Operation")]
    drain: Duration,
    #[command(flatten)]
    rap: rap::server::Options,
    #[command(flatten)]
    tool_servers: RuntimeConfig,
    #[command(flatten)]
    mcp: McpOptions,
    #[command(flatten)]
    cluster: ClusterOptions,
    #[command(flatten)]
    limits: Limits,
}

/// Why the gateway does not serve.
#[derive(Debug)]
pub(super) enum Unserved {
    /// The command line is wrong.
    Usage(String),
    /// The gateway could not start, or was ended.
    Failed(String),
}

impl From<String> for Unserved {
    fn from(message: String) -> Self {
        Unserved::Failed(message)
    }
}

impl Serve {
    /// Refuses options that contradict each other.
    pub(super) fn check(&self) -> Result<(), (ErrorKind, String)> {
        let limits = self.limits.check();
        limits.map_err(|message| (ErrorKind::ArgumentConflict, message))?;
        let cluster = self.cluster.check();
        cluster.map_err(|message| (ErrorKind::ValueValidation, message))?;
        let tls = self.tls.check();
        tls.map_err(|message| (ErrorKind::MissingRequiredArgument, message))
    }

    /// Serves until a signal.
    pub(super) async fn run(self) -> Result<(), Unserved> {
        if let Some(file) = &self.config {
            tracing::info!(file = %file.display(), "configured");
        }
        let wanted = format!("{}:{}", bracketed(&self.host), self.port);
        // A page that lacks its package fails where nobody looks for the cause.
        if self.www.is_dir() && !self.package.is_dir() {
            let package = self.package.display();
            tracing::warn!(%package, "there is no such directory, so nothing is served under /caphost/: see --package");
        }
        let config = self.into_config().await?;
        let listening = Signals::listen();
        let mut signals =
            listening.map_err(|error| format!("cannot listen to signals: {error}"))?;
        let reloading = config.tls.clone().map(|tls| (tls, signals.hang_ups()));
        let cannot = |error| format!("cannot listen on {wanted}: {error}");
        let server = Server::bind(config).await.map_err(cannot)?;
        let address = server.address().map_err(cannot)?;
        let scheme = server.scheme();
        // The parent process may not read standard output.
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
        let reloading = async {
            let Some((tls, mut hang_ups)) = reloading else {
                return std::future::pending().await;
            };
            loop {
                hang_ups.next().await;
                tls.reload_and_log();
            }
        };
        tokio::select! {
            () = reloading => Ok(()),
            ended = serving => Ok(ended.map_err(|error| error.to_string())?),
            () = signalled => Err(String::from("a second signal has ended it at once").into()),
        }
    }

    async fn into_config(self) -> Result<Config, Unserved> {
        let host = bracketed(&self.host);
        let bare = host.trim_matches(['[', ']']).to_string();
        let found = tokio::net::lookup_host((bare.as_str(), self.port)).await;
        let addresses: Vec<_> = found
            .map_err(|error| format!("cannot listen on {host}: {error}"))?
            .collect();
        let Some(address) = addresses.first().copied() else {
            return Err(format!("cannot listen on {host}: it has no address").into());
        };
        if !address.ip().is_loopback() && self.tokens.is_empty() {
            return Err(Unserved::Usage(format!(
                "--host {host} lets other machines in, and there are no tokens: add one for each role that may \
                 connect, such as --token app=SECRET --token agent=SECRET with secrets of 16 characters or more, \
                 or listen on this machine only, with --host 127.0.0.1"
            )));
        }
        Ok(Config {
            address,
            host,
            tls: self.tls.load()?,
            http_limits: self.http_limits,
            drain: self.drain,
            www: self.www,
            package: self.package,
            allow_origins: self.allow_origins,
            content_security_policy: Some(self.content_security_policy).filter(|it| !it.is_empty()),
            frame_ancestors: self.frame_ancestors,
            tokens: Tokens::new(self.tokens),
            public_manifest: self.public_manifest,
            limits: self.limits,
            mcp: self.mcp,
            rap: self.rap,
            tool_servers: self.tool_servers,
            cancellation: self.cancellation,
            cluster: self.cluster,
        })
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
    use super::*;

    #[test]
    fn an_ipv6_address_gets_brackets() {
        assert_eq!(
            (&*bracketed("::1"), &*bracketed("[::1]"), &*bracketed("a.b")),
            ("[::1]", "[::1]", "a.b")
        );
    }
}
