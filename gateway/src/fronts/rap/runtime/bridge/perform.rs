//! Does what the core asks for.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::agents::unguessable;
use super::calls::Running;
use super::{Bridge, Input};
use crate::fronts::rap::runtime::delivery::deliver;
use crate::fronts::rap::runtime::errand::Errand;
use crate::fronts::rap::runtime::notices::Underway;
use crate::fronts::rap::wire::Invocation;
use crate::wire::abp;
use caphost::call::{CallId, CallKey, Code, Error, Stop};
use caphost::session::{Action, Answer, ConnectionId, ReplyTo};

impl Bridge<'_> {
    /// Does everything that is to be done, in order.
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
            // Tools take any parameters, make no calls, report no progress and ask nothing; nobody
            // watches.
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

    fn start(
        &mut self,
        key: CallKey,
        call_id: CallId,
        tool: &str,
        mut params: Value,
    ) -> Result<(), Error<Value>> {
        let gone = || Error::new(Code::DISCONNECTED, "The agent is gone");
        let connection = params[0].as_u64().and_then(|it| it.try_into().ok());
        let connection: ConnectionId = connection.ok_or_else(gone)?;
        let agent = self.agents.get(connection).ok_or_else(gone)?;
        let thread = agent.thread.clone().ok_or_else(gone)?;
        let endpoint = self.endpoint.clone().ok_or_else(gone)?;
        let id = unguessable();
        let parts = &self.parts;
        let receiver = &parts.receivers.receivers[parts.index];
        let callback_url = receiver.url(&parts.public, &id).map_err(internal)?;
        let arguments = match params[1].take() {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let invocation = Invocation {
            operation: tool.to_string(),
            arguments,
            id: id.clone(),
            call_id: Some(call_id.to_string()),
            callback_url,
            group_id: thread.clone(),
            thread_ancestors: Vec::new(),
            user_id: None,
        };
        let body = serde_json::to_vec(&invocation).map_err(internal)?;
        let errand = Arc::<Errand>::default();
        let delivery = {
            let (requests, limits) = (parts.requests.clone(), parts.limits.clone());
            let (inbox, errand, id) = (parts.to_inbox.clone(), errand.clone(), id.clone());
            parts.tasks.spawn(async move {
                let delivered = deliver(&requests, &endpoint, Bytes::from(body), &limits, &errand);
                if let Err(undelivered) = delivered.await {
                    let _ = inbox.send(Input::Undelivered { id, undelivered }).await;
                }
            })
        };
        parts.counters.invocations.add();
        let running = Running {
            connection,
            thread,
            id,
            call_id,
            errand,
            delivery,
            is_final: false,
        };
        self.calls.insert(key, running);
        Ok(())
    }

    /// The call is over for its agent. Whether the tool stops is up to its server, which is told, as
    /// are all others; unless it was never told of the call.
    fn stop(&mut self, key: CallKey) {
        let now = self.now();
        let Some(running) = self.calls.remove(key) else {
            return self.state.stopped(key, Stop::Abandoned, now);
        };
        if !running.errand.end() {
            // No tool goes on.
            return self.state.stopped(key, Stop::NeverStarted, now);
        }
        self.state.stopped(key, Stop::Abandoned, now);
        self.calls.abandon(key, &running);
        let underway = Underway {
            server: self.parts.index,
            delivery: running.delivery,
        };
        let (thread, id) = (&running.thread, &running.id);
        let notices = &self.parts.notices;
        notices.cancelled(thread, id, Some(underway), &self.link.keep);
    }

    fn answer(&mut self, to: ConnectionId, id: Option<Value>, answer: Answer<Value>) {
        let (kind, payload) = match answer {
            Answer::Initialized(result) => {
                if let (Ok(opened), Some(agent)) = (&result, self.agents.get_mut(to)) {
                    agent.thread = Some(unguessable());
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
                        payload.insert("error".into(), abp::error(error));
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
            self.parts.notices.closed(&thread, &self.link.keep);
        }
    }

    /// Sends an agent a message.
    pub fn post(&self, to: ConnectionId, kind: &str, id: Option<Value>, payload: Value) {
        if let Some(handle) = self.agents.handle(to) {
            self.link.send(Some(handle), kind, id.as_ref(), payload);
        }
    }
}

fn internal(error: impl std::error::Error) -> Error<Value> {
    Error::new(Code::INTERNAL_ERROR, error.to_string())
}
