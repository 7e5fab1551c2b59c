//! MCP 2025-11-25, over standard input and output or Streamable HTTP.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::json;

use super::mcp_http::{Http, VERSION};
use crate::peer::{Afterwards, Connection, Peer, Tool, Traits};
use crate::rpc::connection::{Rpc, Transport};
use crate::rpc::pending::Pending;
use crate::rpc::style::{Style, Way};
use crate::wire::frames::Frames;
use crate::wire::{Target, program};

/// An MCP server.
pub struct Mcp {
    pub target: Target,
    name: Mutex<Option<String>>,
}

impl Mcp {
    pub fn new(target: Target) -> Self {
        Self {
            target,
            name: Mutex::default(),
        }
    }

    /// Opens a session.
    pub async fn open(&self) -> Result<Rpc, String> {
        let pending = Pending::new(Style::Mcp);
        let transport = self.transport(&pending)?;
        let rpc = Rpc {
            style: Style::Mcp,
            way: Way::Methods,
            pending,
            transport,
        };
        let initialize = json!({
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": { "name": "caphost-conformance", "version": env!("CARGO_PKG_VERSION") },
        });
        let answer = rpc.ask("initialize", initialize).await?;
        let info = &answer["serverInfo"];
        let word = |name: &str| info[name].as_str().unwrap_or("?").to_owned();
        let name = format!(
            "{} {}, {}",
            word("name"),
            word("version"),
            answer["protocolVersion"].as_str().unwrap_or("?")
        );
        self.name.lock().replace(name);
        rpc.transport
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let names = tool_names(&rpc).await?;
        let (count, read) = Tool::both(
            "tool",
            &names.iter().map(String::as_str).collect::<Vec<_>>(),
        )?;
        Ok(Rpc {
            way: Way::Tools { count, read },
            ..rpc
        })
    }

    fn transport(&self, pending: &Arc<Pending>) -> Result<Box<dyn Transport>, String> {
        let for_answers = pending.clone();
        match &self.target {
            Target::Url { url, token } => {
                Ok(Box::new(Http::new(url, token.as_deref(), pending.clone())))
            }
            Target::Command { command, verbose } => {
                let closing = pending.clone();
                let wire = program::start(
                    command,
                    Frames::Lines,
                    *verbose,
                    Box::new(move |it| for_answers.receive(it)),
                    move |why| closing.close(why),
                )?;
                Ok(Box::new(wire))
            }
        }
    }
}

async fn tool_names(rpc: &Rpc) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = rpc.ask("tools/list", params).await?;
        let tools = page["tools"].as_array().into_iter().flatten();
        names.extend(tools.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())));
        match page["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return Ok(names),
        }
    }
}

impl Peer for Mcp {
    fn traits(&self) -> Traits {
        let http = matches!(self.target, Target::Url { .. });
        Traits {
            afterwards: Afterwards::Silence,
            confirms: false,
            shared: http,
            ordered: !http,
            words: None,
        }
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Connection>, String>> {
        async { Ok(Arc::new(self.open().await?) as Arc<dyn Connection>) }.boxed()
    }

    fn name(&self) -> Option<String> {
        self.name.lock().clone()
    }
}
