//! The calls in progress on a tool server: their starts, stops and ends.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

use super::ToolServerApp;
use super::sessions::no_session;
use crate::broker::Start;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::runtime::callbacks::Input;
use crate::fronts::rap::runtime::client::Underway;
use crate::fronts::rap::runtime::delivery::{Dispatch, Undelivered, deliver};
use crate::fronts::rap::runtime::result;
use crate::fronts::rap::wire::Invocation;
use crate::remembered::Remembered;
use crate::wire::{Request, abp};
use caphost::call::{
    CallId, CallKey, CancelAnswer, Code, End, Error, LateEnd, Millis, Outcome, Response, Standing,
    Stop,
};
use caphost::offers::near;

/// A call whose invocation has no result yet.
pub struct Running {
    pub key: CallKey,
    /// The agent, and the number of its request.
    pub agent: String,
    pub number: u64,
    /// The thread of the call. A callback must name this thread.
    pub thread: Identifier,
    /// The tool call's id.
    pub id: Identifier,
    /// The agent's id for the call.
    pub call_id: CallId,
    pub accepted: Millis,
    /// The state that the call shares with its delivery.
    pub dispatch: Arc<Dispatch>,
    /// The task that delivers the invocation.
    pub delivery: Option<JoinHandle<()>>,
    /// Whether the last event has already come, before the result.
    pub is_final: bool,
}

/// A call that was cancelled while its tool ran.
struct Abandoned {
    agent: String,
    thread: Identifier,
    call_id: CallId,
    since: Millis,
}

/// How many abandoned calls are remembered, in case their results still come.
const ABANDONED: usize = 10_000;

/// The calls of the tool server. If a function gets a thread, the call must belong to that thread.
#[derive(Default)]
pub struct Calls {
    running: HashMap<CallKey, Running>,
    ids: HashMap<Identifier, CallKey>,
    last: CallKey,
    /// The cancelled calls by tool call id. A late result says that the work has ended.
    abandoned: Remembered<Identifier, Abandoned, ABANDONED>,
}

impl Calls {
    fn next_key(&mut self) -> CallKey {
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.running.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    fn insert(&mut self, running: Running) {
        self.ids.insert(running.id.clone(), running.key);
        self.running.insert(running.key, running);
    }

    /// The call with that tool call id.
    pub fn get_mut(
        &mut self,
        thread: Option<&Identifier>,
        id: &Identifier,
    ) -> Option<&mut Running> {
        let running = self.running.get_mut(self.ids.get(id)?)?;
        let is_meant = thread.is_none_or(|thread| *thread == running.thread);
        is_meant.then_some(running)
    }

    /// The calls of an agent, in order.
    pub fn of(&self, agent: &str) -> BTreeSet<CallKey> {
        let running = self.running.values();
        running
            .filter(|it| it.agent == agent)
            .map(|it| it.key)
            .collect()
    }

    /// Removes a call that is over.
    fn remove(&mut self, key: CallKey) -> Option<Running> {
        let running = self.running.remove(&key)?;
        self.ids.remove(&running.id);
        Some(running)
    }
}

impl ToolServerApp<'_> {
    pub(super) fn call(&mut self, agent: &str, number: u64, call: Start) {
        if let Err(error) = self.start(agent, number, call) {
            self.respond(agent, number, &Response::refused(error));
        }
    }

    /// Begins a call: from now on its invocation is on its way.
    fn start(&mut self, agent: &str, number: u64, call: Start) -> Result<(), Error<Value>> {
        let now = self.now();
        let session = self.sessions.of(agent).ok_or_else(no_session)?;
        let (tool, params, timeout) = call.call.read()?;
        let bad = |_| Error::invalid_params("Bad callId");
        let call_id = CallId::parse(&call.call_id).map_err(bad)?;
        if session.ledger.standing(&call_id) != Standing::Unknown {
            let message = format!("The callId \"{call_id}\" was used before");
            return Err(Error::invalid_params(message));
        }
        if !session.scope.has_capability(&tool) {
            let message = format!("The capability \"{tool}\" was not requested for this session");
            return Err(Error::new(Code::UNKNOWN_CAPABILITY, message));
        }
        if !self.tools.contains_key(&*tool) {
            let message = format!("There is no capability \"{tool}\"");
            let mut error = Error::new(Code::UNKNOWN_CAPABILITY, message);
            let names = self.tools.keys().map(String::as_str);
            error.alternatives = near(
                &tool,
                &mut names.filter(|it| session.scope.has_capability(it)),
            );
            return Err(error);
        }
        let (id, parts) = (Identifier::random(), &self.parts);
        let arguments = RawValue::from_string(params.as_str().to_string()).map_err(internal)?;
        let invocation = Invocation {
            operation: tool.to_string(),
            arguments: Some(arguments),
            id: id.clone(),
            call_id: Some(call_id.to_string()),
            callback_url: parts.callbacks.url(&id).map_err(internal)?,
            group_id: session.thread.clone(),
            thread_ancestors: None,
            user_id: None,
        };
        let body = serde_json::to_vec(&invocation).map_err(internal)?;
        let dispatch = Arc::<Dispatch>::default();
        let delivery = {
            let (client, inbox) = (parts.client.clone(), parts.callbacks.inbox.clone());
            let (dispatch, id, endpoint) = (dispatch.clone(), id.clone(), self.endpoint.clone());
            parts.client.tasks.spawn(async move {
                let delivered = deliver(&client, &endpoint, Bytes::from(body), &dispatch);
                if let Err(undelivered) = delivered.await {
                    let input = Input::Undelivered { id, undelivered };
                    let _ = inbox.send((input, None)).await;
                }
            })
        };
        let timeout = timeout.map(|ms| Duration::try_from_secs_f64(ms / 1_000.0));
        if let Some(Ok(timeout)) = timeout {
            let (inbox, dispatch) = (parts.callbacks.inbox.clone(), dispatch.clone());
            let id = id.clone();
            parts.client.tasks.spawn(async move {
                if dispatch.lasts_for(timeout).await {
                    let _ = inbox.send((Input::TimedOut { id }, None)).await;
                }
            });
        }
        parts.counters().invocations.add();
        let key = self.calls.next_key();
        session.ledger.enter(&call_id, key);
        self.calls.insert(Running {
            key,
            agent: agent.to_string(),
            number,
            thread: session.thread.clone(),
            id,
            call_id,
            accepted: now,
            dispatch,
            delivery: Some(delivery),
            is_final: false,
        });
        Ok(())
    }

    /// An agent cancels a call, or somebody else does in its name. A cancel of an ended call ends the call's
    /// subscription.
    pub(super) fn cancel(&mut self, agent: &str, number: u64, call_id: &str) {
        let Some(session) = self.sessions.of(agent) else {
            return self.confirm(agent, number, call_id, &Err(no_session()));
        };
        let (key, known) = (session.ledger.key(call_id), session.ledger.answer(call_id));
        if let Some((running, stop)) = key.and_then(|key| self.stop(key)) {
            let answer = Ok(CancelAnswer::cancelled(stop));
            self.confirm(agent, number, call_id, &answer);
            return self.end(&running, Outcome::Cancelled(stop));
        }
        let answer = Ok(known);
        self.confirm(agent, number, call_id, &answer);
        self.unsubscribe(agent, call_id);
    }

    /// Stops a call. The server decides whether the tool stops. If the invocation was sent, this server and
    /// all other servers are notified.
    pub(super) fn stop(&mut self, key: CallKey) -> Option<(Running, Stop)> {
        let mut running = self.calls.remove(key)?;
        if !running.dispatch.end() {
            // No server knows the call.
            return Some((running, Stop::NeverStarted));
        }
        self.abandon(&running);
        let underway = running.delivery.take().map(|delivery| Underway {
            server: self.parts.client.clone(),
            delivery,
        });
        let (thread, id) = (&running.thread, &running.id);
        let notices = &self.parts.notices;
        notices.cancelled(thread, id, underway, &self.port.keep);
        Some((running, Stop::Abandoned))
    }

    /// Remembers a cancelled call, whose tool may go on.
    fn abandon(&mut self, running: &Running) {
        let abandoned = Abandoned {
            agent: running.agent.clone(),
            thread: running.thread.clone(),
            call_id: running.call_id.clone(),
            since: self.now(),
        };
        self.calls.abandoned.insert(running.id.clone(), abandoned);
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
            Input::TimedOut { id } => {
                let key = self.calls.ids.get(&id).copied();
                if let Some((running, stop)) = key.and_then(|key| self.stop(key)) {
                    self.end(&running, Outcome::Cancelled(stop));
                }
            }
            Input::Unreadable { id, error } => drop(self.ended(None, &id, Err(error))),
            Input::Undelivered { id, undelivered } => {
                let Undelivered { error, may_run } = undelivered;
                self.parts.look.notify_one();
                if may_run {
                    // If the call is abandoned, the end of its work stays unknown.
                    let Some(running) = self.calls.get_mut(None, &id) else {
                        return;
                    };
                    let (thread, keep) = (&running.thread, &self.port.keep);
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
        outcome: result::Outcome,
    ) -> Option<Running> {
        let Some(key) = self.calls.get_mut(thread, id).map(|running| running.key) else {
            self.ended_late(thread, id, outcome.is_ok());
            return None;
        };
        let running = self.calls.remove(key)?;
        running.dispatch.end();
        match outcome {
            Ok(data) => self.end(&running, Outcome::Completed(data)),
            // The server says that it has cancelled the call. Nobody knows whether the work has stopped. So
            // the call is first abandoned and then reported as ended.
            Err(error) if error.code == Code::CANCELLED => {
                self.abandon(&running);
                self.end(&running, Outcome::Cancelled(Stop::Abandoned));
                self.ended_late(None, id, false);
            }
            Err(error) => self.end(&running, Outcome::Failed(error)),
        }
        Some(running)
    }

    /// The work of an abandoned call has ended.
    fn ended_late(&mut self, thread: Option<&Identifier>, id: &Identifier, success: bool) {
        let abandoned = self.calls.abandoned.get(id);
        if abandoned.is_none_or(|it| thread.is_some_and(|thread| *thread != it.thread)) {
            return;
        }
        let Some(abandoned) = self.calls.abandoned.remove(id) else {
            return;
        };
        let Abandoned {
            agent,
            thread,
            call_id,
            since,
        } = abandoned;
        let after = (self.now() - since).max(0.0);
        let end = LateEnd { success, after };
        let is_told = match self.sessions.of(&agent) {
            Some(session) if session.thread == thread => {
                session.ledger.ended_late(&call_id, end);
                session.notifications
            }
            Some(_) => false,
            // The run of an agent that has left still hears of its end.
            None => self.sessions.has_left(&agent),
        };
        if is_told {
            self.port.ended_late(&agent, &call_id, end);
        }
    }

    /// A call is over, and its agent is answered.
    pub(super) fn end(&mut self, running: &Running, outcome: Outcome<Value>) {
        let end = match &outcome {
            Outcome::Cancelled(stop) => End::Cancelled(*stop),
            _ => End::Completed,
        };
        if let Some((_, session)) = self.sessions.in_thread(&running.thread) {
            session.ledger.end(&running.call_id, end);
        }
        let response = Response {
            outcome,
            duration: Some(self.now() - running.accepted),
            by: None,
        };
        self.respond(&running.agent, running.number, &response);
    }

    fn respond(&self, agent: &str, number: u64, response: &Response<Value>) {
        let payload = abp::response(response);
        self.port.answer(agent, (number, Request::Call), &payload);
    }

    /// Answers a cancel.
    fn confirm(
        &self,
        agent: &str,
        number: u64,
        call_id: &str,
        answer: &Result<CancelAnswer, Error<Value>>,
    ) {
        let payload = abp::cancel_response(&call_id.into(), answer);
        self.port.answer(agent, (number, Request::Cancel), &payload);
    }
}

fn internal(error: impl std::error::Error) -> Error<Value> {
    Error::new(Code::INTERNAL_ERROR, error.to_string())
}
