//! ACP and LSP style: every request is answered, also when it is cancelled. Over a WebSocket, or standard input and output.

use std::sync::Arc;

use clap::ValueEnum;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::peer::{Afterwards, Connection, Peer, Tool, Traits};
use crate::rpc::connection::{Rpc, Transport};
use crate::rpc::pending::Pending;
use crate::rpc::style::{Style, Way};
use crate::wire::frames::Frames;
use crate::wire::{Target, program, socket};

/// The two dialects of per-request cancelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Manner {
    /// Cancels with `$/cancel_request { requestId }`; one message a line
    Acp,
    /// Cancels with `$/cancelRequest { id }`; each message after a header `Content-Length`
    Lsp,
}

impl Manner {
    fn style(self) -> Style {
        match self {
            Self::Acp => Style::Acp,
            Self::Lsp => Style::Lsp,
        }
    }

    fn frames(self) -> Frames {
        match self {
            Self::Acp => Frames::Lines,
            Self::Lsp => Frames::Headers,
        }
    }

    fn initialize(self) -> Value {
        let info = json!({ "name": "caphost-conformance", "version": env!("CARGO_PKG_VERSION") });
        match self {
            Self::Acp => {
                json!({ "protocolVersion": 1, "clientCapabilities": {}, "clientInfo": info })
            }
            Self::Lsp => {
                json!({ "processId": null, "rootUri": null, "capabilities": {}, "clientInfo": info })
            }
        }
    }
}

/// A peer of the ACP or LSP style.
pub struct JsonRpc {
    target: Target,
    manner: Manner,
    frames: Frames,
    name: Mutex<Option<String>>,
}

impl JsonRpc {
    /// Without `frames` messages stand as the dialect has them.
    pub fn new(target: Target, manner: Manner, frames: Option<Frames>) -> Self {
        Self {
            target,
            manner,
            frames: frames.unwrap_or_else(|| manner.frames()),
            name: Mutex::default(),
        }
    }

    async fn open(&self) -> Result<Rpc, String> {
        let style = self.manner.style();
        let pending = Pending::new(style);
        let transport = self.transport(&pending).await?;
        let rpc = Rpc {
            style,
            way: Way::Methods,
            pending,
            transport,
        };
        // A plain JSON-RPC peer has no such request.
        if let Ok(answer) = rpc.ask("initialize", self.manner.initialize()).await {
            let info = answer.get("agentInfo").or_else(|| answer.get("serverInfo"));
            let word = |name: &str| {
                info.and_then(|it| it[name].as_str())
                    .unwrap_or("?")
                    .to_owned()
            };
            let name = info.map(|_| format!("{} {}", word("name"), word("version")));
            *self.name.lock() = name;
        }
        if rpc.transport.is_over() {
            return Err("the peer has ended".into());
        }
        if self.manner == Manner::Lsp {
            rpc.transport
                .send(json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        }
        let way = match rpc.ask("_capabilities/list", json!({})).await {
            Ok(list) => {
                let capabilities = list["capabilities"].as_array().into_iter().flatten();
                let names = capabilities
                    .filter_map(|it| it["name"].as_str())
                    .collect::<Vec<_>>();
                let (count, read) = Tool::both("capability", &names)?;
                Way::Capabilities { count, read }
            }
            Err(_) => Way::Methods,
        };
        Ok(Rpc { way, ..rpc })
    }

    async fn transport(&self, pending: &Arc<Pending>) -> Result<Box<dyn Transport>, String> {
        let (for_answers, closing) = (pending.clone(), pending.clone());
        let receive = Box::new(move |it| for_answers.receive(it));
        let closed = move |why: &str| closing.close(why);
        Ok(Box::new(match &self.target {
            Target::Url { url, token } => {
                socket::connect(url, token.as_deref(), receive, closed).await?
            }
            Target::Command { command, verbose } => {
                program::start(command, self.frames, *verbose, receive, closed)?
            }
        }))
    }
}

impl Peer for JsonRpc {
    fn traits(&self) -> Traits {
        let shared = matches!(self.target, Target::Url { .. });
        Traits {
            afterwards: Afterwards::OneAnswer,
            confirms: false,
            shared,
            ordered: true,
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
