//! The calls a tool server works on, and the subscriptions they have left behind.

use std::collections::HashMap;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::call::{CallId, CallKey};
use crate::gateway::rap::names::Identifier;
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
    /// Ends its delivery.
    pub over: CancellationToken,
    /// Its delivery.
    pub delivery: JoinHandle<()>,
    /// Whether an event has said that it is the last.
    pub is_final: bool,
}

/// A call that has had its result and sends events.
pub struct Subscription {
    /// Whose it is.
    pub connection: ConnectionId,
    /// The thread: an event must name it.
    pub thread: Identifier,
    /// The tool call's id.
    pub id: Identifier,
    /// The agent's id for it.
    pub call_id: CallId,
}

/// All of both.
#[derive(Default)]
pub struct Calls {
    running: HashMap<CallKey, Running>,
    keys: HashMap<Identifier, CallKey>,
    subscriptions: HashMap<Identifier, Subscription>,
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

    /// A call goes on as a subscription, unless its agent has `max` of them.
    pub fn subscribe(&mut self, running: &Running, max: usize) -> bool {
        let connection = running.connection;
        let held = self.subscriptions.values();
        if held.filter(|it| it.connection == connection).count() >= max {
            return false;
        }
        let subscription = Subscription {
            connection,
            thread: running.thread.clone(),
            id: running.id.clone(),
            call_id: running.call_id.clone(),
        };
        self.subscriptions.insert(running.id.clone(), subscription);
        true
    }

    /// The subscription with that id in that thread.
    pub fn subscription(&self, thread: &Identifier, id: &Identifier) -> Option<&Subscription> {
        let found = self.subscriptions.get(id);
        found.filter(|it| it.thread == *thread)
    }

    /// A subscription has ended.
    pub fn unsubscribe(&mut self, id: &Identifier) {
        self.subscriptions.remove(id);
    }

    /// Ends the subscription that an agent's call has left behind.
    pub fn unsubscribe_call(
        &mut self,
        connection: ConnectionId,
        call_id: &str,
    ) -> Option<Subscription> {
        let is_it =
            |it: &&Subscription| it.connection == connection && it.call_id.as_str() == call_id;
        let id = self.subscriptions.values().find(is_it)?.id.clone();
        self.subscriptions.remove(&id)
    }

    /// Ends all subscriptions of an agent.
    pub fn unsubscribe_all(&mut self, connection: ConnectionId) {
        self.subscriptions
            .retain(|_, it| it.connection != connection);
    }
}
