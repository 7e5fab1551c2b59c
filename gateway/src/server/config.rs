//! The configuration of a gateway.

use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::HeaderValue;
use clap::Args;
use tokio::net::{TcpListener, lookup_host};

use super::error::Error;
use crate::cluster::ClusterOptions;
use crate::fronts::contextforge::CancellationOptions;
use crate::fronts::mcp::McpOptions;
use crate::fronts::rap;
use crate::fronts::rap::runtime::RuntimeConfig;
use crate::http::{
    DEFAULT_CONTENT_SECURITY_POLICY, FrameAncestors, HttpLimits, TlsOptions, parse_origin,
};
use crate::limits::Limits;
use crate::options::{defaults, duration_or_none};
use crate::tokens::Tokens;

/// The directory of the demo page where none is named.
const WWW: &str = "www/dist";

/// The directory of the npm package where none is named.
const PACKAGE: &str = "pkg";

/// The configuration of a gateway: the options of `caphost serve`.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// The port to listen on. 0 lets the system pick one.
    #[arg(long, env = "PORT", default_value_t = 8787)]
    pub port: u16,
    /// The address to listen on. Any but a loopback address needs tokens.
    #[arg(long, env = "CAPHOST_HOST", default_value = "127.0.0.1")]
    pub host: String,
    /// The directory of the demo page, served at /.
    #[arg(
        long,
        env = "CAPHOST_WWW",
        default_value = WWW,
        value_name = "DIR"
    )]
    pub www: PathBuf,
    /// The directory of the npm package, served under /caphost/.
    #[arg(
        long,
        env = "CAPHOST_PACKAGE",
        default_value = PACKAGE,
        value_name = "DIR"
    )]
    pub package: PathBuf,
    /// Who may connect as what.
    #[command(flatten)]
    pub tokens: Tokens,
    /// Serve /abp.json, which says what apps offer, without a token.
    #[arg(long, env = "CAPHOST_PUBLIC_MANIFEST")]
    pub public_manifest: bool,
    /// An origin whose pages may connect, besides the gateway's own. Repeatable.
    #[arg(long = "allow-origin", env = "CAPHOST_ALLOW_ORIGINS", value_delimiter = ',', value_name = "ORIGIN", value_parser = parse_origin)]
    pub allow_origins: Vec<String>,
    /// The Content-Security-Policy of the pages; empty for none. The default forbids inline scripts.
    #[arg(long, env = "CAPHOST_CONTENT_SECURITY_POLICY", default_value = DEFAULT_CONTENT_SECURITY_POLICY, hide_default_value = true, value_name = "POLICY", value_parser = parse_policy)]
    pub content_security_policy: HeaderValue,
    /// Who may show the pages in a frame, as in frame-ancestors of a Content-Security-Policy: 'none', 'self' or origins. Empty: anybody.
    #[arg(long, env = "CAPHOST_FRAME_ANCESTORS", default_value = "'self'", value_name = "SOURCES", value_parser = FrameAncestors::new)]
    pub frame_ancestors: FrameAncestors,
    /// Whether the cancellation API is served.
    #[command(flatten)]
    pub cancellation: CancellationOptions,
    /// The certificate to serve TLS with, if it is to.
    #[command(flatten)]
    pub tls: TlsOptions,
    /// The bounds of HTTP requests.
    #[command(flatten)]
    pub http_limits: HttpLimits,
    /// How long calls in flight may go on after a stop signal, while new calls are refused. 0: these are cancelled at once. A second signal ends the process at once.
    #[arg(long, env = "CAPHOST_DRAIN", default_value = "0", value_parser = duration_or_none, value_name = "TIME", help_heading = "Operation")]
    pub drain: Duration,
    /// Read arguments of MCP and RAP calls that a model has written as texts as the schema wants, where that is the only way to read them: "2" as 2. A single MCP client asks for it with ?coerce=true.
    #[arg(long, env = "CAPHOST_COERCE")]
    pub coerce: bool,
    /// How apps are offered as RAP tools.
    #[command(flatten)]
    pub rap: rap::server::Options,
    /// The RAP tool servers whose tools are offered.
    #[command(flatten)]
    pub tool_servers: RuntimeConfig,
    /// The bounds of MCP.
    #[command(flatten)]
    pub mcp: McpOptions,
    /// How it takes part in a cluster, if it does.
    #[command(flatten)]
    pub cluster: ClusterOptions,
    /// The bounds.
    #[command(flatten)]
    pub limits: Limits,
}

/// A gateway on port 8787 of this machine alone, without tokens. Its files are in `www/dist` and `pkg`.
impl Default for Config {
    fn default() -> Self {
        defaults()
    }
}

impl Config {
    /// Refuses options that contradict each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        // The default directories may be missing: a gateway need not serve a page.
        for (directory, default, option) in [
            (&self.www, WWW, "--www"),
            (&self.package, PACKAGE, "--package"),
        ] {
            if directory != Path::new(default) && !directory.is_dir() {
                return Err(format!(
                    "{option} {}: there is no such directory",
                    directory.display()
                ));
            }
        }
        self.limits.check()?;
        self.cluster.check()?;
        self.tls.check()
    }

    /// The host as it stands in a URL: an IPv6 address in brackets.
    pub(super) fn host_in_url(&self) -> String {
        match self.host.parse::<Ipv6Addr>() {
            Ok(_) => format!("[{}]", self.host),
            Err(_) => self.host.clone(),
        }
    }

    /// Listens on the address of the host, if [`Config::guarded`] allows it.
    pub(super) async fn listen(&self) -> Result<(TcpListener, SocketAddr), Error> {
        let host = self.host_in_url();
        let cannot = |source| Error::Listen {
            address: format!("{host}:{}", self.port),
            source,
        };
        let bare = host.trim_matches(['[', ']']);
        let mut found = lookup_host((bare, self.port)).await.map_err(cannot)?;
        let Some(address) = found.next() else {
            return Err(cannot(io::Error::other("it has no address")));
        };
        let option = format!("--host {host}");
        self.guarded(address, &option).map_err(Error::Config)?;
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    }

    /// If other machines reach that address, tokens are needed that nobody can guess. `what` opens the address,
    /// in the words of the error.
    pub(super) fn guarded(&self, address: SocketAddr, what: &str) -> Result<(), String> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        if self.tokens.is_empty() {
            return Err(without_tokens(what));
        }
        self.tokens.check_secrets()
    }
}

fn without_tokens(what: &str) -> String {
    format!(
        "{what} lets other machines in, and there are no tokens: add one for each role that may \
         connect, such as --token app=SECRET --token agent=SECRET with secrets of 16 characters or more, \
         or listen on this machine only, with --host 127.0.0.1"
    )
}

fn parse_policy(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_gets_brackets() {
        for (host, shown) in [("::1", "[::1]"), ("[::1]", "[::1]"), ("a.b", "a.b")] {
            let config = Config {
                host: host.into(),
                ..Config::default()
            };
            assert_eq!(config.host_in_url(), shown);
        }
    }
}
