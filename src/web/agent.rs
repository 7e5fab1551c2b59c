//! The functions of an agent that its JavaScript glue calls.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::failure::error;
use super::handles::{Handles, Table};
use super::ids::Batch;
use super::object::{class_of, seen};
use super::sys::{self, now};
use super::{Failure, some};
use crate::agent::{
    Action, AgentOptions, AgentState, CancelOutcome, Outgoing, Request, RequestKey, Settled,
};
use crate::call::{CallId, Code, Grade, LateEnd, Millis, Stop, StoppedBy};
use crate::dialect::answers::{Answer, Confirmation};
use crate::dialect::pauses::reconnecting;

#[wasm_bindgen]
extern "C" {
    /// `Agent` in js/agent.js, which owns the promises, the signals, the timer and the messenger.
    /// None of these methods throws.
    pub type AgentShell;

    /// Asks the shell to call [`AgentHandle::tick`] at that time or a little earlier; infinity
    /// means never.
    #[wasm_bindgen(method)]
    fn arm(this: &AgentShell, at: Millis);
    /// Sends a call, whose parameters the shell keeps. `timeout` is what is left of its timeout, or NaN. If the call cannot be sent, the shell
    /// reports that with [`AgentHandle::unsendable`].
    #[wasm_bindgen(method, js_name = sendCall)]
    fn send_call(this: &AgentShell, key: u32, timeout: Millis);
    #[wasm_bindgen(method, js_name = sendCancel)]
    fn send_cancel(this: &AgentShell, key: u32, id: &str, reason: Option<&str>);
    #[wasm_bindgen(method, js_name = sendList)]
    fn send_list(this: &AgentShell, key: u32);
    #[wasm_bindgen(method, js_name = sendShutdown)]
    fn send_shutdown(this: &AgentShell, key: u32, reason: Option<&str>);
    /// Settles a call, or a request for the list, with a response exactly as it arrived.
    #[wasm_bindgen(method)]
    fn settle(this: &AgentShell, key: u32, response: &JsValue);
    /// Settles a request that failed without a response.
    #[wasm_bindgen(method)]
    fn fail(this: &AgentShell, key: u32, error: &JsValue);
    /// Settles a call that was cancelled, without a response. `stop` says how far the call was seen
    /// to stop: a word, or an object with the step that stopped it.
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
    /// The connection is lost. The shell calls [`AgentHandle::reconnected`] or
    /// [`AgentHandle::give_up`] later.
    #[wasm_bindgen(method)]
    fn lost(this: &AgentShell);
    #[wasm_bindgen(method)]
    fn ended(this: &AgentShell, disconnected: bool);
}

/// An agent whose session is open, from JavaScript's side: a class of functions that take the
/// number of the agent. A function that may lead to actions also takes the shell, which performs
/// them. A reference to the shell in here would keep both alive forever.
///
/// Private, like the class of the host.
#[wasm_bindgen(private, skip_typescript)]
#[derive(Debug)]
pub struct AgentHandle;

impl AgentHandle {
    /// The class as JavaScript has it.
    pub fn class() -> JsValue {
        class_of(AgentHandle)
    }
}

struct Agent {
    state: RefCell<AgentState<JsValue>>,
    driving: Cell<bool>,
    /// The time for which the shell was last asked to call [`AgentHandle::tick`].
    armed: Cell<Millis>,
}

thread_local! {
    static TABLE: Table<Agent> = const { Table::new() };
    static IDS: Batch = const { Batch::new() };
}

static AGENTS: Handles<Agent> = Handles(&TABLE);

fn get(agent: u32) -> Rc<Agent> {
    AGENTS
        .get(agent)
        .expect("it is freed when nobody has its number")
}

/// Works on an agent's state, then performs the resulting actions.
fn with(agent: u32, shell: &AgentShell, work: impl FnOnce(&mut AgentState<JsValue>)) {
    let agent = get(agent);
    work(&mut agent.state.borrow_mut());
    agent.drive(shell);
}

/// Takes a message of the host.
fn hear(agent: u32, shell: &AgentShell, take: impl FnOnce(&mut AgentState<JsValue>)) {
    with(agent, shell, |state| {
        // Reading the clock costs a twentieth of a call over a port.
        if state.needs_time() {
            state.heard(now());
        }
        take(state);
    });
}

/// What an answer says of a stop. A time is NaN if the answer has none.
fn grade_of(stop: Option<String>, step: Option<String>, took: Millis) -> Grade {
    Grade {
        stop: Stop::of_peer(stop.as_deref()),
        by: StoppedBy::of_peer(step.as_deref(), Some(took)),
        late_end: None,
    }
}

impl Agent {
    /// Performs all queued actions, in order, with nothing borrowed: each action may call back into
    /// here.
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
    /// Creates an agent and returns its number. Times are in milliseconds; a `grace` of NaN means the
    /// default, an infinite `liveness` means none. `reconnects` says that the shell connects again after a loss. `answers` says that the host has announced that it answers when asked for a sign
    /// of life.
    pub fn open(grace: Millis, liveness: Millis, answers: bool, reconnects: bool) -> u32 {
        let default = AgentOptions::default();
        let options = AgentOptions {
            grace: if grace.is_nan() { default.grace } else { grace },
            liveness: Some(liveness).filter(|it| it.is_finite()),
            answers,
            reconnects,
            ..default
        };
        AGENTS.add(|_| Agent {
            state: RefCell::new(AgentState::new(options)),
            driving: Cell::new(false),
            armed: Cell::new(f64::INFINITY),
        })
    }

    /// Releases an agent that nobody can call any more.
    pub fn forget(agent: u32) {
        AGENTS.remove(agent);
    }

    /// Makes the next ids of calls. Returns their texts, one after the other.
    pub fn ids() -> JsValue {
        IDS.with(Batch::next)
    }

    /// Makes a call, which the next flush sends. Its id is the given text, or else the one at that
    /// place of the last [`AgentHandle::ids`]. `aborted` says that its signal has already fired.
    /// Returns the call's key, or 0 if `id` is not a valid callId.
    pub fn call(agent: u32, id: &str, place: u32, timeout: Millis, aborted: bool) -> RequestKey {
        let Some(id) = IDS.with(|ids| ids.id(id, place)) else {
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

    /// Sends the calls that were made since the last flush.
    pub fn flush(agent: u32, shell: &AgentShell) {
        with(agent, shell, |state| {
            let now = if state.needs_time() { now() } else { 0.0 };
            state.flush(now);
        });
    }

    /// Cancels a call. Returns the key of the confirmation, or 0 if `id` is not a valid callId. The
    /// shell calls [`AgentHandle::drive`] to perform the resulting actions once it knows the key.
    pub fn cancel(agent: u32, id: &str, reason: Option<String>) -> RequestKey {
        CallId::parse(id).map_or(0, |id| {
            let agent = get(agent);
            let mut state = agent.state.borrow_mut();
            state.cancel(id, reason, now())
        })
    }

    /// Asks for the list of capabilities. Returns the key of the answer. The shell calls
    /// [`AgentHandle::drive`] as for a cancel.
    pub fn list(agent: u32) -> RequestKey {
        get(agent).state.borrow_mut().list(now())
    }

    /// Performs the actions that result from the last cancel or request for the list.
    pub fn drive(agent: u32, shell: &AgentShell) {
        get(agent).drive(shell);
    }

    /// Reports that a caller's signal has fired.
    pub fn abort(agent: u32, shell: &AgentShell, key: RequestKey, reason: Option<String>) {
        with(agent, shell, |state| state.abort(key, reason, now()));
    }

    /// Reports that a request could not be sent.
    pub fn unsendable(agent: u32, shell: &AgentShell, key: RequestKey, problem: String) {
        let error = Failure::new(Code::INVALID_PARAMS, problem);
        with(agent, shell, |state| state.unsendable(key, error));
    }

    /// Reports that the timer has fired.
    pub fn tick(agent: u32, shell: &AgentShell) {
        get(agent).armed.set(f64::INFINITY);
        with(agent, shell, |state| state.handle_timeout(now()));
    }

    /// The host may be gone. If `sure`, it is unless it says something soon.
    pub fn suspect(agent: u32, shell: &AgentShell, sure: bool) {
        with(agent, shell, |state| state.suspect(sure, now()));
    }

    /// The host says that its next message has so many bytes.
    pub fn expect(agent: u32, shell: &AgentShell, bytes: f64) {
        with(agent, shell, |state| state.expect(bytes, now()));
    }

    /// The request of that key, of so many bytes, leaves slowly.
    pub fn uploads(agent: u32, shell: &AgentShell, key: RequestKey, bytes: f64) {
        with(agent, shell, |state| state.uploads(key, bytes, now()));
    }

    /// Ends the session.
    pub fn shutdown(agent: u32, shell: &AgentShell, reason: Option<String>) {
        with(agent, shell, |state| state.shutdown(reason, now()));
    }

    /// Reports that the transport is gone.
    pub fn disconnected(agent: u32, shell: &AgentShell) {
        with(agent, shell, AgentState::disconnected);
    }

    /// Reports that the shell has connected again.
    pub fn reconnected(agent: u32, shell: &AgentShell, answers: bool) {
        with(agent, shell, |state| state.reconnected(answers, now()));
    }

    /// How long to wait before the next attempt to connect again, after so many failed ones. `chance` is a
    /// random number from 0 to 1.
    #[wasm_bindgen(js_name = pauseOf)]
    pub fn pause_of(failed: u32, chance: f64) -> Millis {
        reconnecting(failed, chance)
    }

    /// Reports that the shell does not connect again.
    #[wasm_bindgen(js_name = giveUp)]
    pub fn give_up(agent: u32, shell: &AgentShell) {
        with(agent, shell, AgentState::give_up);
    }

    /// Reports a message of the host that does not concern calls.
    pub fn heard(agent: u32, shell: &AgentShell) {
        hear(agent, shell, |_| {});
    }

    /// Takes the host's answer to a call: the response as callers get it, and its members as far as
    /// each has the right type. `took` is NaN for none.
    #[expect(clippy::too_many_arguments, reason = "facts pass flat")]
    pub fn called(
        agent: u32,
        shell: &AgentShell,
        key: RequestKey,
        response: JsValue,
        success: Option<bool>,
        cancelled: Option<bool>,
        code: Option<String>,
        stop: Option<String>,
        step: Option<String>,
        took: Millis,
    ) {
        let metadata = grade_of(stop, step, took);
        let answer = Answer::of(success, cancelled, code.as_deref(), metadata);
        hear(agent, shell, |state| {
            state.called(key, answer, response);
            if let Some(code) = code {
                state.failed_with(&code, now());
            }
        });
    }

    /// Takes the host's answer to a cancel, in the same way. `call` is the callId that it names.
    #[expect(clippy::too_many_arguments, reason = "facts pass flat")]
    pub fn cancelled(
        agent: u32,
        shell: &AgentShell,
        key: RequestKey,
        call: Option<String>,
        cancelled: Option<bool>,
        reason: Option<String>,
        error: JsValue,
        code: Option<String>,
        stop: Option<String>,
        step: Option<String>,
        took: Millis,
        success: Option<bool>,
        after: Millis,
    ) {
        let metadata = Grade {
            late_end: LateEnd::of_peer(success, Some(after)),
            ..grade_of(stop, step, took)
        };
        let error = some(error);
        let confirmation = Confirmation::of(cancelled, error.is_some(), code.as_deref(), metadata);
        hear(agent, shell, |state| {
            state.cancelled(key, call.as_deref(), confirmation, reason, error);
        });
    }

    /// Reports that the handler of an abandoned call has ended.
    pub fn ended(agent: u32, shell: &AgentShell, call: &str, success: Option<bool>, after: Millis) {
        let end = LateEnd::of_peer(success, Some(after));
        hear(agent, shell, |state| {
            if let Some(end) = end {
                state.ended(call, end);
            }
        });
    }

    /// Takes the host's answer to a request for the list of capabilities. If `answer` is undefined,
    /// it cannot be read.
    pub fn listed(agent: u32, shell: &AgentShell, key: RequestKey, answer: JsValue) {
        hear(agent, shell, |state| state.listed(key, some(answer)));
    }

    /// Takes the host's refusal of a request that it does not accept as a message of the protocol.
    pub fn refused(agent: u32, shell: &AgentShell, key: RequestKey, response: JsValue) {
        hear(agent, shell, |state| state.refused(key, some(response)));
    }

    /// Reports that the host has ended the session.
    #[wasm_bindgen(js_name = shutDown)]
    pub fn shut_down(agent: u32, shell: &AgentShell) {
        hear(agent, shell, AgentState::shut_down);
    }

    /// Takes the host's progress of a call.
    pub fn progress(agent: u32, shell: &AgentShell, operation: &str, info: JsValue) {
        hear(agent, shell, |state| state.progress(operation, info));
    }
}

fn perform(shell: &AgentShell, action: Action<JsValue>) {
    match action {
        // The shell flushes by itself soon after each call.
        Action::Wake => {}
        Action::Send(key, Request::Call(call)) => {
            shell.send_call(key, call.timeout.unwrap_or(f64::NAN))
        }
        Action::Send(key, Request::Cancel { call, reason }) => {
            shell.send_cancel(key, call.as_str(), reason.as_deref());
        }
        Action::Send(key, Request::List) => shell.send_list(key),
        Action::Send(key, Request::Shutdown { reason }) => {
            shell.send_shutdown(key, reason.as_deref());
        }
        Action::Settle(key, Settled::Response(response)) => shell.settle(key, &response),
        Action::Settle(key, Settled::Cancelled(grade)) => {
            shell.stopped(key, &seen(grade.stop, grade.by))
        }
        Action::Settle(key, Settled::Failed(failure)) => shell.fail(key, &error(&failure)),
        Action::SettleCancel(
            key,
            CancelOutcome {
                grade: Some(grade), ..
            },
        ) => {
            let ended = grade.late_end;
            let ended = ended.map(|end| sys::late_end(end.success, end.after));
            let ended = ended.unwrap_or(JsValue::UNDEFINED);
            shell.confirm(key, &seen(grade.stop, grade.by), &ended);
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
        Action::Lost => shell.lost(),
        Action::Closed(code) => shell.ended(code == Code::DISCONNECTED),
    }
}
