//! The table of sessions.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use clap::Args;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use uuid::Uuid;

use super::caller::Caller;
use super::overtaken::{Overtaken, is_long};
use super::request::ClientInfo;
use super::sealing::{Said, Seals, Unopened, number_of};
use super::session::McpSession;
use super::tools;
use crate::bounds::{QuotaKey, last_places};
use crate::cluster::Away;
use crate::fronts::idle::look_after;
use crate::fronts::refusal::Refusal;
use crate::gateway::Hub;
use crate::options::{bytes, count, defaults, duration};
use crate::remembered::Remembered;
use crate::session_key::SessionKey;
use crate::wire::json_rpc::Id;
use caphost::call::{Code, Error};
use caphost::dialect::mcp::Version;

/// How many sessions are remembered that their clients have ended.
pub(crate) const ENDED: usize = 65_536;
/// How many cancels for sessions that are not known are kept.
const EARLY: usize = 4_096;

/// Bounds of MCP, with their defaults.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "MCP")]
pub struct McpOptions {
    /// MCP sessions in memory at once. Beyond it, the one that was not used for longest leaves the memory, but never one with an open request or stream.
    #[arg(long, env = "CAPHOST_MCP_MAX_SESSIONS", default_value = "1000", value_parser = count, value_name = "N")]
    pub mcp_max_sessions: usize,
    /// MCP sessions in memory at once of one token, or of one address where there are no tokens. Beyond that only its own sessions leave the memory.
    #[arg(long, env = "CAPHOST_MCP_MAX_SESSIONS_PER_TOKEN", default_value = "250", value_parser = count, value_name = "N")]
    pub mcp_max_sessions_per_token: usize,
    /// MCP responses open at once: calls in flight, unread answers and listening streams. At most --max-http-connections.
    #[arg(long, env = "CAPHOST_MCP_MAX_OPEN", default_value = "4096", value_parser = count, value_name = "N")]
    pub mcp_max_open: usize,
    /// MCP responses open at once for one token, or for one address where there are no tokens. At most --max-http-connections-per-address.
    #[arg(long, env = "CAPHOST_MCP_MAX_OPEN_PER_TOKEN", default_value = "1024", value_parser = count, value_name = "N")]
    pub mcp_max_open_per_token: usize,
    /// How long an MCP session stays in memory without a request or an open stream. The session that stateless requests (2026-07-28) share, one for each token and app, lives as long.
    #[arg(long, env = "CAPHOST_MCP_SESSION_IDLE", default_value = "30m", value_parser = duration, value_name = "TIME")]
    pub mcp_session_idle: Duration,
    /// How long a call waits for the answer to a question of its app, where a client answers with another request (2026-07-28). After that the call is cancelled.
    #[arg(long, env = "CAPHOST_MCP_ANSWER_TIMEOUT", default_value = "60m", value_parser = duration, value_name = "TIME")]
    pub mcp_answer_timeout: Duration,
    /// How long an MCP task and its result are kept, from the beginning of its call. A client may ask for less. A call that still runs then is cancelled.
    #[arg(long, env = "CAPHOST_MCP_TASK_TTL", default_value = "60m", value_parser = duration, value_name = "TIME")]
    pub mcp_task_ttl: Duration,
    /// MCP tasks at once, also those that have ended and are kept.
    #[arg(long, env = "CAPHOST_MCP_MAX_TASKS", default_value = "1000", value_parser = count, value_name = "N")]
    pub mcp_max_tasks: usize,
    /// MCP tasks at once of one token, or of one address where there are no tokens.
    #[arg(long, env = "CAPHOST_MCP_MAX_TASKS_PER_TOKEN", default_value = "250", value_parser = count, value_name = "N")]
    pub mcp_max_tasks_per_token: usize,
    /// Bytes of results that all MCP tasks keep. A task fails whose result finds no room. The last tenth is for tokens without a kept result.
    #[arg(long, env = "CAPHOST_MCP_MAX_TASK_BYTES", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    pub mcp_max_task_bytes: usize,
    /// The key that seals the ids of MCP sessions: any text of at least 32 characters, the same for all workers. With it sessions outlive a restart of the gateway. Default: a random key, which is kept in Redis, or else ends with the gateway.
    #[arg(
        long,
        env = "CAPHOST_SESSION_KEY",
        hide_env_values = true,
        value_name = "SECRET"
    )]
    pub session_key: Option<SessionKey>,
}

impl McpOptions {
    /// Lowers the number of open responses to the number of connections.
    pub(crate) fn fit(&mut self, connections: usize, of_one: usize) {
        self.mcp_max_open = self.mcp_max_open.min(connections);
        self.mcp_max_open_per_token = self.mcp_max_open_per_token.min(of_one);
    }
}

impl Default for McpOptions {
    fn default() -> Self {
        defaults()
    }
}

/// The sessions that are known here. A session that is not known is taken up by its id.
pub struct Sessions {
    pub(super) hub: Arc<Hub>,
    pub(super) seals: Arc<Seals>,
    max: usize,
    /// How many sessions one holder may have.
    share: usize,
    table: Mutex<Table>,
}

impl Sessions {
    /// An empty table.
    pub fn new(hub: Arc<Hub>, options: &McpOptions) -> Arc<Self> {
        let sessions = Arc::new(Sessions {
            seals: Arc::new(Seals::new(hub.clone(), options.session_key.clone())),
            hub,
            max: options.mcp_max_sessions,
            share: options.mcp_max_sessions_per_token,
            table: Mutex::default(),
        });
        let idle = options.mcp_session_idle;
        look_after(&sessions, idle, "mcp sessions", &sessions.hub, move |all| {
            let goes = |session: &McpSession| {
                let unused = session.unused_for();
                unused >= idle || (session.is_over() && !unused.is_zero())
            };
            let gone = all.table().take_out(goes);
            close(gone, "unused");
        });
        sessions.hear_others();
        sessions
    }

    /// Begins a session and returns its id. An unused session may be forgotten for it.
    pub fn begin(
        &self,
        caller: &Caller,
        quota_key: &QuotaKey,
        (client, version, takes_forms): (ClientInfo, &'static Version, bool),
    ) -> Result<String, Refusal> {
        let said = Said::new(client, version, takes_forms);
        let named = self.seals.seal(caller, &said);
        let session = McpSession::new(caller.clone(), quota_key.clone(), named, said, false);
        // On another worker the client may see older or newer tools.
        if self.hub.cluster().is_none() {
            session.finds(tools::fingerprint(&self.hub, caller.app.as_deref()));
        }
        let session = self.enter(session)?;
        tracing::debug!(session = %session.number, owner = %caller.identity.name, "begun");
        Ok(session.id.clone())
    }

    /// The session with that id, if it belongs to the caller.
    pub async fn find(
        &self,
        id: &str,
        caller: &Caller,
        quota_key: &QuotaKey,
    ) -> Result<Arc<McpSession>, Refusal> {
        let number = number_of(id).ok_or_else(no_session)?;
        let known = self.table().get(number)?;
        let found = match known {
            Some(known) => known,
            None => self.take_up((number, id), caller, quota_key).await?,
        };
        if found.is_over() || !found.is_of(id, caller) {
            return Err(no_session());
        }
        found.touch();
        Ok(found)
    }

    /// Takes up a session that is not known here.
    async fn take_up(
        &self,
        (number, id): (Uuid, &str),
        caller: &Caller,
        quota_key: &QuotaKey,
    ) -> Result<Arc<McpSession>, Refusal> {
        let said = self.seals.open(id, caller);
        let said = said.map_err(|unopened| match unopened {
            Unopened::Foreign => no_session(),
            Unopened::Unsure => away("The session cannot be looked up"),
        })?;
        if self.has_ended(number).await {
            return Err(no_session());
        }
        let named = (number, id.to_string());
        let session = McpSession::new(caller.clone(), quota_key.clone(), named, said, true);
        let session = self.enter(session)?;
        tracing::debug!(session = %session.number, "taken up");
        Ok(session)
    }

    /// The client ends a session, here and on all other workers.
    pub async fn end(self: &Arc<Self>, number: Uuid) {
        self.end_here(number, "ended");
        // In a task of its own: the client may close its connection before the others are told.
        let sessions = self.clone();
        let told = tokio::spawn(async move { sessions.tell_ended(number).await });
        let _ = told.await;
    }

    /// A client has ended a session on some worker: it ends here too, and does not come back.
    pub(super) fn end_here(&self, number: Uuid, why: &'static str) {
        let ended = self.table().end(number);
        close(ended, why);
    }

    /// Adds a session, unless it is already known. Returns the known session. An unused session may be
    /// forgotten for it.
    fn enter(&self, new: McpSession) -> Result<Arc<McpSession>, Refusal> {
        let mut table = self.table();
        if let Some(known) = table.get(new.number)? {
            return Ok(known);
        }
        let forgotten = table.make_room(&new.quota_key, self.max, self.share)?;
        let entered = table.insert(new);
        drop(table);
        close(forgotten, "unused: made room");
        Ok(entered)
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }
}

/// Closes sessions that were removed from the table.
fn close(ended: impl IntoIterator<Item = Arc<McpSession>>, why: &'static str) {
    for session in ended {
        session.close();
        tracing::debug!(session = %session.number, why, "the session has ended");
    }
}

/// 404: the session has ended, never existed, or belongs to another.
pub(super) fn no_session() -> Refusal {
    Refusal::not_found("Session not found")
}

/// 503: the session or request may be on another worker that cannot be asked.
pub(super) fn away(what: &str) -> Refusal {
    let error = Error::new(Code::DISCONNECTED, format!("{what}: {Away}"));
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// 503: there are as many sessions as allowed, and all are in use.
fn no_room() -> Refusal {
    let message = "All MCP sessions that you may have are in use: end sessions that you do not need, or raise --mcp-max-sessions and --mcp-max-sessions-per-token";
    let error = Error::new(Code::RATE_LIMITED, message);
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// Sessions by their numbers, and what other workers have said about sessions that are not known here.
#[derive(Default)]
pub(super) struct Table {
    sessions: HashMap<Uuid, Arc<McpSession>>,
    /// The sessions that their clients have ended.
    ended: Remembered<Uuid, (), ENDED>,
    /// Cancels for sessions that are not known, with their times of arrival: their requests may come here.
    early: VecDeque<(Uuid, Id, Instant)>,
}

impl Table {
    /// Makes room for a session of `quota_key`, who may have `share` of `max`. If there is no room, the session
    /// that was unused for longest goes: one of the holder's own if it has its share, else one of the holder
    /// with most. Returns the session that goes.
    fn make_room(
        &mut self,
        quota_key: &QuotaKey,
        max: usize,
        share: usize,
    ) -> Result<Option<Arc<McpSession>>, Refusal> {
        let mut held: HashMap<&QuotaKey, usize> = HashMap::new();
        for session in self.sessions.values() {
            *held.entry(&session.quota_key).or_default() += 1;
        }
        let own = held.get(quota_key).copied().unwrap_or_default();
        let has_share = own >= share;
        // The last places are for holders without a session. For others an unused session goes.
        let kept = if own > 0 { last_places(max) } else { 0 };
        if !has_share && self.sessions.len() < max - kept {
            return Ok(None);
        }
        let may_go = |session: &McpSession| !has_share || session.quota_key == *quota_key;
        let goes = self
            .sessions
            .iter()
            .filter(|(_, session)| may_go(session))
            .filter_map(|(id, session)| {
                let held = held.get(&session.quota_key);
                Some(((Reverse(held), session.unused_since()?), *id))
            })
            .min_by_key(|(order, _)| *order)
            .map(|(_, id)| id);
        let gone = goes.and_then(|id| self.sessions.remove(&id));
        gone.map(Some).ok_or_else(no_room)
    }

    /// The session with that number, if it is known. The error is that of a session that its client has ended.
    fn get(&self, number: Uuid) -> Result<Option<Arc<McpSession>>, Refusal> {
        match self.ended.get(&number) {
            Some(()) => Err(no_session()),
            None => Ok(self.sessions.get(&number).cloned()),
        }
    }

    /// The numbers of the known sessions.
    pub fn numbers(&self) -> Vec<Uuid> {
        self.sessions.keys().copied().collect()
    }

    /// Adds a session that is not known.
    fn insert(&mut self, session: McpSession) -> Arc<McpSession> {
        let mut overtaken = Overtaken::default();
        self.early.retain(|(of, request, at)| {
            let is_its = *of == session.number;
            if is_its {
                overtaken.wait(request, *at);
            }
            !is_its
        });
        session.set_overtaken(overtaken);
        let session = Arc::new(session);
        self.sessions.insert(session.number, session.clone());
        session
    }

    /// Another worker tells of a cancel.
    pub fn cancel(&mut self, number: Uuid, request: &Id, reason: Option<String>) {
        match self.sessions.get(&number) {
            Some(session) => {
                session.cancel(request, reason);
            }
            None if is_long(request) => {}
            None => {
                self.early
                    .push_back((number, request.clone(), Instant::now()));
                if self.early.len() > EARLY {
                    self.early.pop_front();
                }
            }
        }
    }

    /// A client has ended the session on some worker. Removes it here.
    fn end(&mut self, number: Uuid) -> Option<Arc<McpSession>> {
        self.ended.insert(number, ());
        self.sessions.remove(&number)
    }

    /// Removes the sessions that go.
    fn take_out(&mut self, goes: impl Fn(&McpSession) -> bool) -> Vec<Arc<McpSession>> {
        let gone = self.sessions.extract_if(|_, session| goes(session));
        gone.map(|(_, session)| session).collect()
    }
}

#[cfg(test)]
mod tests;
