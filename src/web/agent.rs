//! What the JavaScript glue of an agent calls.

use core::cell::{Cell, RefCell};

use wasm_bindgen::prelude::*;

use super::sys::{now, unix};
use super::{Error, random};
use crate::agent::{Action, AgentOptions, AgentState, Outgoing, RequestKey};
use crate::call::{CallId, Code};
use crate::dialect::{Value, abp};

#[wasm_bindgen]
extern "C" {
    /// `Agent` in js/agent.js, which owns promises, signals, the timer and the messenger. None of
    /// these methods throws.
    pub type AgentShell;

    #[wasm_bindgen(method)]
    fn wake(this: &AgentShell);
    /// What is wrong with the envelope, if it cannot be sent.
    #[wasm_bindgen(method)]
    fn post(this: &AgentShell, key: u32, envelope: &JsValue) -> JsValue;
    #[wasm_bindgen(method)]
    fn settle(this: &AgentShell, key: u32, response: &JsValue);
    #[wasm_bindgen(method, js_name = callIdOf)]
    fn call_id_of(this: &AgentShell, key: u32) -> JsValue;
    #[wasm_bindgen(method)]
    fn progress(this: &AgentShell, key: u32, info: &JsValue);
    #[wasm_bindgen(method)]
    fn arm(this: &AgentShell, milliseconds: f64);
    #[wasm_bindgen(method)]
    fn ended(this: &AgentShell, code: &str);
    #[wasm_bindgen(method)]
    fn notified(this: &AgentShell, event: &str, data: &JsValue);
    #[wasm_bindgen(method)]
    fn asked(this: &AgentShell, id: &JsValue, request: &JsValue);
}

/// An agent whose session is open, from JavaScript's side. Everything takes `&self` and survives
/// being called back into. The shell is handed in each time: a reference kept here would keep both
/// alive for ever.
#[wasm_bindgen]
pub struct AgentHandle {
    state: RefCell<AgentState<JsValue>>,
    driving: Cell<bool>,
    /// When the shell's timer fires.
    armed: Cell<f64>,
}

#[wasm_bindgen]
impl AgentHandle {
    /// Times in milliseconds; an infinite `liveness` is none.
    #[wasm_bindgen(constructor)]
    pub fn new(grace: f64, liveness: f64) -> AgentHandle {
        let options = AgentOptions {
            grace,
            liveness: Some(liveness).filter(|it| it.is_finite()),
            ..AgentOptions::default()
        };
        AgentHandle {
            state: RefCell::new(AgentState::new(options)),
            driving: Cell::new(false),
            armed: Cell::new(f64::INFINITY),
        }
    }

    /// A fresh UUID.
    #[wasm_bindgen(js_name = newId)]
    pub fn new_id() -> JsValue {
        random::call_id().as_str().into()
    }

    /// Makes a call; `aborted` says that its signal has fired already. Its key, or 0 if `id` can be
    /// no callId. What it leads to is done by [`AgentHandle::drive`].
    #[allow(clippy::too_many_arguments)]
    pub fn call(
        &self,
        id: &JsValue,
        capability: &JsValue,
        params: JsValue,
        timeout: f64,
        progress: bool,
        transfer: bool,
        aborted: bool,
    ) -> RequestKey {
        let id = match id.as_string().map(|id| CallId::parse(&id)) {
            None => random::call_id(),
            Some(Ok(id)) => id,
            Some(Err(_)) => return 0,
        };
        let mut state = self.state.borrow_mut();
        if aborted {
            return state.call_aborted(id);
        }
        state.call(Outgoing {
            id,
            capability: capability.as_string().unwrap_or_default(),
            params: Some(params),
            timeout: Some(timeout).filter(|it| it.is_finite()),
            progress,
            transfer,
        })
    }

    /// Cancels a call. The key of the confirmation, or 0 if `id` can be no callId. What it leads
    /// to is done by [`AgentHandle::drive`].
    pub fn cancel(&self, id: &JsValue, reason: &JsValue) -> RequestKey {
        match id.as_string().map(|id| CallId::parse(&id)) {
            Some(Ok(id)) => {
                let reason = reason.as_string();
                self.state.borrow_mut().cancel(id, reason, now())
            }
            _ => 0,
        }
    }

    /// A caller's signal has fired.
    pub fn abort(&self, shell: &AgentShell, key: RequestKey, reason: &JsValue) {
        let reason = reason.as_string();
        self.state.borrow_mut().abort(key, reason, now());
        self.drive(shell);
    }

    /// Sends what has been called since the last flush.
    pub fn flush(&self, shell: &AgentShell) {
        self.state.borrow_mut().flush(now());
        self.drive(shell);
    }

    /// The timer has fired.
    pub fn tick(&self, shell: &AgentShell) {
        self.armed.set(f64::INFINITY);
        self.state.borrow_mut().handle_timeout(now());
        self.drive(shell);
    }

    /// Asks for a sign of life; `sure` if the host is known to give it.
    pub fn probe(&self, shell: &AgentShell, within: f64, sure: bool) {
        self.state.borrow_mut().probe(within, sure, now());
        self.drive(shell);
    }

    /// Ends the session.
    pub fn shutdown(&self, shell: &AgentShell, reason: &JsValue) {
        let reason = reason.as_string();
        self.state.borrow_mut().shutdown(reason, now());
        self.drive(shell);
    }

    /// The transport is gone.
    pub fn disconnected(&self, shell: &AgentShell) {
        self.state.borrow_mut().disconnected();
        self.drive(shell);
    }

    /// The host says something.
    pub fn receive(&self, shell: &AgentShell, envelope: &JsValue) {
        let Some((id, message)) = abp::read_from_app(envelope) else {
            return;
        };
        let key = id.as_ref().and_then(abp::request_key);
        {
            let mut state = self.state.borrow_mut();
            state.heard(now());
            match (message, key) {
                (
                    abp::FromApp::Called {
                        response,
                        cancelled,
                    },
                    Some(key),
                ) => {
                    state.called(key, response, cancelled);
                }
                (
                    abp::FromApp::Cancelled {
                        cancelled,
                        reason,
                        error,
                    },
                    Some(key),
                ) => {
                    let lost_session = error.as_ref().is_some_and(says_no_session);
                    state.cancelled(key, cancelled, reason, error, lost_session);
                }
                (abp::FromApp::Refused(payload), Some(key)) => {
                    let success = payload.boolean_of("success");
                    state.refused(key, success.map(|_| payload));
                }
                (abp::FromApp::ShutDown, _) => state.shut_down(),
                (abp::FromApp::Progress(operation, info), _) => state.progress(&operation, info),
                (abp::FromApp::Notification(event, data), _) => {
                    drop(state);
                    shell.notified(&event, &data.unwrap_or(JsValue::UNDEFINED));
                }
                (abp::FromApp::Elicitation(request), _) => {
                    drop(state);
                    shell.asked(&id.unwrap_or(JsValue::UNDEFINED), &request);
                }
                _ => {}
            }
        }
        self.drive(shell);
    }

    /// Does what is to be done, in order, with nothing borrowed: all of it may call back into here.
    pub fn drive(&self, shell: &AgentShell) {
        if self.driving.replace(true) {
            return;
        }
        loop {
            let action = self.state.borrow_mut().poll_action();
            let Some(action) = action else {
                break;
            };
            self.perform(shell, action);
        }
        self.driving.set(false);
        let next = self
            .state
            .borrow_mut()
            .next_deadline()
            .unwrap_or(f64::INFINITY);
        // A timer that fires early sets itself again, which costs less than moving it each time.
        if next < self.armed.get() || next == f64::INFINITY && self.armed.get() != next {
            self.armed.set(next);
            shell.arm(next - now());
        }
    }

    fn perform(&self, shell: &AgentShell, action: Action<JsValue>) {
        match action {
            Action::Wake => shell.wake(),
            Action::Send(key, request) => {
                let envelope = abp::request(key, request, unix());
                if let Some(problem) = shell.post(key, &envelope).as_string() {
                    let error = Error::new(Code::INVALID_PARAMS, problem);
                    self.state.borrow_mut().unsendable(key, error);
                }
            }
            Action::Settle(key, settled) => shell.settle(key, &abp::settled(settled)),
            Action::SettleCancel(key, outcome) => {
                let given = shell.call_id_of(key);
                shell.settle(key, &abp::settled_cancel(&given, outcome));
            }
            Action::Progress(key, info) => shell.progress(key, &info),
            Action::Closed(code) => shell.ended(code.as_str()),
        }
    }
}

fn says_no_session(error: &JsValue) -> bool {
    let code = error.text_of("code");
    let gone = [
        Code::NOT_INITIALIZED,
        Code::SESSION_EXPIRED,
        Code::SESSION_INVALID,
    ];
    code.is_some_and(|code| gone.iter().any(|it| it.as_str() == code))
}
