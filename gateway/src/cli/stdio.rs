//! `caphost stdio` and `caphost mcp`: a gateway over standard input and output.

use clap::Args;
use tokio::io::{stdin, stdout};

use super::connection::web_socket;
use super::failure::{Exit, Failure};
use super::gateway_args::GatewayArgs;
use super::signals::Signals;
use crate::fronts::stdio::{jsonrpc, mcp};
use crate::gateway::files::PATH;

/// Carries JSON-RPC between standard input and output and a gateway, for agents and editors that
/// start a process rather than open a socket.
///
/// Messages are one per line, or each has a Content-Length header. The first bytes decide, and answers
/// come the same way. When the input ends, calls in flight are cancelled.
#[derive(Args, Debug)]
pub(super) struct Stdio {
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl Stdio {
    /// Passes messages on until either side ends.
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        let access = &self.gateway.access;
        let url = self.gateway.with_app(access.web_socket_url("jsonrpc"));
        let socket = web_socket(access, &url).await?;
        jsonrpc::carry(stdin(), stdout(), socket, jsonrpc::Bounds::default()).await?;
        Ok(Exit::Done)
    }
}

/// Serves the capabilities of an app, or of all apps, as MCP tools over standard input and output, for clients that start
/// their servers.
///
/// Needs a running gateway, and passes on what either side says. When the input ends, the calls in
/// flight are cancelled.
#[derive(Args, Debug)]
pub(super) struct Mcp {
    #[command(flatten)]
    gateway: GatewayArgs,
    /// The tools to serve, with commas between their names, in which * stands for any characters, such as export_*.
    #[arg(long, value_name = "NAMES")]
    tools: Option<String>,
    /// Read arguments that the model has written as texts as the tool's schema wants, where that is the only way to read them: "2" as 2.
    #[arg(long)]
    coerce: bool,
    /// An existing folder. The files that results link to are written there, and results say where they are.
    #[arg(long, value_name = "FOLDER", value_parser = folder)]
    save_to: Option<mcp::Folder>,
}

/// Opens the folder before anything is served.
fn folder(path: &str) -> Result<mcp::Folder, String> {
    let opened = mcp::Folder::open(path.as_ref());
    opened.map_err(|error| format!("no files can be written there: {error}"))
}

impl Mcp {
    /// Passes messages on until the client is gone or a signal arrives.
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        let access = &self.gateway.access;
        let mut url = access.http_url("mcp");
        if let (Some(app), Ok(mut path)) = (&self.gateway.app, url.path_segments_mut()) {
            path.push(app);
        }
        if let Some(tools) = &self.tools {
            url.query_pairs_mut().append_pair("tools", tools);
        }
        if self.coerce {
            url.query_pairs_mut().append_pair("coerce", "true");
        }
        let endpoint = mcp::Endpoint {
            url,
            authorization: access.authorization(),
        };
        let save_to = self.save_to.map(|folder| mcp::SaveTo {
            folder,
            files: access.http_url(&PATH[1..]),
        });
        let mut signals = Signals::listen()?;
        let carried = mcp::carry(stdin(), stdout(), endpoint, save_to, signals.first()).await;
        carried.map_err(|error| error.to_string())?;
        Ok(Exit::Done)
    }
}
