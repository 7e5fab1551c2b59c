//! The sessions here, and what was told of those that are not.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::SessionId;
use tokio::time::Instant;

use super::state::Session;
use crate::tokens::Identity;

/// What is remembered of sessions that are not here.
const ABSENT: usize = 4_096;
/// For how long: what it concerns may be on its way.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sessions by their ids.
#[derive(Default)]
pub struct Table {
    sessions: HashMap<SessionId, Arc<Session>>,
    absent: VecDeque<(Instant, String, Told)>,
}

/// What another worker has told.
enum Told {
    /// A request is cancelled that may come here.
    Cancelled(RequestId, Option<String>),
    /// The session has ended.
    Ended,
}

/// Whether there is room for one more session.
pub enum Room {
    /// There was.
    Left,
    /// There is without this one, which is here no more.
    MadeBy(Arc<Session>),
    /// There is not: all are in use.
    None,
}

impl Table {
    /// Makes room for a session of `owner`, who may have `share` of `max`. If there is none left, the
    /// one goes that was not used for longest: of the owner's own if it has its share, else of who
    /// has most.
    pub fn make_room(&mut self, owner: &Identity, max: usize, share: usize) -> Room {
        let mut held: HashMap<&Identity, usize> = HashMap::new();
        for session in self.sessions.values() {
            *held.entry(&session.caller.identity).or_default() += 1;
        }
        let has_share = held.get(owner).is_some_and(|held| *held >= share);
        if !has_share && self.sessions.len() < max {
            return Room::Left;
        }
        let may_go = |session: &Session| !has_share || session.caller.identity == *owner;
        let goes = self
            .sessions
            .iter()
            .filter(|(_, session)| may_go(session))
            .filter_map(|(id, session)| {
                let held = held.get(&session.caller.identity);
                Some(((Reverse(held), session.unused_since()?), id.clone()))
            })
            .min_by_key(|(order, _)| *order)
            .map(|(_, id)| id);
        match goes.and_then(|id| self.sessions.remove(&id)) {
            Some(ended) => Room::MadeBy(ended),
            None => Room::None,
        }
    }

    /// Whether that one is here.
    pub fn has(&self, id: &str) -> bool {
        self.sessions.contains_key(id)
    }

    /// That one.
    pub fn get(&self, id: &str) -> Option<&Arc<Session>> {
        self.sessions.get(id)
    }

    /// A new one.
    pub fn insert(&mut self, id: SessionId, session: Arc<Session>) {
        self.sessions.insert(id, session);
    }

    /// One that another worker has begun, unless it is here, or has ended by now. Whether it is
    /// taken.
    pub fn take_up(&mut self, id: &SessionId, session: &Arc<Session>) -> bool {
        self.tidy();
        if self.has(id) {
            return false;
        }
        for (_, _, told) in self.absent.iter().filter(|(_, of, _)| **of == **id) {
            match told {
                Told::Ended => return false,
                Told::Cancelled(request, reason) => {
                    session.cancel(request, reason.clone());
                }
            }
        }
        self.sessions.insert(id.clone(), session.clone());
        true
    }

    /// Another worker tells of a cancel.
    pub fn cancel(&mut self, id: String, request: RequestId, reason: Option<String>) {
        match self.get(&id) {
            Some(session) => {
                session.cancel(&request, reason);
            }
            None => self.remember(id, Told::Cancelled(request, reason)),
        }
    }

    /// It has ended, on whichever worker: it is here no more.
    pub fn end(&mut self, id: String) -> Option<Arc<Session>> {
        let ended = self.sessions.remove(&*id);
        self.remember(id, Told::Ended);
        ended
    }

    /// It has ended here.
    pub fn remove(&mut self, id: &str) {
        self.sessions.remove(id);
    }

    /// Those used within that time.
    pub fn used_within(&self, time: Duration) -> Vec<(SessionId, Arc<Session>)> {
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
    use futures_util::StreamExt;
    use rmcp::model::{ClientRequest, JsonRpcRequest, PingRequest};
    use tokio::sync::mpsc::UnboundedReceiver;

    use super::*;
    use crate::fronts::mcp::caller::Caller;
    use crate::fronts::mcp::log_level::LogLevel;
    use crate::tokens::Identity;
    use rmcp::model::ClientJsonRpcMessage;

    fn session() -> (Arc<Session>, UnboundedReceiver<ClientJsonRpcMessage>) {
        let caller = Caller {
            identity: Identity::anyone(),
            app: None,
        };
        let idle = Duration::from_secs(60);
        Session::new(caller, "thread".into(), idle, LogLevel::default())
    }

    fn ping(id: i64) -> JsonRpcRequest<ClientRequest> {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        JsonRpcRequest::new(RequestId::Number(id), ping)
    }

    #[tokio::test]
    async fn a_cancel_that_was_told_before_its_session_came_keeps_the_request_from_starting() {
        let mut table = Table::default();
        table.cancel("a".into(), RequestId::Number(1), None);
        let (session, mut inbound) = session();
        assert!(table.take_up(&"a".into(), &session));
        assert!(session.request(ping(1)).unwrap().next().await.is_none());
        assert!(inbound.try_recv().is_err());
        let _open = session.request(ping(2)).unwrap();
        assert!(inbound.try_recv().is_ok());
    }

    #[tokio::test]
    async fn a_session_that_has_ended_is_not_taken_up_any_more() {
        let mut table = Table::default();
        assert!(table.end("a".into()).is_none());
        assert!(!table.take_up(&"a".into(), &session().0));
        assert!(table.take_up(&"b".into(), &session().0));
        assert!(!table.take_up(&"b".into(), &session().0), "it is here");
        assert!(table.end("b".into()).is_some() && !table.has("b"));
    }

    #[tokio::test]
    async fn not_everything_is_remembered() {
        let mut table = Table::default();
        for id in 0..2 * ABSENT {
            table.end(id.to_string());
        }
        assert_eq!(table.absent.len(), ABSENT);
        assert!(table.take_up(&"0".into(), &session().0));
    }
}
