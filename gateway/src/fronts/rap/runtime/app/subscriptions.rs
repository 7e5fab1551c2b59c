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

/// Whose subscriptions there are, by the ids of their tool calls: an agent's, by the agent's id of the
/// call that began it.
pub type Subscriptions = HashMap<Identifier, (ConnectionId, CallId)>;

impl ToolServerApp<'_> {
    /// A call has its result, and sends events from now on, unless its agent has too many subscriptions.
    pub(super) fn subscribe(&mut self, running: &Running) {
        let Running {
            connection,
            call_id,
            id,
            ..
        } = running;
        if running.is_final {
            return;
        }
        // An id may be used again once its call is no longer remembered.
        self.forget_subscription(*connection, call_id.as_str());
        let Some(agent) = self.agents.get_mut(*connection) else {
            return;
        };
        if agent.subscriptions.len() >= SUBSCRIPTIONS {
            static SAID: Seldom = Seldom::new();
            if SAID.is_due() {
                tracing::warn!(
                    max = SUBSCRIPTIONS,
                    "an agent has too many subscriptions: events are dropped"
                );
            }
            return;
        }
        agent.subscriptions.insert(call_id.clone(), id.clone());
        let owner = (*connection, call_id.clone());
        self.subscriptions.insert(id.clone(), owner);
    }

    /// Whose subscription has that id in that thread.
    fn subscriber(&self, thread: &Identifier, id: &Identifier) -> Option<(ConnectionId, CallId)> {
        let (connection, call_id) = self.subscriptions.get(id)?;
        let agent = self.agents.get(*connection)?;
        (agent.thread.as_ref() == Some(thread)).then(|| (*connection, call_id.clone()))
    }

    fn forget_subscription(
        &mut self,
        connection: ConnectionId,
        call_id: &str,
    ) -> Option<Identifier> {
        let agent = self.agents.get_mut(connection)?;
        let id = agent.subscriptions.remove(call_id)?;
        self.subscriptions.remove(&id);
        Some(id)
    }

    /// Passes an event on. It may come before the result that begins its subscription.
    pub(super) fn event(&mut self, event: SubscriptionEvent) {
        let (thread, id) = (&event.group_id, &event.tool_call_id);
        let is_final = event.is_final.unwrap_or_default();
        let (connection, call_id) = if let Some(owner) = self.subscriber(thread, id) {
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
            self.forget_subscription(connection, call_id.as_str());
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
        if let Some(id) = self.forget_subscription(connection, call_id)
            && let Some(agent) = self.agents.get(connection)
            && let Some(thread) = &agent.thread
        {
            let notices = &self.parts.notices;
            notices.cancelled(thread, &id, None, &self.broker.keep);
        }
    }
}
