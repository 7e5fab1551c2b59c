//! Does what the host's state asks for, and writes to agents.

use serde_json::{Map, Value};

use super::ToolServerApp;
use crate::fronts::rap::names::Identifier;
use crate::wire::{abp, error_json};
use caphost::session::{Action, Answer, ConnectionId, ReplyTo};

impl ToolServerApp<'_> {
    /// Does everything the state asks for, in order.
    pub fn drive(&mut self) {
        while let Some(action) = self.state.poll_action() {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action<Value, ()>) {
        match action {
            Action::Wake => self.woken = true,
            Action::Start {
                key,
                id,
                capability,
                params,
                ..
            } => {
                if let Err(error) = self.start(key, id, &capability, params) {
                    let now = self.now();
                    self.state.settle(key, Err(error), true, now);
                }
            }
            Action::Stop { key, .. } => self.stop(key),
            Action::Respond {
                to: ReplyTo::Agent(connection, id),
                response,
                ..
            } => {
                let payload = abp::response(&response);
                self.post(connection, abp::kind::CALL_RESULT, id, payload);
            }
            Action::Answer { to, id, answer } => self.answer(to, id, answer),
            Action::CallEnded { to, id, end } => {
                self.post(to, abp::kind::NOTIFICATION, None, abp::call_ended(&id, end));
            }
            Action::CapabilitiesChanged { to, changes } => {
                let payload = abp::capabilities_changed(&changes);
                self.post(to, abp::kind::NOTIFICATION, None, payload);
            }
            // Tools take any parameters, make no calls, report no progress and ask nothing, and nobody
            // observes the state.
            Action::Check { .. }
            | Action::Respond { .. }
            | Action::Progress { .. }
            | Action::Elicit { .. }
            | Action::Withdraw { .. }
            | Action::Elicited { .. }
            | Action::Notify { .. }
            | Action::Call(_)
            | Action::Progressed { .. }
            | Action::CancelAnswered { .. }
            | Action::Confirm { .. }
            | Action::EndedLate { .. }
            | Action::Session { .. } => {}
        }
    }

    fn answer(&mut self, to: ConnectionId, id: Option<Value>, answer: Answer<Value>) {
        let (kind, payload) = match answer {
            Answer::Initialized(result) => {
                if let (Ok(opened), Some(agent)) = (&result, self.agents.get_mut(to)) {
                    agent.thread = Some(Identifier::random());
                    agent.notifications = opened.features.notifications;
                }
                let payload = abp::initialized(&self.app, &result);
                (abp::kind::INITIALIZE_RESULT, payload)
            }
            Answer::Cancelled(given, result) => {
                let payload = abp::cancel_response(&given, &result);
                (abp::kind::CANCEL_RESULT, payload)
            }
            Answer::ShutDown(result) => {
                let mut payload = Map::new();
                match &result {
                    Ok(()) => self.close_thread(to),
                    Err(error) => {
                        payload.insert("error".into(), error_json(error));
                    }
                }
                // ABP 0.1 has no such message: only a peer that asks for it by an id gets it.
                if id.is_none() {
                    return;
                }
                (abp::kind::SHUTDOWN_RESULT, payload.into())
            }
        };
        self.post(to, kind, id, payload);
    }

    /// The session of an agent is over, and with it its thread.
    pub fn close_thread(&mut self, connection: ConnectionId) {
        self.subscriptions.remove_all(connection);
        let agent = self.agents.get_mut(connection);
        if let Some(thread) = agent.and_then(|agent| agent.thread.take()) {
            self.parts.notices.closed(&thread, &self.broker.keep);
        }
    }

    /// Sends an agent a message.
    pub fn post(&self, to: ConnectionId, kind: &str, id: Option<Value>, payload: Value) {
        if let Some(handle) = self.agents.handle(to) {
            self.broker.send(Some(handle), kind, id.as_ref(), payload);
        }
    }
}
