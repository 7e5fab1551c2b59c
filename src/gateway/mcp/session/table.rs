//! The sessions here, and what was told of those that are not.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::SessionId;
use tokio::time::Instant;

use super::state::Session;

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

impl Table {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
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
