//! `caphost mcp`

use clap::Args;

use super::client::Exit;
use super::gateway_args::GatewayArgs;
use super::signals::Signals;
use crate::fronts::stdio::mcp::{Endpoint, carry};

/// Serves an app's capabilities as MCP tools over standard input and output, for clients that start
/// their servers.
///
/// Needs a running gateway, and passes on what either side says. When the input ends, the calls in
/// flight are cancelled.
#[derive(Args, Debug)]
pub(super) struct Mcp {
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl Mcp {
    /// Carries messages until the client is gone, or a signal.
    pub(super) async fn run(self) -> Exit {
        let access = &self.gateway.access;
        let mut url = access.http_url("mcp");
        if let (Some(app), Ok(mut path)) = (&self.gateway.app, url.path_segments_mut()) {
            path.push(app);
        }
        let endpoint = Endpoint {
            url,
            authorization: access.authorization(),
        };
        let mut signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => return super::fail(&format!("cannot wait for signals: {error}")),
        };
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        match carry(input, output, endpoint, signals.first()).await {
            Ok(()) => Exit::Done,
            Err(error) => super::fail(&error.to_string()),
        }
    }
}
