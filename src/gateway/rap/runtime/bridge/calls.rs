//! The calls a tool server works on.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::call::{CallId, CallKey};
use crate::gateway::rap::names::Identifier;
use crate::gateway::rap::runtime::errand::Errand;
use crate::session::ConnectionId;

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

/// All of them.
#[derive(Default)]
pub struct Calls {
    running: HashMap<CallKey, Running>,
    keys: HashMap<Identifier, CallKey>,
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

    /// A call has ended.
    pub fn remove(&mut self, key: CallKey) -> Option<Running> {
        let running = self.running.remove(&key)?;
        self.keys.remove(&running.id);
        Some(running)
    }
}
