//! Sessions of the gateway's own with apps: calls come typed, and so does what becomes of them.
//!
//! To its app such a session is an agent like any other. The caller's half of it is the core's
//! [`AgentState`], which sees to it that every call and every cancel settles exactly once.

mod answers;
mod sending;

use std::sync::Arc;

use super::call::{CancelKey, Client, NewCall, Reply, Step, cancel_failed, disconnected};
use super::pending::PageKey;
use super::requests::About;
use super::{Action, Broker, PeerId};
use crate::broker::runs::{Lost, RunId};
use crate::remembered::Remembered;
use crate::wire::{Json, Request};
pub(super) use answers::Answer;
use caphost::agent::{AgentOptions, AgentState, Outgoing, RequestKey, Settled};
use caphost::call::{CallId, Code, Error, LateEnd, Millis, Stop};
use rustc_hash::FxHashMap;

/// How long an app has to answer `initialize`, in milliseconds.
const INITIALIZE_MS: Millis = 10_000.0;

/// Abandoned calls of one session whose ends are waited for, 1 024.
const ABANDONED: usize = 1_024;

/// The caller's half of one session.
pub(super) struct Page {
    state: AgentState<Reply>,
    /// Until the app has answered `initialize`: when it is no longer waited for.
    give_up: Option<Millis>,
    calls: FxHashMap<RequestKey, (RunId, CallId)>,
    cancels: FxHashMap<RequestKey, (CancelKey, RunId, CallId)>,
    abandoned: Remembered<Arc<str>, RunId, ABANDONED>,
    /// As it stands among the deadlines of all.
    deadline: Option<u64>,
}

impl Page {
    fn new(grace: Millis, now: Millis) -> Self {
        let options = AgentOptions {
            grace,
            ..AgentOptions::default()
        };
        Page {
            state: AgentState::new(options),
            give_up: Some(now + INITIALIZE_MS),
            calls: FxHashMap::default(),
            cancels: FxHashMap::default(),
            abandoned: Remembered::default(),
            deadline: None,
        }
    }

    fn next_deadline(&mut self) -> Option<Millis> {
        let next = self.state.next_deadline();
        match (next, self.give_up) {
            (Some(next), Some(give_up)) => Some(next.min(give_up)),
            (next, give_up) => next.or(give_up),
        }
    }
}

impl Broker {
    /// When [`Event::Deadline`] is due next, on the clock that never goes back.
    ///
    /// [`Event::Deadline`]: super::Event::Deadline
    pub fn next_deadline(&self) -> Option<Millis> {
        self.deadlines.first().map(|(at, _)| Millis::from_bits(*at))
    }

    /// A call is made: its run is registered, and the session opened if it is not open.
    pub(super) fn page_call(&mut self, session: PeerId, client: &Client, call: NewCall) {
        let run = call.run.id;
        if self.runs.register(call.run, self.now.unix_ms).is_some() {
            return self.page_unsent(run, Settled::Cancelled(Stop::NeverStarted));
        }
        let opens = !self.agents.contains_key(&session);
        if opens && !self.join_page(session, client) {
            return self.page_unsent(run, Settled::Response(Reply::Failed(disconnected())));
        }
        self.with_page(session, |broker, page| {
            let id = call.id.clone();
            let key = page.state.call(Outgoing {
                id: call.id,
                capability: String::new(),
                params: Some(Reply::Json(call.payload)),
                timeout: call.timeout,
                progress: false,
                transfer: false,
            });
            page.calls.insert(key, (run, id));
            if opens {
                let (key, hello) = (PageKey::Initialize, &client.hello);
                let key = (key, Request::Initialize);
                broker.page_request(session, page, key, hello, About::Nothing);
            }
        });
    }

    /// Makes the session an agent, if there is room.
    fn join_page(&mut self, session: PeerId, client: &Client) -> bool {
        self.agent_joined(session, client.app.clone(), client.profile.clone());
        let grace = self.limits.confirm_timeout.as_secs_f64() * 1_000.0;
        let page = Page::new(grace, self.now.monotonic_ms);
        let Some(agent) = self.agents.get_mut(&session) else {
            return false;
        };
        agent.page = Some(Box::new(page));
        true
    }

    /// Cancels a call on its caller's behalf.
    pub(super) fn page_cancel(
        &mut self,
        session: PeerId,
        (run, call): (RunId, CallId),
        cancel: CancelKey,
        reason: Option<String>,
    ) {
        // The session may be another one by now, or never have heard of the call.
        if let Some(outcome) = self.outcome_of_ended(run) {
            let answered = Action::CancelAnswered { cancel, outcome };
            return self.actions.push_back(answered);
        }
        let now = self.now;
        self.runs
            .cancel_requested(run, reason.as_deref(), now.unix_ms);
        let found = self.with_page(session, |_, page| {
            let key = page.state.cancel(call.clone(), reason, now.monotonic_ms);
            page.cancels.insert(key, (cancel, run, call));
        });
        if !found {
            let error = disconnected();
            let outcome = cancel_failed(&error.message.clone(), error);
            self.actions
                .push_back(Action::CancelAnswered { cancel, outcome });
        }
    }

    /// Nobody calls any more.
    pub(super) fn page_left(&mut self, session: PeerId) {
        let now = self.now.monotonic_ms;
        self.with_page(session, |_, page| match page.give_up {
            Some(_) => page.state.disconnected(),
            None => page.state.shutdown(None, now),
        });
    }

    /// Deals with what has come to its deadline.
    pub(super) fn page_deadlines(&mut self) {
        let now = self.now.monotonic_ms;
        while let Some((at, session)) = self.deadlines.first().copied()
            && Millis::from_bits(at) <= now
        {
            self.deadlines.pop_first();
            self.leave(session, Lost::Agent);
            self.with_page(session, |broker, page| {
                page.deadline = None;
                page.state.handle_timeout(now);
                if page.give_up.is_some_and(|at| at <= now) {
                    let message = "The page does not respond; its tab may be frozen";
                    let error = Error::new(Code::TIMEOUT, message);
                    broker.page_refused(page, Reply::Failed(error), None);
                }
            });
        }
    }

    /// The app, or the gateway in its stead, has answered a request.
    pub(super) fn page_answered(
        &mut self,
        session: PeerId,
        (key, request): (PageKey, Request),
        answer: Answer<'_>,
    ) {
        self.with_page(session, |broker, page| {
            broker.page_heard(page, (key, request), answer);
        });
    }

    /// How far a call is.
    pub(super) fn page_progress(&mut self, session: PeerId, operation: &str, info: Json) {
        self.with_page(session, |_, page| {
            page.state.progress(operation, Reply::Json(info));
        });
    }

    /// The handler of an abandoned call has ended.
    pub(super) fn page_ended_late(&mut self, session: PeerId, call_id: &str, ended: LateEnd) {
        self.with_page(session, |broker, page| {
            page.state.ended(call_id, ended);
            if let Some(run) = page.abandoned.remove(call_id) {
                let step = Step::Late(ended);
                broker.actions.push_back(Action::Call { run, step });
                broker.actions.push_back(Action::CallOver { run });
            }
        });
    }

    /// The app is gone, or the gateway stops: everything settles. The session is not an agent any
    /// more.
    pub(super) fn page_lost(&mut self, session: PeerId, mut page: Box<Page>) {
        page.state.disconnected();
        self.perform(session, &mut page);
        self.page_over(session, *page);
    }

    /// Changes a session, and does what its state asks for. Whether there is such a session.
    fn with_page(&mut self, session: PeerId, change: impl FnOnce(&mut Self, &mut Page)) -> bool {
        // Apart while it is changed, as what it asks for concerns the agent that it is.
        let agent = self.agents.get_mut(&session);
        let Some(mut page) = agent.and_then(|agent| agent.page.take()) else {
            return false;
        };
        change(self, &mut page);
        if self.perform(session, &mut page) {
            self.page_over(session, *page);
            self.gone(session);
            return true;
        }
        let next = page.next_deadline().map(Millis::to_bits);
        if page.deadline != next {
            let known = page.deadline.map(|at| (at, session));
            known.map(|known| self.deadlines.remove(&known));
            self.deadlines.extend(next.map(|at| (at, session)));
            page.deadline = next;
        }
        if let Some(agent) = self.agents.get_mut(&session) {
            agent.page = Some(page);
        }
        true
    }

    fn page_over(&mut self, session: PeerId, page: Page) {
        if let Some(at) = page.deadline {
            self.deadlines.remove(&(at, session));
        }
        for (_, run) in page.abandoned.into_all() {
            self.actions.push_back(Action::CallOver { run });
        }
    }
}
