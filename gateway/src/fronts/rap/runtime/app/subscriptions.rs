//! Tools that go on after their result and send events.

use serde_json::json;

use super::ToolServerApp;
use super::calls::Running;
use super::sessions::Session;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::SubscriptionEvent;
use crate::seldom::Seldom;
use crate::wire::abp;
use caphost::call::CallId;

/// The ABP notification that carries an event. Its data is `{ callId, text, associative?, final? }`.
const SUBSCRIPTION_EVENT: &str = "notifications/subscription/event";

/// How many subscriptions one agent may have. Events of further subscriptions are dropped.
const SUBSCRIPTIONS: usize = 1_024;

impl Session {
    fn subscribe(&mut self, id: Identifier, call_id: CallId) {
        // The callId may belong to an earlier call that is no longer remembered.
        self.unsubscribe(call_id.as_str());
        if self.subscriptions.len() < SUBSCRIPTIONS {
            self.subscriptions.insert(id, call_id);
            return;
        }
        static SAID: Seldom = Seldom::new();
        if SAID.is_due() {
            tracing::warn!(
                max = SUBSCRIPTIONS,
                "an agent has too many subscriptions: events are dropped"
            );
        }
    }

    /// Ends the subscription of a call. Returns the tool call that began the subscription.
    fn unsubscribe(&mut self, call_id: &str) -> Option<Identifier> {
        let mut all = self.subscriptions.iter();
        let (id, _) = all.find(|(_, it)| it.as_str() == call_id)?;
        let id = id.clone();
        self.subscriptions.remove(&id);
        Some(id)
    }
}

impl ToolServerApp<'_> {
    /// A call has its result, and sends events from now on. Does nothing if the agent has too many
    /// subscriptions.
    pub(super) fn subscribe(&mut self, running: Running) {
        if !running.is_final
            && let Some(session) = self.sessions.of(&running.agent)
        {
            session.subscribe(running.id, running.call_id);
        }
    }

    /// Passes an event on.
    pub(super) fn event(&mut self, event: SubscriptionEvent) {
        let SubscriptionEvent {
            group_id: thread,
            tool_call_id: id,
            text,
            associative,
            is_final,
        } = event;
        let is_final = is_final.unwrap_or_default();
        let call_id = self.note_event(&thread, &id, is_final);
        let session = self.sessions.in_thread(&thread);
        let session = session.filter(|(_, session)| session.notifications);
        let (Some(call_id), Some((agent, _))) = (call_id, session) else {
            return self.parts.counters().events_dropped.add();
        };
        let mut data = json!({ "callId": call_id.as_str(), "text": text });
        for (key, flag) in [
            ("associative", associative.unwrap_or_default()),
            ("final", is_final),
        ] {
            if flag {
                data[key] = true.into();
            }
        }
        let payload = abp::notification(SUBSCRIPTION_EVENT, Some(&data));
        self.port.notify(agent, &payload);
        self.parts.counters().events.add();
    }

    /// Notes an event of a tool call. Returns the agent's id for the call, if the agent should hear of the
    /// event. The event may come before the result that begins the subscription. After an event that
    /// `is_final`, further events are dropped.
    fn note_event(
        &mut self,
        thread: &Identifier,
        id: &Identifier,
        is_final: bool,
    ) -> Option<CallId> {
        if let Some(running) = self.calls.get_mut(Some(thread), id) {
            if running.is_final {
                return None;
            }
            running.is_final = is_final;
            return Some(running.call_id.clone());
        }
        let (_, session) = self.sessions.in_thread(thread)?;
        match is_final {
            true => session.subscriptions.remove(id),
            false => session.subscriptions.get(id).cloned(),
        }
    }

    /// An agent has cancelled a call. This ends the call's subscription, if there is one.
    pub(super) fn unsubscribe(&mut self, agent: &str, call_id: &str) {
        if let Some(session) = self.sessions.of(agent)
            && let Some(id) = session.unsubscribe(call_id)
        {
            let (thread, keep) = (&session.thread, &self.port.keep);
            self.parts.notices.cancelled(thread, &id, None, keep);
        }
    }
}
