//! Does what the core asks for.

use wasm_bindgen::JsValue;

use super::inner::{Handler, Inner};
use super::sys;
use super::{Error, object};
use crate::call::{CancelAnswer, Millis, Outcome, Response};
use crate::dialect::abp::CALL_ENDED;
use crate::session::{Action as CoreAction, Answer, CallEvent, CallState, Cancelled, ReplyTo};

type Action = CoreAction<JsValue, Handler>;

/// The states of a call, as envelope.js numbers them.
mod state {
    pub const QUEUED: u32 = 0;
    pub const RUNNING: u32 = 1;
    pub const COMPLETED: u32 = 2;
    pub const FAILED: u32 = 3;
    pub const CANCELLED: u32 = 4;
}

/// Whoever asked is no agent but a handler.
const PARENT: u32 = 0;

impl Inner {
    /// Does everything that is to be done, in order. No borrow is held while it does: what it
    /// calls may call back, and finds the queue where this left it.
    pub fn drive(&self) {
        if self.dropping.get() || self.held.get() {
            return;
        }
        loop {
            let action = self.state.borrow_mut().poll_action();
            match action {
                Some(action) => self.perform(action),
                None => break,
            }
        }
        self.arm();
    }

    /// One timer, for the earliest deadline.
    fn arm(&self) {
        let next = self.state.borrow_mut().next_deadline();
        let next = next.unwrap_or(f64::INFINITY);
        if next != self.armed.replace(next) {
            self.js.arm(next);
        }
    }

    fn perform(&self, action: Action) {
        let js = &self.js;
        match action {
            Action::Wake => js.wake(),
            Action::Check {
                key,
                capability,
                params,
            } => js.check(key, &capability, &params),
            Action::Start {
                key,
                id,
                handler,
                params,
                ..
            } => match handler {
                Handler::Js(handler) => js.start(key, &handler, &params),
                Handler::Rust(handler) => {
                    let params = object::get(&params, "params");
                    self.rust_calls.start(key, id, &handler, params);
                }
            },
            Action::Stop { key, reason } => {
                self.dropping.set(true);
                self.rust_calls.stop(key, reason.as_deref());
                self.dropping.set(false);
                js.stop(key, reason.as_deref());
            }
            Action::Respond { key, to, response } => {
                self.rust_calls.ended(key);
                match to {
                    ReplyTo::Agent(to, id) => self.respond(key, to, &or_undefined(id), response),
                    ReplyTo::Parent => self.hand_over(key, response),
                    ReplyTo::Nobody => js.forget_call(key),
                }
            }
            Action::Elicited { key, response } => self.hand_over(key, response),
            Action::Answer { to, id, answer } => self.answer(to, &or_undefined(id), answer),
            Action::Confirm { key, answer } => {
                js.confirm(key, &cancel_response(&JsValue::UNDEFINED, answer));
            }
            Action::CallEnded { to, id, end } => {
                let data = sys::call_ended(id.as_str(), end.success, end.after);
                js.tell(to, CALL_ENDED, &data);
            }
            Action::EndedLate { session, id, end } => {
                js.saw_end(&session, id.as_str(), end.success, end.after);
            }
            Action::Progress {
                to,
                id,
                token,
                info,
            } => js.tell_progress(to, id.as_str(), &or_undefined(token), &info),
            Action::Elicit { to, key, request } => js.question(to, key, &request),
            Action::Withdraw { to, key } => js.withdraw(to, key),
            Action::Notify { to, event, data } => js.tell(to, &event, &or_undefined(data)),
            Action::CapabilitiesChanged { to, added, removed } => {
                js.tell_change(to, &texts(&added), &texts(&removed));
            }
            Action::Call(event) => self.saw_call(event),
            Action::Progressed { session, id, info } => {
                js.saw_progress(&session, id.as_str(), &info);
            }
            Action::CancelAnswered {
                session,
                id,
                answer,
                reason,
            } => {
                let given = JsValue::from_str(id.as_str());
                let response = cancel_response(&given, Ok(answer));
                js.saw_cancel(&session, id.as_str(), &response, reason.as_deref());
            }
            Action::Session {
                session,
                agent,
                open,
            } => js.saw_session(&session, open, &agent.name, &agent.version),
        }
    }

    fn respond(&self, key: u32, to: u32, id: &JsValue, response: Response<JsValue>) {
        let (state, value) = told(response.outcome);
        let duration = or_nan(response.duration);
        self.js.respond(key, to, id, state, &value, duration);
    }

    /// Gives a response to the handler that waits for it, a Rust one or a JavaScript one.
    fn hand_over(&self, key: u32, response: Response<JsValue>) {
        if let Some(response) = self.rust_calls.hand_over(key, response) {
            self.respond(key, PARENT, &JsValue::UNDEFINED, response);
        }
    }

    fn answer(&self, to: u32, id: &JsValue, answer: Answer<JsValue>) {
        match answer {
            Answer::Initialized(Ok(opened)) => {
                let documents = sys::array();
                for document in &opened.capabilities {
                    sys::push(&documents, document);
                }
                let it = opened.features;
                let session = &opened.session;
                let (notifications, progress) = (it.notifications, it.progress);
                self.js.initialized(
                    to,
                    id,
                    session,
                    &documents,
                    notifications,
                    progress,
                    it.elicitation,
                );
            }
            Answer::Initialized(Err(failure)) => {
                self.js.done(to, "initialize-result", id, &error(&failure));
            }
            Answer::Cancelled(given, result) => {
                self.js.cancelled(to, id, &cancel_response(&given, result));
            }
            Answer::ShutDown(result) => {
                let failure = result.map_or_else(|it| error(&it), |()| JsValue::UNDEFINED);
                self.js.done(to, "shutdown-result", id, &failure);
            }
        }
    }

    fn saw_call(&self, call: CallEvent<JsValue>) {
        let none = JsValue::UNDEFINED;
        let (state, value, duration, reason) = match call.state {
            CallState::Queued(params) => (state::QUEUED, params, f64::NAN, None),
            CallState::Running => (state::RUNNING, none, f64::NAN, None),
            CallState::Ended(response, reason) => {
                let (state, value) = told(response.outcome);
                (state, value, or_nan(response.duration), reason)
            }
        };
        self.js.saw_call(
            &call.session,
            call.id.as_str(),
            call.parent.as_ref().map(|it| it.as_str()),
            &call.capability,
            state,
            &value,
            duration,
            reason.as_deref(),
        );
    }
}

/// How a call ended, and its data, its error, or how far its stop was seen.
fn told(outcome: Outcome<JsValue>) -> (u32, JsValue) {
    match outcome {
        Outcome::Completed(data) => (state::COMPLETED, data),
        Outcome::Failed(failure) => (state::FAILED, error(&failure)),
        Outcome::Cancelled(stop) => (state::CANCELLED, JsValue::from_str(stop.as_str())),
    }
}

/// An `ABPError`.
pub(super) fn error(error: &Error) -> JsValue {
    let none = JsValue::UNDEFINED;
    let details = error.details.as_ref().unwrap_or(&none);
    let code = error.code.as_str();
    let after = or_nan(error.retry_after);
    let written = sys::error(code, &error.message, error.retryable, after, details);
    // Only capabilities written in Rust name any.
    object::name_alternatives(&written, &error.alternatives);
    written
}

/// A `CancelResponse`. `given` is the callId as it was asked for.
fn cancel_response(given: &JsValue, answer: Cancelled<JsValue>) -> JsValue {
    match answer {
        Ok(CancelAnswer::Cancelled { stop, ended }) => {
            let ended = ended.map(|end| sys::late_end(end.success, end.after));
            sys::cancel_confirmation(given, stop.as_str(), &or_undefined(ended))
        }
        Ok(answer) => sys::cancel_response(given, answer.reason(), &JsValue::UNDEFINED),
        Err(failure) => sys::cancel_response(given, None, &error(&failure)),
    }
}

fn texts(texts: &[std::rc::Rc<str>]) -> JsValue {
    let array = sys::array();
    for text in texts {
        sys::push_text(&array, text);
    }
    array
}

fn or_undefined(value: Option<JsValue>) -> JsValue {
    value.unwrap_or(JsValue::UNDEFINED)
}

fn or_nan(time: Option<Millis>) -> f64 {
    time.unwrap_or(f64::NAN)
}
