//! The state that all requests of MCP share, and the sender of a request.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::caller::Caller;
use super::head::Head;
use super::links::Links;
use super::parked::Parked;
use super::session::McpSession;
use super::sessions::Sessions;
use super::tasks::Tasks;
use super::tasks::terms::{TASKS, has_tasks};
use super::tools;
use super::underway::Underway;
use crate::bounds::{Budget, Full, Permit, QuotaKey};
use crate::fronts::lists::Listing;
use crate::fronts::refusal::Refusal;
use crate::fronts::shared_sessions::SharedSessions;
use crate::gateway::Hub;
use caphost::call::{Code, Error};
use caphost::dialect::mcp::{STATELESS, Version};

/// The state that all requests share.
pub(super) struct Mcp {
    pub hub: Arc<Hub>,
    pub sessions: Arc<Sessions>,
    pub shared: Arc<SharedSessions>,
    /// The same for requests whose clients fill in forms.
    pub asked: Arc<SharedSessions>,
    /// The calls that wait for answers of clients without sessions.
    pub parked: Arc<Parked<Underway>>,
    /// The calls that are tasks.
    pub tasks: Arc<Tasks>,
    /// The open responses.
    pub open: Arc<Budget>,
    /// The rate limit of lists of tools.
    pub lists: Arc<Listing>,
    /// Whether arguments that are texts are read as the schema wants, for all clients.
    pub coerce: bool,
}

/// The error of a request that needs a session and names none. With `caphost mcp`, the bridge names the
/// session.
const NO_SESSION: &str = "There is no session: begin one with `initialize`, whose answer names it \
    (`Mcp-Session-Id`, which `caphost mcp` sends along), or say the version 2026-07-28 in `_meta`";

/// The sender of a request.
pub(super) struct Asker {
    pub caller: Caller,
    pub quota_key: QuotaKey,
    /// The URL of the gateway, as the sender reaches it.
    pub base: Option<String>,
}

impl Mcp {
    /// The links for a client of that version.
    pub(super) fn links(
        &self,
        asker: &Asker,
        version: &Version,
        session: Option<&Arc<McpSession>>,
    ) -> Links {
        Links {
            hub: self.hub.clone(),
            owner: asker.caller.identity.clone(),
            quota_key: asker.quota_key.name(),
            // In a cluster the reader may come to another worker.
            base: (asker.base.clone())
                .filter(|_| version.structure && self.hub.cluster().is_none()),
            session: session.cloned(),
        }
    }

    /// A share of the open responses.
    pub(super) fn share(&self, asker: &Asker) -> Result<Permit, Refusal> {
        self.open.take(&asker.quota_key, 1).map_err(|full| {
            let what = match full {
                Full::All(max) => format!("{max} MCP responses are open, and no more are allowed"),
                Full::Share(max) | Full::Last(max) => {
                    format!("{max} of your responses are open, and no more are allowed")
                }
            };
            let error = Error::new(Code::RATE_LIMITED, what);
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
        })
    }

    /// The session that a request names. It may have begun on another worker, or before a restart.
    pub(super) async fn session(
        &self,
        asker: &Asker,
        head: Head<'_>,
    ) -> Result<Arc<McpSession>, Refusal> {
        let Asker {
            caller, quota_key, ..
        } = asker;
        head.check_version()?;
        let named = head.session();
        let id = named.ok_or_else(|| Refusal::invalid(NO_SESSION))?;
        self.sessions.find(id, caller, quota_key).await
    }

    /// The description of the server for a client.
    pub(super) fn server(&self, caller: &Caller, version: &Version) -> Value {
        let mut info = json!({ "name": "caphost", "version": env!("CARGO_PKG_VERSION") });
        let mut server =
            json!({ "capabilities": { "tools": { "listChanged": true }, "logging": {} } });
        if version.structure {
            server["capabilities"]["resources"] = json!({});
        }
        if has_tasks(version) {
            server["capabilities"]["tasks"] = self.tasks.capability();
        }
        match self.hub.assortment(caller.app.as_deref()) {
            Ok(all) => match all.only() {
                Some(offer) => {
                    if version.structure {
                        info["title"] = (&*offer.app.name).into();
                    }
                    if let Some(description) = &offer.app.description {
                        server["instructions"] = description.as_str().into();
                    }
                }
                None => server["instructions"] = tools::several(&all).into(),
            },
            Err(failure) => {
                let missing = tools::missing(&self.hub, caller, &failure);
                server["instructions"] = missing.into();
            }
        }
        server["serverInfo"] = info;
        server
    }

    /// The answer to `server/discover`, which needs no session.
    pub(super) fn discovered(&self, caller: &Caller) -> Value {
        let mut server = self.server(caller, &STATELESS);
        let info = server["serverInfo"].take();
        if let Some(members) = server.as_object_mut() {
            members.remove("serverInfo");
        }
        server["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info });
        server["capabilities"]["extensions"] = json!({ TASKS: {} });
        server["supportedVersions"] = Version::names().collect();
        cacheable(server)
    }
}

/// A result that no cache may keep: it may change at any time, and is for one caller.
pub(super) fn cacheable(mut result: Value) -> Value {
    result["ttlMs"] = 0.into();
    result["cacheScope"] = "private".into();
    result
}
