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

use super::overtaken::{Overtaken, is_long};
use super::request::ClientInfo;
use super::session::{Caller, McpSession};
use super::tools;
use crate::bounds::shares::Holder;
use crate::fronts::idle::look_after;
use crate::fronts::refusal::Refusal;
use crate::gateway::Hub;
use crate::options::{count, defaults, duration};
use crate::places::last_places;
use crate::remembered::Remembered;
use crate::wire::json_rpc::Id;
use caphost::call::{Code, Error};
use caphost::dialect::mcp::Version;

/// How many ended sessions are remembered, and how many cancels for sessions that are not here.
const ABSENT: usize = 4_096;

/// Bounds of MCP, with their defaults.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "MCP")]
pub struct McpOptions {
    /// MCP sessions at once. Beyond it, the one that was not used for longest is ended, but never one with an open request or stream.
    #[arg(long, env = "CAPHOST_MCP_MAX_SESSIONS", default_value = "1000", value_parser = count, value_name = "N")]
    pub mcp_max_sessions: usize,
    /// MCP sessions at once of one token, or of one address where there are no tokens. Beyond that only its own sessions are ended.
    #[arg(long, env = "CAPHOST_MCP_MAX_SESSIONS_PER_TOKEN", default_value = "250", value_parser = count, value_name = "N")]
    pub mcp_max_sessions_per_token: usize,
    /// MCP responses open at once: calls in flight, unread answers and listening streams. At most --max-http-connections.
    #[arg(long, env = "CAPHOST_MCP_MAX_OPEN", default_value = "4096", value_parser = count, value_name = "N")]
    pub mcp_max_open: usize,
    /// MCP responses open at once for one token, or for one address where there are no tokens. At most --max-http-connections-per-address.
    #[arg(long, env = "CAPHOST_MCP_MAX_OPEN_PER_TOKEN", default_value = "1024", value_parser = count, value_name = "N")]
    pub mcp_max_open_per_token: usize,
    /// How long an MCP session lives without a request or an open stream. The session that stateless requests (2026-07-28) share, one for each token and app, lives as long.
    #[arg(long, env = "CAPHOST_MCP_SESSION_IDLE", default_value = "30m", value_parser = duration, value_name = "TIME")]
    pub mcp_session_idle: Duration,
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

/// All sessions.
pub struct Sessions {
    pub(super) hub: Arc<Hub>,
    pub(super) idle: Duration,
    max: usize,
    /// How many sessions one holder may have.
    share: usize,
    table: Mutex<Table>,
}

impl Sessions {
    /// An empty table.
    pub fn new(hub: Arc<Hub>, options: &McpOptions) -> Arc<Self> {
        let sessions = Arc::new(Sessions {
            hub,
            idle: options.mcp_session_idle,
            max: options.mcp_max_sessions,
            share: options.mcp_max_sessions_per_token,
            table: Mutex::default(),
        });
        let (hub, idle) = (&sessions.hub, sessions.idle);
        look_after(&sessions, idle, "mcp sessions", hub, |sessions| {
            sessions.end_unused();
            sessions.keep_used();
        });
        sessions.hear_others();
        sessions
    }

    /// Begins a session and returns its id. An unused session may have to end for it.
    pub async fn begin(
        &self,
        caller: &Caller,
        holder: &Holder,
        client: ClientInfo,
        version: &'static Version,
    ) -> Result<String, Refusal> {
        let id = Uuid::new_v4().to_string();
        let thread = Uuid::new_v4().to_string().into();
        let session = McpSession::new(caller.clone(), holder.clone(), thread, client, version);
        let app = session.app(&self.hub);
        // On another worker the client may see older or newer tools.
        if self.hub.cluster().is_none() {
            session.finds(tools::offered(&self.hub, app));
        }
        let session = Arc::new(session);
        self.enter(&id, &session)?;
        tracing::debug!(session = %session.thread, owner = %caller.identity.name, "begun");
        // Before the client knows the id, because its next message may come to another worker.
        self.tell_begun(&id, &session).await;
        Ok(id)
    }

    /// The session with that id, if it belongs to the caller. It may have begun on another worker.
    pub async fn find(
        &self,
        id: &str,
        caller: &Caller,
        holder: &Holder,
    ) -> Result<Arc<McpSession>, Refusal> {
        self.take_up(id, caller, holder).await?;
        let found = self.table().sessions.get(id).cloned();
        let found = found.filter(|session| session.caller == *caller);
        let found = found.ok_or_else(no_session)?;
        found.touch();
        Ok(found)
    }

    /// The client ends a session, here and on all other workers.
    pub async fn end(self: &Arc<Self>, id: &str) {
        self.end_here(id, "ended");
        // In a task of its own: the client may close its connection before the others are told.
        let (sessions, id) = (self.clone(), id.to_string());
        let told = tokio::spawn(async move { sessions.tell_ended(&id).await });
        let _ = told.await;
    }

    /// A session has ended on some worker: it ends here too, and does not come back.
    pub(super) fn end_here(&self, id: &str, why: &'static str) {
        let ended = self.table().end(id);
        close(ended, why);
    }

    fn end_unused(&self) {
        let is_unused = |_: &String, it: &mut Arc<McpSession>| it.unused_for() >= self.idle;
        let ended: Vec<_> = self.table().sessions.extract_if(is_unused).collect();
        close(ended.into_iter().map(|(_, session)| session), "unused");
    }

    /// Adds a session. An unused session may have to end for it.
    pub(super) fn enter(&self, id: &str, new: &Arc<McpSession>) -> Result<(), Refusal> {
        let mut table = self.table();
        if table.has(id) {
            return Ok(());
        }
        let ended = table.make_room(&new.holder, self.max, self.share)?;
        table.insert(id.into(), new);
        drop(table);
        close(ended, "unused: made room");
        Ok(())
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }
}

/// Closes sessions that were removed from the table.
fn close(ended: impl IntoIterator<Item = Arc<McpSession>>, why: &'static str) {
    for session in ended {
        session.close();
        tracing::debug!(session = %session.thread, why, "the session has ended");
    }
}

/// 404: the session has ended, never existed, or belongs to another.
pub(super) fn no_session() -> Refusal {
    Refusal::not_found("Session not found")
}

/// 503: there are as many sessions as allowed, and all are in use.
fn no_room() -> Refusal {
    let message = "All MCP sessions that you may have are in use: end sessions that you do not need, or raise --mcp-max-sessions and --mcp-max-sessions-per-token";
    let error = Error::new(Code::RATE_LIMITED, message);
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// Sessions by id, and what other workers have said about sessions that are not here.
#[derive(Default)]
pub(super) struct Table {
    sessions: HashMap<String, Arc<McpSession>>,
    ended: Remembered<String, (), ABSENT>,
    /// Cancels for sessions that are not here, with their times of arrival: their requests may come here.
    early: VecDeque<(String, Id, Instant)>,
}

impl Table {
    /// Makes room for a session of `holder`, who may have `share` of `max`. If there is no room, the session
    /// that was unused for longest ends: one of the holder's own if it has its share, else one of the holder
    /// with most. The ended session is removed.
    fn make_room(
        &mut self,
        holder: &Holder,
        max: usize,
        share: usize,
    ) -> Result<Option<Arc<McpSession>>, Refusal> {
        let mut held: HashMap<&Holder, usize> = HashMap::new();
        for session in self.sessions.values() {
            *held.entry(&session.holder).or_default() += 1;
        }
        let own = held.get(holder).copied().unwrap_or_default();
        let has_share = own >= share;
        // The last places are for holders without a session. For others an unused session ends.
        let kept = if own > 0 { last_places(max) } else { 0 };
        if !has_share && self.sessions.len() < max - kept {
            return Ok(None);
        }
        let may_go = |session: &McpSession| !has_share || session.holder == *holder;
        let goes = self
            .sessions
            .iter()
            .filter(|(_, session)| may_go(session))
            .filter_map(|(id, session)| {
                let held = held.get(&session.holder);
                Some(((Reverse(held), session.unused_since()?), id.clone()))
            })
            .min_by_key(|(order, _)| *order)
            .map(|(_, id)| id);
        let gone = goes.and_then(|id| self.sessions.remove(&id));
        gone.map(Some).ok_or_else(no_room)
    }

    /// Whether the session with that id is here.
    fn has(&self, id: &str) -> bool {
        self.sessions.contains_key(id)
    }

    /// Whether the session with that id is here, or has ended.
    pub fn knows(&self, id: &str) -> bool {
        self.has(id) || self.ended.get(id).is_some()
    }

    /// Adds a session. Returns false if it is already here, or has ended.
    fn insert(&mut self, id: String, session: &Arc<McpSession>) -> bool {
        if self.knows(&id) {
            return false;
        }
        let mut overtaken = Overtaken::default();
        self.early.retain(|(of, request, at)| {
            let is_its = *of == id;
            if is_its {
                overtaken.wait(request, *at);
            }
            !is_its
        });
        session.set_overtaken(overtaken);
        self.sessions.insert(id, session.clone());
        true
    }

    /// Another worker tells of a cancel.
    pub fn cancel(&mut self, id: &str, request: &Id, reason: Option<String>) {
        match self.sessions.get(id) {
            Some(session) => {
                session.cancel(request, reason);
            }
            None if is_long(request) => {}
            None => {
                self.early
                    .push_back((id.into(), request.clone(), Instant::now()));
                if self.early.len() > ABSENT {
                    self.early.pop_front();
                }
            }
        }
    }

    /// The session has ended on some worker. Removes it here.
    pub fn end(&mut self, id: &str) -> Option<Arc<McpSession>> {
        self.ended.insert(id.into(), ());
        self.sessions.remove(id)
    }

    /// The sessions that were used within that time.
    pub fn used_within(&self, time: Duration) -> Vec<(String, Arc<McpSession>)> {
        let used = self
            .sessions
            .iter()
            .filter(|(_, it)| it.unused_for() <= time);
        used.map(|(id, session)| (id.clone(), session.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use caphost::dialect::mcp::WITH_SESSIONS;
    use serde_json::json;

    use super::super::session::NotTaken;
    use super::*;
    use crate::tokens::Identity;

    fn session() -> Arc<McpSession> {
        let caller = Caller {
            identity: Identity::anyone(),
            app: None,
            tools: None,
        };
        let client = ClientInfo {
            name: "test".into(),
            version: "1".into(),
        };
        let holder = Holder::Token("a".into());
        let thread = "thread".into();
        Arc::new(McpSession::new(
            caller,
            holder,
            thread,
            client,
            &WITH_SESSIONS,
        ))
    }

    #[test]
    fn a_cancel_that_was_told_before_its_session_came_keeps_the_request_from_starting() {
        let id = |number: u64| Id::read(&json!(number)).unwrap();
        let mut table = Table::default();
        table.cancel("a", &id(1), None);
        let session = session();
        assert!(table.insert("a".into(), &session));
        assert_eq!(session.take(&id(1)), Err(NotTaken::Cancelled));
        assert_eq!(session.take(&id(2)), Ok(()));
    }

    #[test]
    fn a_session_that_has_ended_is_not_taken_up_any_more() {
        let mut table = Table::default();
        assert!(table.end("a").is_none());
        assert!(!table.insert("a".into(), &session()));
        assert!(table.insert("b".into(), &session()));
        assert!(!table.insert("b".into(), &session()), "it is here");
        assert!(table.end("b").is_some() && !table.has("b"));
    }

    #[test]
    fn not_everything_is_remembered() {
        let mut table = Table::default();
        for id in 0..2 * ABSENT {
            table.end(&id.to_string());
        }
        assert_eq!(table.ended.len(), ABSENT);
        assert!(table.insert("0".into(), &session()));
        let id = Id::read(&json!(1)).unwrap();
        for absent in 0..2 * ABSENT {
            table.cancel(&format!("absent {absent}"), &id, None);
        }
        assert_eq!(table.early.len(), ABSENT);
        let long = Id::read(&json!("x".repeat(1_000))).unwrap();
        table.cancel("long", &long, None);
        assert!(table.early.iter().all(|(of, ..)| of != "long"));
    }
}
