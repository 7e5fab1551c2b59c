//! Tools that go on after their result, and send events.

use serde_json::json;

use super::Bridge;
use super::calls::Running;
use crate::dialect::abp;
use crate::gateway::rap::wire::SubscriptionEvent;
use crate::session::ConnectionId;

/// The ABP notification that carries an event; its data is `{ callId, text, associative?, final? }`.
const SUBSCRIPTION_EVENT: &str = "notifications/subscription/event";

impl Bridge<'_> {
    /// A call has had its result, and sends events from now on.
    pub(super) fn subscribe(&mut self, running: &Running) {
        let max = self.parts.limits.subscriptions;
        if !running.is_final && !self.calls.subscribe(running, max) {
            tracing::warn!(
                max,
                "an agent has too many subscriptions: events are dropped"
            );
        }
    }

    /// An event. It may come before the result that begins its subscription.
    pub(super) fn event(&mut self, event: SubscriptionEvent) {
        let (thread, id) = (&event.group_id, &event.tool_call_id);
        let (connection, call_id) = if let Some(found) = self.calls.subscription(thread, id) {
            (found.connection, found.call_id.clone())
        } else if let Some(key) = self.calls.find(thread, id)
            && let Some(running) = self.calls.get_mut(key)
            && !running.is_final
        {
            running.is_final = event.is_final;
            (running.connection, running.call_id.clone())
        } else {
            return self.parts.counters.events_dropped.add();
        };
        if event.is_final {
            self.calls.unsubscribe(id);
        }
        let agent = self.agents.get(connection);
        if agent.is_none_or(|agent| !agent.notifications) {
            return self.parts.counters.events_dropped.add();
        }
        let mut data = json!({ "callId": call_id.as_str(), "text": event.text });
        for (key, flag) in [
            ("associative", event.associative),
            ("final", event.is_final),
        ] {
            if flag {
                data[key] = true.into();
            }
        }
        let payload = abp::notification(SUBSCRIPTION_EVENT, Some(&data));
        self.post(connection, abp::kind::NOTIFICATION, None, payload);
        self.parts.counters.events.add();
    }

    /// An agent has cancelled a call, and so ends the subscription it may have left behind.
    pub(super) fn unsubscribe(&mut self, connection: ConnectionId, call_id: &str) {
        if let Some(ended) = self.calls.unsubscribe_call(connection, call_id) {
            let (thread, id) = (&ended.thread, &ended.id);
            self.parts
                .notices
                .cancelled(thread, id, None, &self.link.keep);
        }
    }
}
