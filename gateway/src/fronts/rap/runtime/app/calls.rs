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
use crate::fronts::rap::wire::Invocation;
use crate::remembered::Remembered;
use caphost::call::{CallId, CallKey, Code, Error, Stop};
use caphost::session::ConnectionId;

/// A call whose invocation has no result yet.
pub struct Running {
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

/// The calls of the tool server.
#[derive(Default)]
pub struct Calls {
    running: HashMap<CallKey, Running>,
    keys: HashMap<Identifier, CallKey>,
    /// Cancelled calls by the id of the tool call: a late result says that the work has ended.
    abandoned: Remembered<Identifier, (Identifier, CallKey), ABANDONED>,
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

    /// A call was cancelled, and its tool may go on.
    pub fn abandon(&mut self, key: CallKey, running: &Running) {
        let (thread, id) = (running.thread.clone(), running.id.clone());
        self.abandoned.insert(id, (thread, key));
    }

    /// The tool of an abandoned call with that id, in that thread if one is named, has ended.
    pub fn ended_late(&mut self, thread: Option<&Identifier>, id: &Identifier) -> Option<CallKey> {
        let (of, key) = self.abandoned.get(id)?;
        let key = thread.is_none_or(|thread| thread == of).then_some(*key)?;
        self.abandoned.remove(id);
        Some(key)
    }

    /// A call has ended.
    pub fn remove(&mut self, key: CallKey) -> Option<Running> {
        let running = self.running.remove(&key)?;
        self.keys.remove(&running.id);
        Some(running)
    }
}

impl ToolServerApp<'_> {
    /// Begins a call: its invocation is on its way from now on.
    pub(super) fn start(
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
        let id = Identifier::random();
        let parts = &self.parts;
        let callback_url = parts.callbacks.url(&id).map_err(internal)?;
        let arguments = match params[1].take() {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
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
            let (client, limits) = (parts.client.clone(), parts.limits.clone());
            let (inbox, dispatch, id) =
                (parts.callbacks.inbox.clone(), dispatch.clone(), id.clone());
            parts.tasks.spawn(async move {
                let delivered = deliver(&client, &endpoint, Bytes::from(body), &limits, &dispatch);
                if let Err(undelivered) = delivered.await {
                    let input = Input::Undelivered { id, undelivered };
                    let _ = inbox.send(input.into()).await;
                }
            })
        };
        parts.counters().invocations.add();
        let running = Running {
            connection,
            thread,
            id,
            call_id,
            dispatch,
            delivery,
            is_final: false,
        };
        self.calls.insert(key, running);
        Ok(())
    }

    /// The call is over for its agent. Whether the tool stops is up to its server. If the invocation
    /// was sent, this server and all others are notified.
    pub(super) fn stop(&mut self, key: CallKey) {
        let now = self.now();
        let Some(running) = self.calls.remove(key) else {
            return self.state.stopped(key, Stop::Abandoned, now);
        };
        if !running.dispatch.end() {
            // No server knows of the call.
            return self.state.stopped(key, Stop::NeverStarted, now);
        }
        self.state.stopped(key, Stop::Abandoned, now);
        self.calls.abandon(key, &running);
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
        let now = self.now();
        match input {
            Input::Result {
                thread,
                id,
                subscription,
                outcome,
            } => {
                let key = self.calls.find(&thread, &id);
                let ended = key.and_then(|key| Some((key, self.calls.remove(key)?)));
                let Some((key, running)) = ended else {
                    self.parts.counters().results_dropped.add();
                    // The result comes too late, but it says that the work has ended.
                    if let Some(key) = self.calls.ended_late(Some(&thread), &id) {
                        self.state.settle(key, outcome, true, now);
                    }
                    return;
                };
                running.dispatch.end();
                if subscription && outcome.is_ok() {
                    self.subscribe(&running);
                }
                self.parts.counters().results.add();
                match outcome {
                    // The server says that it has cancelled the call. Nobody knows whether the work has stopped.
                    Err(error) if error.code == Code::CANCELLED => {
                        self.state.cancel_child(key, None, now);
                        self.state.stopped(key, Stop::Abandoned, now);
                        // The call has ended, which is reported as well.
                        self.state.settle(key, Err(error), true, now);
                    }
                    outcome => self.state.settle(key, outcome, true, now),
                }
            }
            Input::Event(event) => self.event(event),
            Input::Unreadable { id, error } => match self.calls.ended_late(None, &id) {
                Some(key) => self.state.settle(key, Err(error), true, now),
                None => self.fail(&id, error),
            },
            Input::Undelivered { id, undelivered } => {
                let Undelivered { error, may_run } = undelivered;
                if !may_run && let Some(key) = self.calls.ended_late(None, &id) {
                    return self.state.settle(key, Err(error), true, now);
                }
                self.parts.look.notify_one();
                if may_run
                    && let Some(key) = self.calls.find_any(&id)
                    && let Some(running) = self.calls.get_mut(key)
                {
                    let (thread, keep) = (&running.thread, &self.broker.keep);
                    self.parts.notices.cancelled(thread, &id, None, keep);
                }
                self.fail(&id, error);
            }
        }
    }

    fn fail(&mut self, id: &Identifier, error: Error<Value>) {
        let now = self.now();
        let Some(key) = self.calls.find_any(id) else {
            return;
        };
        if let Some(running) = self.calls.remove(key) {
            running.dispatch.end();
            self.state.settle(key, Err(error), true, now);
        }
    }
}

fn internal(error: impl std::error::Error) -> Error<Value> {
    Error::new(Code::INTERNAL_ERROR, error.to_string())
}
