//! The calls a tool server works on.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::runtime::errand::Errand;
use caphost::call::{CallId, CallKey};
use caphost::session::ConnectionId;

/// One invocation without a result.
pub struct Running {
    /// Whose it is.
    pub connection: ConnectionId,
    /// The thread it was made in: a callback must name it.
    pub thread: Identifier,
    /// The tool call's id.
    pub id: Identifier,
    /// The agent's id for it.
    pub call_id: CallId,
    /// What its delivery goes by.
    pub errand: Arc<Errand>,
    /// Its delivery.
    pub delivery: JoinHandle<()>,
    /// Whether an event has said that it is the last.
    pub is_final: bool,
}

/// Abandoned calls whose results are still waited for, 10 000.
const ABANDONED: usize = 10_000;

/// All of them.
#[derive(Default)]
pub struct Calls {
    running: HashMap<CallKey, Running>,
    keys: HashMap<Identifier, CallKey>,
    /// Those that were cancelled: a result that comes late says that they have ended.
    abandoned: HashMap<Identifier, (Identifier, CallKey)>,
    order: VecDeque<Identifier>,
}

impl Calls {
    /// A call has been started.
    pub fn insert(&mut self, key: CallKey, running: Running) {
        self.keys.insert(running.id.clone(), key);
        self.running.insert(key, running);
    }

    /// The call with that id in that thread.
    pub fn find(&self, thread: &Identifier, id: &Identifier) -> Option<CallKey> {
        let key = self.find_any(id)?;
        (self.running.get(&key)?.thread == *thread).then_some(key)
    }

    /// The call with that id.
    pub fn find_any(&self, id: &Identifier) -> Option<CallKey> {
        self.keys.get(id).copied()
    }

    /// A call.
    pub fn get_mut(&mut self, key: CallKey) -> Option<&mut Running> {
        self.running.get_mut(&key)
    }

    /// A call was cancelled, and its tool may go on.
    pub fn abandon(&mut self, key: CallKey, running: &Running) {
        if self.order.len() >= ABANDONED
            && let Some(oldest) = self.order.pop_front()
        {
            self.abandoned.remove(&oldest);
        }
        let (thread, id) = (running.thread.clone(), running.id.clone());
        self.order.push_back(id.clone());
        self.abandoned.insert(id, (thread, key));
    }

    /// The tool of an abandoned call with that id, in that thread if one is named, has ended.
    pub fn ended_late(&mut self, thread: Option<&Identifier>, id: &Identifier) -> Option<CallKey> {
        let (of, key) = self.abandoned.get(id)?;
        let key = thread.is_none_or(|thread| thread == of).then_some(*key)?;
        self.abandoned.remove(id);
        self.order.retain(|it| it != id);
        Some(key)
    }

    /// A call has ended.
    pub fn remove(&mut self, key: CallKey) -> Option<Running> {
        let running = self.running.remove(&key)?;
        self.keys.remove(&running.id);
        Some(running)
    }
}
