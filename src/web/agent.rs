//! What the JavaScript glue of an agent calls.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::handles::{Handles, Table};
use super::perform::{error, word};
use super::sys::{self, now};
use super::{Failure, some};
use crate::agent::{
    Action, AgentOptions, AgentState, CancelOutcome, Outgoing, Request, RequestKey, Settled,
};
use crate::call::{CallId, Code, LateEnd, Millis, Stop};

#[wasm_bindgen]
extern "C" {
    /// `Agent` in js/agent.js, which owns promises, signals, the timer and the messenger. None of
    /// these methods throws.
    pub type AgentShell;

    /// Has [`AgentHandle::tick`] called at that time, or a little before; at infinity for never.
    #[wasm_bindgen(method)]
    fn arm(this: &AgentShell, at: Millis);
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
    fn stopped(this: &AgentShell, key: u32, stop: &JsValue);
    /// Settles a cancel of a call that was cancelled. `ended` is a `LateEnd`, or undefined.
    #[wasm_bindgen(method)]
    fn confirm(this: &AgentShell, key: u32, stop: &JsValue, ended: &JsValue);
    /// Settles a cancel of a call that was not cancelled.
    #[wasm_bindgen(method)]
    fn refuse(this: &AgentShell, key: u32, reason: Option<&str>, error: &JsValue);
    #[wasm_bindgen(method)]
    fn progress(this: &AgentShell, key: u32, info: &JsValue);
    #[wasm_bindgen(method)]
    fn ended(this: &AgentShell, disconnected: bool);
}

/// An agent whose session is open, from JavaScript's side: a class of functions, which take the
/// number of the agent. Those that may lead to something take the shell, too, which does it: a
/// reference kept here would keep both alive for ever.
///
/// Private as [`super::HostHandle`].
#[wasm_bindgen(private, skip_typescript)]
#[derive(Debug)]
pub struct AgentHandle;

struct Agent {
    state: RefCell<AgentState<JsValue>>,
    driving: Cell<bool>,
    /// For when the shell was last asked for a call of [`AgentHandle::tick`].
    armed: Cell<Millis>,
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

/// Works on an agent's state, then does what follows from it.
fn with(agent: u32, shell: &AgentShell, work: impl FnOnce(&mut AgentState<JsValue>)) {
    let agent = get(agent);
    work(&mut agent.state.borrow_mut());
    agent.drive(shell);
}

/// Takes something the host has said.
fn hear(agent: u32, shell: &AgentShell, take: impl FnOnce(&mut AgentState<JsValue>)) {
    with(agent, shell, |state| {
        state.heard(now());
        take(state);
    });
}

/// Takes the host's answer to a cancel, unless that names another call.
fn hear_of(
    agent: u32,
    shell: &AgentShell,
    key: RequestKey,
    call: Option<String>,
    take: impl FnOnce(&mut AgentState<JsValue>),
) {
    hear(agent, shell, |state| {
        match call.is_some_and(|call| state.is_of_another(key, &call)) {
            true => state.misread(key),
            false => take(state),
        }
    });
}

impl Agent {
    /// Does what is to be done, in order, with nothing borrowed: all of it may call back into here.
    fn drive(&self, shell: &AgentShell) {
        if self.driving.replace(true) {
            return;
        }
        loop {
            let action = self.state.borrow_mut().poll_action();
            let Some(action) = action else {
                break;
            };
            perform(shell, action);
        }
        self.driving.set(false);
        let next = self.state.borrow_mut().next_deadline();
        let next = next.unwrap_or(f64::INFINITY);
        if next != self.armed.replace(next) {
            shell.arm(next);
        }
    }
}

#[wasm_bindgen]
impl AgentHandle {
    /// A new agent's number. Times in milliseconds; an infinite `liveness` is none. `answers` says
    /// that the host has announced to answer when it is asked for a sign of life.
    pub fn open(grace: Millis, liveness: Millis, answers: bool) -> u32 {
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

    /// Makes a call, which is sent with the next flush; `aborted` says that its signal has fired
    /// already. Its key, or 0 if `id` can be no callId.
    pub fn call(agent: u32, id: &str, timeout: Millis, aborted: bool) -> RequestKey {
        let Ok(id) = CallId::parse(id) else {
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

    /// Sends the calls made since the last flush.
    pub fn flush(agent: u32, shell: &AgentShell) {
        with(agent, shell, |state| state.flush(now()));
    }

    /// Cancels a call. The key of the confirmation, or 0 if `id` can be no callId. What follows is
    /// done by [`AgentHandle::drive`], when the shell knows the key.
    pub fn cancel(agent: u32, id: &str, reason: Option<String>) -> RequestKey {
        CallId::parse(id).map_or(0, |id| {
            let agent = get(agent);
            let mut state = agent.state.borrow_mut();
            state.cancel(id, reason, now())
        })
    }

    /// Does what the last cancel has led to.
    pub fn drive(agent: u32, shell: &AgentShell) {
        get(agent).drive(shell);
    }

    /// A caller's signal has fired.
    pub fn abort(agent: u32, shell: &AgentShell, key: RequestKey, reason: Option<String>) {
        with(agent, shell, |state| state.abort(key, reason, now()));
    }

    /// A request could not be sent.
    pub fn unsendable(agent: u32, shell: &AgentShell, key: RequestKey, problem: String) {
        let error = Failure::new(Code::INVALID_PARAMS, problem);
        with(agent, shell, |state| state.unsendable(key, error));
    }

    /// The timer has fired.
    pub fn tick(agent: u32, shell: &AgentShell) {
        get(agent).armed.set(f64::INFINITY);
        with(agent, shell, |state| state.handle_timeout(now()));
    }

    /// Asks for a sign of life; `sure` if the host is known to give it.
    pub fn probe(agent: u32, shell: &AgentShell, within: Millis, sure: bool) {
        with(agent, shell, |state| state.probe(within, sure, now()));
    }

    /// Ends the session.
    pub fn shutdown(agent: u32, shell: &AgentShell, reason: Option<String>) {
        with(agent, shell, |state| state.shutdown(reason, now()));
    }

    /// The transport is gone.
    pub fn disconnected(agent: u32, shell: &AgentShell) {
        with(agent, shell, AgentState::disconnected);
    }

    /// The host says something that has nothing to do with calls.
    pub fn heard(agent: u32, shell: &AgentShell) {
        hear(agent, shell, |_| {});
    }

    /// The host has answered a call; with no `ABPResponse` if `response` is undefined.
    pub fn called(agent: u32, shell: &AgentShell, key: RequestKey, response: JsValue) {
        hear(agent, shell, |state| {
            state.called(key, some(response), None)
        });
    }

    /// The host has answered a call with a response that says that nobody knows what became of it.
    pub fn undecided(agent: u32, shell: &AgentShell, key: RequestKey, response: JsValue) {
        hear(agent, shell, |state| state.called_undecided(key, response));
    }

    /// The host has answered a call with a response that says it was cancelled.
    pub fn stopped(
        agent: u32,
        shell: &AgentShell,
        key: RequestKey,
        response: JsValue,
        stop: Option<String>,
    ) {
        let stop = Stop::of_peer(stop.as_deref());
        hear(agent, shell, |state| {
            state.called(key, some(response), Some(stop));
        });
    }

    /// The host's answer to a cancel cannot be read.
    pub fn misread(agent: u32, shell: &AgentShell, key: RequestKey) {
        hear(agent, shell, |state| state.misread(key));
    }

    /// The host has confirmed a cancel of the call that it names. `after` is NaN unless it says how the
    /// handler has ended since.
    pub fn confirmed(
        agent: u32,
        shell: &AgentShell,
        key: RequestKey,
        call: Option<String>,
        stop: Option<String>,
        success: bool,
        after: Millis,
    ) {
        let stop = Stop::of_peer(stop.as_deref());
        let ended = (after >= 0.0).then_some(LateEnd { success, after });
        hear_of(agent, shell, key, call, |state| {
            state.cancelled(key, Some((stop, ended)), None, None, false);
        });
    }

    /// The host has refused a cancel of the call that it names; `lost_session` when it says that there is
    /// no session.
    #[wasm_bindgen(js_name = refusedCancel)]
    pub fn refused_cancel(
        agent: u32,
        shell: &AgentShell,
        key: RequestKey,
        call: Option<String>,
        reason: Option<String>,
        error: JsValue,
        lost_session: bool,
    ) {
        hear_of(agent, shell, key, call, |state| {
            state.cancelled(key, None, reason, some(error), lost_session);
        });
    }

    /// The handler of a call that was abandoned has ended.
    pub fn ended(agent: u32, shell: &AgentShell, call: &str, success: bool, after: Millis) {
        let end = LateEnd { success, after };
        hear(agent, shell, |state| state.ended(call, end));
    }

    /// The host has refused a request as no message of the protocol.
    pub fn refused(agent: u32, shell: &AgentShell, key: RequestKey, response: JsValue) {
        hear(agent, shell, |state| state.refused(key, some(response)));
    }

    /// The host has ended the session.
    #[wasm_bindgen(js_name = shutDown)]
    pub fn shut_down(agent: u32, shell: &AgentShell) {
        hear(agent, shell, AgentState::shut_down);
    }

    /// The host says how far a call is.
    pub fn progress(agent: u32, shell: &AgentShell, operation: &str, info: JsValue) {
        hear(agent, shell, |state| state.progress(operation, info));
    }
}

fn perform(shell: &AgentShell, action: Action<JsValue>) {
    match action {
        // The shell flushes soon after each call it makes.
        Action::Wake => {}
        Action::Send(key, Request::Call(_)) => shell.send_call(key),
        Action::Send(key, Request::Cancel { call, reason }) => {
            shell.send_cancel(key, call.as_str(), reason.as_deref());
        }
        Action::Send(key, Request::Shutdown { reason }) => {
            shell.send_shutdown(key, reason.as_deref());
        }
        Action::Settle(key, Settled::Response(response)) => shell.settle(key, &response),
        Action::Settle(key, Settled::Cancelled(stop)) => shell.stopped(key, &word(stop)),
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
            shell.confirm(key, &word(stop), &ended);
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
