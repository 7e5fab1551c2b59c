//! Which sessions there are.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::http::StatusCode;
use clap::Args;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::request::ClientInfo;
use super::session::{Caller, Session};
use super::tools;
use crate::fronts::refusal::Refusal;
use crate::fronts::shares::Holder;
use crate::gateway::Hub;
use crate::options::{count, defaults, duration};
use crate::wire::json_rpc::Id;
use caphost::call::{Code, Error};

/// What is remembered of sessions that are not here.
const ABSENT: usize = 4_096;
/// For how long they are remembered: news of them may be on its way.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Tools in one page of tools/list.
    #[arg(long, env = "CAPHOST_MCP_PAGE_SIZE", default_value = "100", value_parser = count, value_name = "N")]
    pub mcp_page_size: usize,
}

impl McpOptions {
    /// Lowers how many responses are open to as many as there are connections.
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
    /// How many one holder may have.
    share: usize,
    table: Mutex<Table>,
}

impl Sessions {
    /// None yet.
    pub fn new(hub: Arc<Hub>, options: &McpOptions) -> Self {
        Sessions {
            hub,
            idle: options.mcp_session_idle,
            max: options.mcp_max_sessions,
            share: options.mcp_max_sessions_per_token,
            table: Mutex::default(),
        }
    }

    /// A new session, with its id. One that is not in use may have to end for it.
    pub fn begin(
        self: &Arc<Self>,
        caller: &Caller,
        holder: Holder,
        client: ClientInfo,
    ) -> Result<(String, Arc<Session>), Refusal> {
        let id = Uuid::new_v4().to_string();
        let thread = Uuid::new_v4().to_string().into();
        let session = Session::new(caller.clone(), holder, thread, client, self.idle);
        let app = session.app(&self.hub);
        // What the client sees on another worker may be older, or newer.
        if self.hub.workers().is_none() {
            session.finds(tools::offered(&self.hub, app));
        }
        let session = Arc::new(session);
        self.enter(id.clone(), &session)?;
        tracing::debug!(session = %session.thread, owner = %caller.identity.name, "begun");
        Ok((id, session))
    }

    /// The session with that id, if it is the caller's.
    pub fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let found = self.table().sessions.get(id).cloned();
        let found = found.filter(|session| session.caller == *caller)?;
        found.touch();
        Some(found)
    }

    /// Ends a session here.
    pub fn end(&self, id: &str) {
        let ended = self.table().sessions.remove(id);
        if let Some(session) = ended {
            session.close();
            tracing::debug!(session = %session.thread, "ended");
        }
    }

    /// Adds a session, for which one that is not in use may have to end.
    pub(super) fn enter(self: &Arc<Self>, id: String, new: &Arc<Session>) -> Result<(), Refusal> {
        let mut table = self.table();
        if table.has(&id) {
            return Ok(());
        }
        let room = table.make_room(&new.holder, self.max, self.share)?;
        if table.insert(id.clone(), new) {
            tokio::spawn(end_when_idle(Arc::downgrade(self), id, new.clone()));
        }
        drop(table);
        if let Some(ended) = room {
            ended.close();
            tracing::debug!(session = %ended.thread, "unused: made room");
        }
        Ok(())
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }
}

/// 503: there are as many sessions as there may be, all in use.
fn no_room() -> Refusal {
    let error = Error::new(Code::RATE_LIMITED, "Too many MCP sessions");
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// Looks after one session, until it has ended.
async fn end_when_idle(sessions: Weak<Sessions>, id: String, session: Arc<Session>) {
    loop {
        let expires = session.expires();
        if expires <= Instant::now() {
            break;
        }
        tokio::select! {
            () = session.ended.cancelled() => return,
            () = sleep_until(expires) => {}
        }
    }
    if let Some(sessions) = sessions.upgrade() {
        sessions.end(&id);
    }
}

/// Sessions by their ids, and what was told of those that are not here.
#[derive(Default)]
pub(super) struct Table {
    sessions: HashMap<String, Arc<Session>>,
    absent: VecDeque<(Instant, String, Told)>,
}

/// What another worker has told.
enum Told {
    /// A request is cancelled that may come here.
    Cancelled(Id, Option<String>),
    /// The session has ended.
    Ended,
}

impl Table {
    /// Makes room for a session of `holder`, who may have `share` of `max`. If there is none left, one
    /// session is ended, the one unused for longest: among the holder's own if it has its share, else
    /// among those of the holder with most. The ended session is here no more.
    fn make_room(
        &mut self,
        holder: &Holder,
        max: usize,
        share: usize,
    ) -> Result<Option<Arc<Session>>, Refusal> {
        let mut held: HashMap<&Holder, usize> = HashMap::new();
        for session in self.sessions.values() {
            *held.entry(&session.holder).or_default() += 1;
        }
        let has_share = held.get(holder).is_some_and(|held| *held >= share);
        if !has_share && self.sessions.len() < max {
            return Ok(None);
        }
        let may_go = |session: &Session| !has_share || session.holder == *holder;
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

    /// Whether that one is here.
    pub fn has(&self, id: &str) -> bool {
        self.sessions.contains_key(id)
    }

    /// Adds a session, unless it is here, or has ended elsewhere by now. Whether it is added.
    fn insert(&mut self, id: String, session: &Arc<Session>) -> bool {
        self.tidy();
        if self.has(&id) {
            return false;
        }
        for (_, _, told) in self.absent.iter().filter(|(_, of, _)| *of == id) {
            match told {
                Told::Ended => return false,
                Told::Cancelled(request, reason) => {
                    session.cancel(request, reason.clone());
                }
            }
        }
        self.sessions.insert(id, session.clone());
        true
    }

    /// Another worker tells of a cancel.
    pub fn cancel(&mut self, id: String, request: Id, reason: Option<String>) {
        match self.sessions.get(&id) {
            Some(session) => {
                session.cancel(&request, reason);
            }
            None => self.remember(id, Told::Cancelled(request, reason)),
        }
    }

    /// It has ended, on whichever worker: it is here no more.
    pub fn end(&mut self, id: String) -> Option<Arc<Session>> {
        let ended = self.sessions.remove(&id);
        self.remember(id, Told::Ended);
        ended
    }

    /// Those used within that time.
    pub fn used_within(&self, time: Duration) -> Vec<(String, Arc<Session>)> {
        let used = self.sessions.iter().filter(|(_, it)| it.used_within(time));
        used.map(|(id, session)| (id.clone(), session.clone()))
            .collect()
    }

    fn remember(&mut self, id: String, told: Told) {
        self.tidy();
        self.absent.push_back((Instant::now(), id, told));
        if self.absent.len() > ABSENT {
            self.absent.pop_front();
        }
    }

    fn tidy(&mut self) {
        while let Some((at, ..)) = self.absent.front()
            && at.elapsed() >= PATIENCE
        {
            self.absent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::session::NotTaken;
    use super::*;
    use crate::tokens::Identity;

    fn session() -> Arc<Session> {
        let caller = Caller {
            identity: Identity::anyone(),
            app: None,
        };
        let client = ClientInfo {
            name: "test".into(),
            version: "1".into(),
        };
        let idle = Duration::from_secs(60);
        let holder = Holder::Token("a".into());
        Arc::new(Session::new(caller, holder, "thread".into(), client, idle))
    }

    #[test]
    fn a_cancel_that_was_told_before_its_session_came_keeps_the_request_from_starting() {
        let id = |number: u64| Id::read(&json!(number)).unwrap();
        let mut table = Table::default();
        table.cancel("a".into(), id(1), None);
        let session = session();
        assert!(table.insert("a".into(), &session));
        assert_eq!(session.take(&id(1)), Err(NotTaken::Cancelled));
        assert_eq!(session.take(&id(2)), Ok(()));
    }

    #[test]
    fn a_session_that_has_ended_is_not_taken_up_any_more() {
        let mut table = Table::default();
        assert!(table.end("a".into()).is_none());
        assert!(!table.insert("a".into(), &session()));
        assert!(table.insert("b".into(), &session()));
        assert!(!table.insert("b".into(), &session()), "it is here");
        assert!(table.end("b".into()).is_some() && !table.has("b"));
    }

    #[test]
    fn not_everything_is_remembered() {
        let mut table = Table::default();
        for id in 0..2 * ABSENT {
            table.end(id.to_string());
        }
        assert_eq!(table.absent.len(), ABSENT);
        assert!(table.insert("0".into(), &session()));
    }
}
