//! The calls in progress on a tool server: starting and stopping them.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;

use super::ToolServerApp;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::runtime::callbacks::Input;
use crate::fronts::rap::runtime::client::Underway;
use crate::fronts::rap::runtime::delivery::{Dispatch, Undelivered, deliver};
use crate::fronts::rap::runtime::result::Outcome;
use crate::fronts::rap::wire::Invocation;
use crate::remembered::Remembered;
use caphost::call::{CallId, CallKey, Code, Error, Stop};
use caphost::session::ConnectionId;

/// A call whose invocation has no result yet.
pub struct Running {
    pub key: CallKey,
    /// The connection of its agent.
    pub connection: ConnectionId,
    /// The thread of the call. A callback must name this thread.
    pub thread: Identifier,
    /// The tool call's id.
    pub id: Identifier,
    /// The agent's id for the call.
    pub call_id: CallId,
    /// The state that the call shares with its delivery.
    pub dispatch: Arc<Dispatch>,
    /// The task that delivers the invocation.
    pub delivery: JoinHandle<()>,
    /// Whether the last event has already come, before the result.
    pub is_final: bool,
}

/// How many abandoned calls are remembered, in case their results still come.
const ABANDONED: usize = 10_000;

/// The calls of the tool server. If a function gets a thread, the call must belong to that thread.
#[derive(Default)]
pub struct Calls {
    running: HashMap<Identifier, Running>,
    ids: HashMap<CallKey, Identifier>,
    /// The cancelled calls by tool call id. A late result says that the work has ended.
    abandoned: Remembered<Identifier, (Identifier, CallKey), ABANDONED>,
}

impl Calls {
    /// Adds a started call.
    fn insert(&mut self, running: Running) {
        self.ids.insert(running.key, running.id.clone());
        self.running.insert(running.id.clone(), running);
    }

    /// The call with that id.
    pub fn get_mut(
        &mut self,
        thread: Option<&Identifier>,
        id: &Identifier,
    ) -> Option<&mut Running> {
        let running = self.running.get_mut(id)?;
        let is_meant = thread.is_none_or(|thread| *thread == running.thread);
        is_meant.then_some(running)
    }

    /// Removes a call that is over.
    fn remove(&mut self, id: &Identifier) -> Option<Running> {
        let running = self.running.remove(id)?;
        self.ids.remove(&running.key);
        Some(running)
    }

    /// Remembers a cancelled call, whose tool may go on.
    fn abandon(&mut self, running: &Running) {
        let (thread, id) = (running.thread.clone(), running.id.clone());
        self.abandoned.insert(id, (thread, running.key));
    }

    /// The tool of an abandoned call has ended. Returns the call's key.
    fn ended_late(&mut self, thread: Option<&Identifier>, id: &Identifier) -> Option<CallKey> {
        let (of, key) = self.abandoned.get(id)?;
        let key = thread.is_none_or(|thread| thread == of).then_some(*key)?;
        self.abandoned.remove(id);
        Some(key)
    }
}

impl ToolServerApp<'_> {
    /// Begins a call: from now on its invocation is on its way.
    pub(super) fn start(
        &mut self,
        key: CallKey,
        call_id: CallId,
        tool: &str,
        params: Value,
    ) -> Result<(), Error<Value>> {
        let (connection, arguments): (ConnectionId, Map<String, Value>) =
            serde_json::from_value(params).map_err(internal)?;
        let session = self.agents.session(connection);
        let gone = || Error::new(Code::DISCONNECTED, "The agent is gone");
        let thread = session.ok_or_else(gone)?.thread.clone();
        let endpoint = self.endpoint.clone();
        let id = Identifier::random();
        let parts = &self.parts;
        let callback_url = parts.callbacks.url(&id).map_err(internal)?;
        let arguments = serde_json::value::to_raw_value(&arguments).map_err(internal)?;
        let invocation = Invocation {
            operation: tool.to_string(),
            arguments: Some(arguments),
            id: id.clone(),
            call_id: Some(call_id.to_string()),
            callback_url,
            group_id: thread.clone(),
            thread_ancestors: None,
            user_id: None,
        };
        let body = serde_json::to_vec(&invocation).map_err(internal)?;
        let dispatch = Arc::<Dispatch>::default();
        let delivery = {
            let (client, inbox) = (parts.client.clone(), parts.callbacks.inbox.clone());
            let (dispatch, id) = (dispatch.clone(), id.clone());
            parts.client.tasks.spawn(async move {
                let delivered = deliver(&client, &endpoint, Bytes::from(body), &dispatch);
                if let Err(undelivered) = delivered.await {
                    let input = Input::Undelivered { id, undelivered };
                    let _ = inbox.send((input, None)).await;
                }
            })
        };
        parts.counters().invocations.add();
        self.calls.insert(Running {
            key,
            connection,
            thread,
            id,
            call_id,
            dispatch,
            delivery,
            is_final: false,
        });
        Ok(())
    }

    /// The call is over for its agent. The server decides whether the tool stops. If the invocation was sent,
    /// this server and all other servers are notified.
    pub(super) fn stop(&mut self, key: CallKey) {
        let now = self.now();
        let running = self.calls.ids.get(&key).cloned();
        let Some(running) = running.and_then(|id| self.calls.remove(&id)) else {
            return self.state.stopped(key, Stop::Abandoned, now);
        };
        if !running.dispatch.end() {
            // No server knows the call.
            return self.state.stopped(key, Stop::NeverStarted, now);
        }
        self.state.stopped(key, Stop::Abandoned, now);
        self.calls.abandon(&running);
        let underway = Underway {
            server: self.parts.client.clone(),
            delivery: running.delivery,
        };
        let (thread, id) = (&running.thread, &running.id);
        let notices = &self.parts.notices;
        notices.cancelled(thread, id, Some(underway), &self.broker.keep);
    }

    /// Handles an input.
    pub fn input(&mut self, input: Input) {
        match input {
            Input::Result {
                thread,
                id,
                subscription,
                outcome,
            } => {
                let subscribes = subscription && outcome.is_ok();
                let Some(running) = self.ended(Some(&thread), &id, outcome) else {
                    return self.parts.counters().results_dropped.add();
                };
                self.parts.counters().results.add();
                if subscribes {
                    self.subscribe(running);
                }
            }
            Input::Event(event) => self.event(event),
            Input::Unreadable { id, error } => drop(self.ended(None, &id, Err(error))),
            Input::Undelivered { id, undelivered } => {
                let Undelivered { error, may_run } = undelivered;
                self.parts.look.notify_one();
                if may_run {
                    // If the call is abandoned, the end of its work stays unknown.
                    let Some(running) = self.calls.get_mut(None, &id) else {
                        return;
                    };
                    let (thread, keep) = (&running.thread, &self.broker.keep);
                    self.parts.notices.cancelled(thread, &id, None, keep);
                }
                self.ended(None, &id, Err(error));
            }
        }
    }

    /// A tool has ended, or will never run. Returns the call, if it was still running. If the call was over
    /// before, the outcome comes too late and only says that the work has ended.
    fn ended(
        &mut self,
        thread: Option<&Identifier>,
        id: &Identifier,
        outcome: Outcome,
    ) -> Option<Running> {
        let now = self.now();
        if self.calls.get_mut(thread, id).is_none() {
            let key = self.calls.ended_late(thread, id)?;
            self.state.settle(key, outcome, true, now);
            return None;
        }
        let running = self.calls.remove(id)?;
        running.dispatch.end();
        if let Err(error) = &outcome
            && error.code == Code::CANCELLED
        {
            // The server says that it has cancelled the call. Nobody knows whether the work has stopped. So
            // the call is first abandoned and then reported as ended.
            self.state.cancel_child(running.key, None, now);
            self.state.stopped(running.key, Stop::Abandoned, now);
        }
        self.state.settle(running.key, outcome, true, now);
        Some(running)
    }
}

fn internal(error: impl std::error::Error) -> Error<Value> {
    Error::new(Code::INTERNAL_ERROR, error.to_string())
}
