//! What a gateway is told when it is set up.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderValue;

use crate::cluster::ClusterOptions;
use crate::fronts::contextforge::CancellationOptions;
use crate::fronts::mcp::McpOptions;
use crate::fronts::rap;
use crate::fronts::rap::runtime::RuntimeConfig;
use crate::http::{DEFAULT_CONTENT_SECURITY_POLICY, FrameAncestors, HttpLimits, Tls};
use crate::limits::Limits;
use crate::tokens::Tokens;

/// How a gateway is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens; port 0 lets the system pick one.
    pub address: SocketAddr,
    /// The name it was told to listen on, one of its own.
    pub host: String,
    /// The demo page, served at `/`.
    pub www: PathBuf,
    /// The npm package, served under `/caphost/`.
    pub package: PathBuf,
    /// The certificate to serve TLS with, if it is to.
    pub tls: Option<Tls>,
    /// Origins whose pages may connect, besides its own.
    pub allow_origins: Vec<String>,
    /// Sent with every answer, if given.
    pub content_security_policy: Option<HeaderValue>,
    /// Who may show its pages in a frame.
    pub frame_ancestors: FrameAncestors,
    /// Who may connect as what.
    pub tokens: Tokens,
    /// Whether `/abp.json` tells everybody what apps offer, although there are tokens.
    pub public_manifest: bool,
    /// The bounds.
    pub limits: Limits,
    /// The bounds of MCP.
    pub mcp: McpOptions,
    /// How apps are offered as RAP tools.
    pub rap: rap::server::Options,
    /// The RAP tool servers whose tools are offered.
    pub tool_servers: RuntimeConfig,
    /// Whether the cancellation API is served.
    pub cancellation: CancellationOptions,
    /// How it takes part in a cluster, if it does.
    pub cluster: ClusterOptions,
    /// The bounds of HTTP requests.
    pub http_limits: HttpLimits,
    /// How long calls in flight may go on when the gateway is to stop. Zero: they are cancelled at once.
    pub drain: Duration,
}

/// A gateway on port 8787 of this machine alone, without tokens, its files in `www/dist` and `pkg`.
impl Default for Config {
    fn default() -> Self {
        Config {
            address: (Ipv4Addr::LOCALHOST, 8787).into(),
            host: Ipv4Addr::LOCALHOST.to_string(),
            www: "www/dist".into(),
            package: "pkg".into(),
            tls: None,
            allow_origins: Vec::new(),
            content_security_policy: Some(HeaderValue::from_static(
                DEFAULT_CONTENT_SECURITY_POLICY,
            )),
            frame_ancestors: FrameAncestors::default(),
            tokens: Tokens::default(),
            public_manifest: false,
            limits: Limits::default(),
            mcp: McpOptions::default(),
            rap: rap::server::Options::default(),
            tool_servers: RuntimeConfig::default(),
            cancellation: CancellationOptions::default(),
            cluster: ClusterOptions::default(),
            http_limits: HttpLimits::default(),
            drain: Duration::ZERO,
        }
    }
}
