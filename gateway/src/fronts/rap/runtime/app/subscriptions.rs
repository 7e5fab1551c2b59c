//! Tools that go on after their result, and send events.

use std::collections::HashMap;

use serde_json::json;

use super::ToolServerApp;
use super::calls::Running;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::SubscriptionEvent;
use crate::seldom::Seldom;
use crate::wire::abp;
use caphost::call::CallId;
use caphost::session::ConnectionId;

/// The ABP notification that carries an event; its data is `{ callId, text, associative?, final? }`.
const SUBSCRIPTION_EVENT: &str = "notifications/subscription/event";

/// How many one agent may have; events of any more are dropped.
const SUBSCRIPTIONS: usize = 1_024;

/// The subscriptions, by agent and by the agent's id of the call that began each.
#[derive(Default)]
pub struct Subscriptions {
    held: HashMap<ConnectionId, HashMap<CallId, Subscription>>,
    owners: HashMap<Identifier, (ConnectionId, CallId)>,
}

struct Subscription {
    thread: Identifier,
    id: Identifier,
}

impl Subscriptions {
    /// A call goes on as a subscription, unless its agent has too many of them.
    fn insert(&mut self, running: &Running) -> bool {
        // An id may be used again once its call is no longer remembered.
        self.remove(running.connection, running.call_id.as_str());
        let held = self.held.entry(running.connection).or_default();
        if held.len() >= SUBSCRIPTIONS {
            return false;
        }
        let subscription = Subscription {
            thread: running.thread.clone(),
            id: running.id.clone(),
        };
        held.insert(running.call_id.clone(), subscription);
        let owner = (running.connection, running.call_id.clone());
        self.owners.insert(running.id.clone(), owner);
        true
    }

    /// Whose subscription has that id in that thread.
    fn owner(&self, thread: &Identifier, id: &Identifier) -> Option<(ConnectionId, CallId)> {
        let (connection, call_id) = self.owners.get(id)?;
        let subscription = self.held.get(connection)?.get(call_id)?;
        (subscription.thread == *thread).then(|| (*connection, call_id.clone()))
    }

    fn remove(&mut self, connection: ConnectionId, call_id: &str) -> Option<Subscription> {
        let removed = self.held.get_mut(&connection)?.remove(call_id)?;
        self.owners.remove(&removed.id);
        Some(removed)
    }

    /// Ends all of an agent's.
    pub fn remove_all(&mut self, connection: ConnectionId) {
        for subscription in self.held.remove(&connection).unwrap_or_default().values() {
            self.owners.remove(&subscription.id);
        }
    }
}

impl ToolServerApp<'_> {
    /// A call has its result, and sends events from now on.
    pub(super) fn subscribe(&mut self, running: &Running) {
        if !running.is_final && !self.subscriptions.insert(running) {
            static SAID: Seldom = Seldom::new();
            if SAID.is_due() {
                tracing::warn!(
                    max = SUBSCRIPTIONS,
                    "an agent has too many subscriptions: events are dropped"
                );
            }
        }
    }

    /// Passes an event on. It may come before the result that begins its subscription.
    pub(super) fn event(&mut self, event: SubscriptionEvent) {
        let (thread, id) = (&event.group_id, &event.tool_call_id);
        let is_final = event.is_final.unwrap_or_default();
        let (connection, call_id) = if let Some(owner) = self.subscriptions.owner(thread, id) {
            owner
        } else if let Some(key) = self.calls.find(thread, id)
            && let Some(running) = self.calls.get_mut(key)
            && !running.is_final
        {
            running.is_final = is_final;
            (running.connection, running.call_id.clone())
        } else {
            return self.parts.counters().events_dropped.add();
        };
        if is_final {
            self.subscriptions.remove(connection, call_id.as_str());
        }
        let agent = self.agents.get(connection);
        if agent.is_none_or(|agent| !agent.notifications) {
            return self.parts.counters().events_dropped.add();
        }
        let mut data = json!({ "callId": call_id.as_str(), "text": event.text });
        for (key, flag) in [
            ("associative", event.associative.unwrap_or_default()),
            ("final", is_final),
        ] {
            if flag {
                data[key] = true.into();
            }
        }
        let payload = abp::notification(SUBSCRIPTION_EVENT, Some(&data));
        self.post(connection, abp::kind::NOTIFICATION, None, payload);
        self.parts.counters().events.add();
    }

    /// An agent has cancelled a call, and so ends the subscription it may have left behind.
    pub(super) fn unsubscribe(&mut self, connection: ConnectionId, call_id: &str) {
        if let Some(ended) = self.subscriptions.remove(connection, call_id) {
            let notices = &self.parts.notices;
            notices.cancelled(&ended.thread, &ended.id, None, &self.broker.keep);
        }
    }
}
