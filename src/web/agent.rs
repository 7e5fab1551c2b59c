//! What the JavaScript glue of an agent calls.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::handles::{Handles, Table};
use super::perform::error;
use super::sys::{self, now};
use super::{Error, some, text};
use crate::agent::{
    Action, AgentOptions, AgentState, CancelOutcome, Outgoing, Request, RequestKey, Settled,
};
use crate::call::{CallId, Code, LateEnd, Stop};

#[wasm_bindgen]
extern "C" {
    /// `Agent` in js/agent.js, which owns promises, signals, the timer and the messenger. None of
    /// these methods throws.
    pub type AgentShell;

    #[wasm_bindgen(method)]
    fn wake(this: &AgentShell);
    #[wasm_bindgen(method)]
    fn arm(this: &AgentShell, milliseconds: f64);
    /// The shell keeps what was called. What cannot be sent it reports with
    /// [`AgentHandle::unsendable`].
    #[wasm_bindgen(method, js_name = sendCall)]
    fn send_call(this: &AgentShell, key: u32);
    #[wasm_bindgen(method, js_name = sendCancel)]
    fn send_cancel(this: &AgentShell, key: u32, id: &str, reason: Option<&str>);
    #[wasm_bindgen(method, js_name = sendShutdown)]
    fn send_shutdown(this: &AgentShell, key: u32, reason: Option<&str>);
    /// Settles a call with a response as it came.
    #[wasm_bindgen(method)]
    fn settle(this: &AgentShell, key: u32, response: &JsValue);
    /// Settles a call without one: it failed.
    #[wasm_bindgen(method)]
    fn fail(this: &AgentShell, key: u32, error: &JsValue);
    /// Settles a call without one: it was cancelled, and so far was the stop seen.
    #[wasm_bindgen(method)]
    fn stopped(this: &AgentShell, key: u32, stop: &str);
    /// Settles a cancel of a call that was cancelled. `ended` is a `LateEnd`, or undefined.
    #[wasm_bindgen(method)]
    fn confirm(this: &AgentShell, key: u32, stop: &str, ended: &JsValue);
    /// Settles a cancel of a call that was not cancelled.
    #[wasm_bindgen(method)]
    fn refuse(this: &AgentShell, key: u32, reason: Option<&str>, error: &JsValue);
    #[wasm_bindgen(method)]
    fn progress(this: &AgentShell, key: u32, info: &JsValue);
    #[wasm_bindgen(method)]
    fn ended(this: &AgentShell, disconnected: bool);
}

/// An agent whose session is open, from JavaScript's side: a class of functions, which take the
/// number of the agent. What they lead to is done by [`AgentHandle::drive`], with the shell handed
/// in each time: a reference kept here would keep both alive for ever.
#[wasm_bindgen]
pub struct AgentHandle;

struct Agent {
    state: RefCell<AgentState<JsValue>>,
    driving: Cell<bool>,
    /// When the shell's timer fires.
    armed: Cell<f64>,
}

thread_local! {
    static TABLE: Table<Agent> = const { Table::new() };
}

static AGENTS: Handles<Agent> = Handles(&TABLE);

fn get(agent: u32) -> Rc<Agent> {
    AGENTS
        .get(agent)
        .expect("it is freed when nobody has its number")
}

#[wasm_bindgen]
impl AgentHandle {
    /// A new agent's number. Times in milliseconds; an infinite `liveness` is none. `answers` says
    /// that the host has announced to answer when it is asked for a sign of life.
    pub fn open(grace: f64, liveness: f64, answers: bool) -> u32 {
        let options = AgentOptions {
            grace,
            liveness: Some(liveness).filter(|it| it.is_finite()),
            answers,
            ..AgentOptions::default()
        };
        AGENTS.add(|_| Agent {
            state: RefCell::new(AgentState::new(options)),
            driving: Cell::new(false),
            armed: Cell::new(f64::INFINITY),
        })
    }

    /// Lets go of an agent that nobody can call any more.
    pub fn forget(agent: u32) {
        AGENTS.remove(agent);
    }

    /// Makes a call; `aborted` says that its signal has fired already. Its key, or 0 if `id` can be
    /// no callId.
    pub fn call(agent: u32, id: &JsValue, timeout: f64, aborted: bool) -> RequestKey {
        let Ok(id) = CallId::parse(&text(id)) else {
            return 0;
        };
        let agent = get(agent);
        let mut state = agent.state.borrow_mut();
        if aborted {
            return state.call_aborted(id);
        }
        state.call(Outgoing {
            id,
            capability: String::new(),
            params: None,
            timeout: Some(timeout).filter(|it| it.is_finite()),
            progress: false,
            transfer: false,
        })
    }

    /// Cancels a call. The key of the confirmation, or 0 if `id` can be no callId.
    pub fn cancel(agent: u32, id: &JsValue, reason: &JsValue) -> RequestKey {
        CallId::parse(&text(id)).map_or(0, |id| {
            let agent = get(agent);
            let mut state = agent.state.borrow_mut();
            state.cancel(id, reason.as_string(), now())
        })
    }

    /// A caller's signal has fired.
    pub fn abort(agent: u32, key: RequestKey, reason: &JsValue) {
        let reason = reason.as_string();
        get(agent).state.borrow_mut().abort(key, reason, now());
    }

    /// Sends what has been called since the last flush.
    pub fn flush(agent: u32) {
        get(agent).state.borrow_mut().flush(now());
    }

    /// A request could not be sent.
    pub fn unsendable(agent: u32, key: RequestKey, problem: &JsValue) {
        let error = Error::new(Code::INVALID_PARAMS, text(problem));
        get(agent).state.borrow_mut().unsendable(key, error);
    }

    /// The timer has fired.
    pub fn tick(agent: u32) {
        let agent = get(agent);
        agent.armed.set(f64::INFINITY);
        agent.state.borrow_mut().handle_timeout(now());
    }

    /// Asks for a sign of life; `sure` if the host is known to give it.
    pub fn probe(agent: u32, within: f64, sure: bool) {
        get(agent).state.borrow_mut().probe(within, sure, now());
    }

    /// Ends the session.
    pub fn shutdown(agent: u32, reason: &JsValue) {
        let reason = reason.as_string();
        get(agent).state.borrow_mut().shutdown(reason, now());
    }

    /// The transport is gone.
    pub fn disconnected(agent: u32) {
        get(agent).state.borrow_mut().disconnected();
    }

    /// The host says something, of whatever kind.
    pub fn heard(agent: u32) {
        get(agent).state.borrow_mut().heard(now());
    }

    /// The host has answered a call; with no `ABPResponse` if `response` is undefined.
    pub fn called(agent: u32, key: RequestKey, response: JsValue) {
        let response = some(response);
        get(agent).state.borrow_mut().called(key, response, None);
    }

    /// The host has answered a call with a response that says that nobody knows what became of it.
    pub fn undecided(agent: u32, key: RequestKey, response: JsValue) {
        get(agent)
            .state
            .borrow_mut()
            .called_undecided(key, response);
    }

    /// The host has answered a call with a response that says it was cancelled.
    pub fn stopped(agent: u32, key: RequestKey, response: JsValue, stop: &JsValue) {
        let stop = Stop::of_peer(stop.as_string().as_deref());
        let agent = get(agent);
        let mut state = agent.state.borrow_mut();
        state.called(key, some(response), Some(stop));
    }

    /// The host has confirmed a cancel. `after` is NaN unless it says how the handler has ended
    /// since.
    pub fn confirmed(agent: u32, key: RequestKey, stop: &JsValue, success: bool, after: f64) {
        let stop = Stop::of_peer(stop.as_string().as_deref());
        let ended = (after >= 0.0).then_some(LateEnd { success, after });
        let agent = get(agent);
        let mut state = agent.state.borrow_mut();
        state.cancelled(key, Some((stop, ended)), None, None, false);
    }

    /// The host has refused a cancel; `lost_session` when it says that there is no session.
    #[wasm_bindgen(js_name = refusedCancel)]
    pub fn refused_cancel(
        agent: u32,
        key: RequestKey,
        reason: &JsValue,
        error: JsValue,
        lost_session: bool,
    ) {
        let (reason, error) = (reason.as_string(), some(error));
        let agent = get(agent);
        let mut state = agent.state.borrow_mut();
        state.cancelled(key, None, reason, error, lost_session);
    }

    /// The handler of a call that was abandoned has ended.
    pub fn ended(agent: u32, call: &JsValue, success: bool, after: f64) {
        let end = LateEnd { success, after };
        get(agent).state.borrow_mut().ended(&text(call), end);
    }

    /// The host has refused a request as no message of the protocol.
    pub fn refused(agent: u32, key: RequestKey, response: JsValue) {
        let response = some(response);
        get(agent).state.borrow_mut().refused(key, response);
    }

    /// The host has ended the session.
    #[wasm_bindgen(js_name = shutDown)]
    pub fn shut_down(agent: u32) {
        get(agent).state.borrow_mut().shut_down();
    }

    /// The host says how far a call is.
    pub fn progress(agent: u32, operation: &JsValue, info: JsValue) {
        let operation = text(operation);
        get(agent).state.borrow_mut().progress(&operation, info);
    }

    /// Does what is to be done, in order, with nothing borrowed: all of it may call back into here.
    pub fn drive(agent: u32, shell: &AgentShell) {
        let agent = get(agent);
        if agent.driving.replace(true) {
            return;
        }
        loop {
            let action = agent.state.borrow_mut().poll_action();
            let Some(action) = action else {
                break;
            };
            perform(shell, action);
        }
        agent.driving.set(false);
        let next = agent
            .state
            .borrow_mut()
            .next_deadline()
            .unwrap_or(f64::INFINITY);
        // A timer that fires early sets itself again, which costs less than moving it each time.
        if next < agent.armed.get() || next == f64::INFINITY && agent.armed.get() != next {
            agent.armed.set(next);
            shell.arm(next - now());
        }
    }
}

fn perform(shell: &AgentShell, action: Action<JsValue>) {
    match action {
        Action::Wake => shell.wake(),
        Action::Send(key, Request::Call(_)) => shell.send_call(key),
        Action::Send(key, Request::Cancel { call, reason }) => {
            shell.send_cancel(key, call.as_str(), reason.as_deref());
        }
        Action::Send(key, Request::Shutdown { reason }) => {
            shell.send_shutdown(key, reason.as_deref());
        }
        Action::Settle(key, Settled::Response(response)) => shell.settle(key, &response),
        Action::Settle(key, Settled::Cancelled(stop)) => shell.stopped(key, stop.as_str()),
        Action::Settle(key, Settled::Failed(failure)) => shell.fail(key, &error(&failure)),
        Action::SettleCancel(
            key,
            CancelOutcome {
                stop: Some(stop),
                ended,
                ..
            },
        ) => {
            let ended = ended.map(|end| sys::late_end(end.success, end.after));
            let ended = ended.unwrap_or(JsValue::UNDEFINED);
            shell.confirm(key, stop.as_str(), &ended);
        }
        Action::SettleCancel(key, it) => {
            let failure = match it.error {
                None => JsValue::UNDEFINED,
                Some(Ok(theirs)) => theirs,
                Some(Err(ours)) => error(&ours),
            };
            shell.refuse(key, it.reason.as_deref(), &failure);
        }
        Action::Progress(key, info) => shell.progress(key, &info),
        Action::Closed(code) => shell.ended(code == Code::DISCONNECTED),
    }
}
