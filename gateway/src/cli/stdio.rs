//! `caphost stdio`

use clap::Args;

use super::client::{Exit, web_socket};
use super::gateway_args::GatewayArgs;
use crate::fronts::stdio::jsonrpc::{Bounds, carry};

/// Carries JSON-RPC between standard input and output and a gateway, for agents and editors that
/// start a process rather than open a socket.
///
/// One message per line, or with a Content-Length header before each: the first bytes tell, and
/// answers come the same way. When the input ends, the calls made are cancelled.
#[derive(Args, Debug)]
pub(super) struct Stdio {
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl Stdio {
    /// Carries messages until either side ends.
    pub(super) async fn run(self) -> Exit {
        let access = &self.gateway.access;
        let url = self.gateway.with_app(access.web_socket_url("jsonrpc"));
        let socket = match web_socket(access, &url).await {
            Ok(socket) => socket,
            Err(failure) => return failure.report("caphost", false),
        };
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        match carry(input, output, socket, Bounds::default()).await {
            Ok(()) => Exit::Done,
            Err(message) => super::fail(&message),
        }
    }
}
