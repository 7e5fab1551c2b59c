//! The calls a tool server works on: how they begin, how they are stopped, and which there are.

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
    /// The thread it was made in: a callback must name it.
    pub thread: Identifier,
    /// The tool call's id.
    pub id: Identifier,
    /// The agent's id for it.
    pub call_id: CallId,
    /// What it shares with its delivery.
    pub dispatch: Arc<Dispatch>,
    /// The task that delivers it.
    pub delivery: JoinHandle<()>,
    /// Whether its last event has come already, before its result.
    pub is_final: bool,
}

/// How many abandoned calls are remembered in case their results still come.
const ABANDONED: usize = 10_000;

/// The calls of the tool server. Where a thread is named, a call must be of that thread.
#[derive(Default)]
pub struct Calls {
    running: HashMap<Identifier, Running>,
    ids: HashMap<CallKey, Identifier>,
    /// Cancelled calls by the id of the tool call: a late result says that the work has ended.
    abandoned: Remembered<Identifier, (Identifier, CallKey), ABANDONED>,
}

impl Calls {
    /// A call has been started.
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

    /// A call is over.
    fn remove(&mut self, id: &Identifier) -> Option<Running> {
        let running = self.running.remove(id)?;
        self.ids.remove(&running.key);
        Some(running)
    }

    /// A call was cancelled, and its tool may go on.
    fn abandon(&mut self, running: &Running) {
        let (thread, id) = (running.thread.clone(), running.id.clone());
        self.abandoned.insert(id, (thread, running.key));
    }

    /// The tool of an abandoned call with that id has ended.
    fn ended_late(&mut self, thread: Option<&Identifier>, id: &Identifier) -> Option<CallKey> {
        let (of, key) = self.abandoned.get(id)?;
        let key = thread.is_none_or(|thread| thread == of).then_some(*key)?;
        self.abandoned.remove(id);
        Some(key)
    }
}

impl ToolServerApp<'_> {
    /// Begins a call: its invocation is on its way from now on.
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

    /// The call is over for its agent. Whether the tool stops is up to its server. If the invocation
    /// was sent, this server and all others are notified.
    pub(super) fn stop(&mut self, key: CallKey) {
        let now = self.now();
        let running = self.calls.ids.get(&key).cloned();
        let Some(running) = running.and_then(|id| self.calls.remove(&id)) else {
            return self.state.stopped(key, Stop::Abandoned, now);
        };
        if !running.dispatch.end() {
            // No server knows of the call.
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

    /// Deals with an input.
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
                    // The end of an abandoned call is not known.
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

    /// A tool has ended, or will never run. Returns the call, unless it was over before. Then the outcome comes
    /// too late, but says that the work has ended.
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
            // The server says that it has cancelled the call. Nobody knows whether the work has stopped, so
            // it is abandoned before it is reported as ended.
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
