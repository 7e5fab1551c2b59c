//! Does what the core asks for.

use wasm_bindgen::JsValue;

use super::handle::error_of;
use super::inner::{Handler, Inner};
use super::sys::{self, now};
use super::{Error, inspect};
use crate::call::{Outcome, Response};
use crate::dialect::{Value, abp};
use crate::session::{Action as CoreAction, Answer, CallEvent, CallState, ReplyTo};
use crate::text::decimal;

type Action = CoreAction<JsValue, Handler>;

impl Inner {
    /// Does everything that is to be done, in order. No borrow is held while it does: what it
    /// calls may call back, and finds the queue where this left it.
    pub fn drive(&self) {
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
            self.js.arm(next - now());
        }
    }

    fn perform(&self, action: Action) {
        match action {
            Action::Wake => self.js.wake(),
            Action::Check {
                key,
                capability,
                params,
            } => self.check(key, &capability, &params),
            Action::Start {
                key,
                id,
                handler,
                params,
                ..
            } => match handler {
                Handler::Js(handler) => self.js.start(key, id.as_str(), &handler, &params),
                #[cfg(feature = "std")]
                Handler::Rust(handler) => self.rust_calls.start(key, id, &handler, params),
            },
            Action::Stop { key, stop } => self.stop(key, stop.reason.as_deref()),
            Action::Respond { key, to, response } => self.respond(key, to, response),
            Action::Answer { to, id, answer } => self.answer(to, id, &answer),
            Action::Progress {
                to,
                id,
                token,
                info,
            } => {
                let payload = abp::progress(&id, token.as_ref(), &info);
                self.post(to, abp::kind::PROGRESS, None, &payload);
            }
            Action::Elicit { to, key, request } => {
                let id = elicitation_id(key);
                self.post(to, abp::kind::ELICITATION_REQUEST, Some(&id), &request);
            }
            Action::Withdraw { to, key } => {
                let payload = abp::withdrawn(&elicitation_id(key));
                self.post(to, abp::kind::NOTIFICATION, None, &payload);
            }
            Action::Elicited { key, response } => self.hand_over(key, response),
            Action::Notify { to, event, data } => {
                let payload = abp::notification(&event, data.as_ref());
                self.post(to, abp::kind::NOTIFICATION, None, &payload);
            }
            Action::CapabilitiesChanged { to, added, removed } => {
                let payload = abp::capabilities_changed(&added, &removed);
                self.post(to, abp::kind::NOTIFICATION, None, &payload);
            }
            Action::Call(event) => self.emit_call(event),
            Action::Progressed { session, id, info } => {
                let mut event = event("progress");
                event.put_text("sessionId", &session);
                event.put_text("callId", id.as_str());
                event.put("info", &abp::progress(&id, None, &info));
                self.js.emit(&event);
            }
            Action::CancelAnswered {
                session,
                id,
                answer,
                reason,
            } => {
                let mut event = event("cancel");
                let given = JsValue::from(id.as_str());
                event.put("callId", &given);
                event.put_text("sessionId", &session);
                event.put("response", &abp::cancel_response(&given, &Ok(answer)));
                put_reason(&mut event, reason.as_deref());
                self.js.emit(&event);
            }
            Action::Session {
                session,
                agent,
                open,
            } => {
                let mut who = JsValue::object();
                who.put_text("name", &agent.name);
                who.put_text("version", &agent.version);
                let mut event = event("session");
                event.put_text("state", if open { "open" } else { "closed" });
                event.put_text("sessionId", &session);
                event.put("agent", &who);
                self.js.emit(&event);
            }
        }
    }

    fn check(&self, key: u32, capability: &str, params: &JsValue) {
        let verdict = self.js.check(key, capability, params);
        // Undefined: the validator is still being loaded and will report by itself.
        if !verdict.is_undefined() {
            let result = verdict_of(&verdict);
            self.state.borrow_mut().checked(key, result, now());
        }
    }

    fn stop(&self, key: u32, reason: Option<&str>) {
        self.rust_calls.stop(key, reason);
        self.js.stop(key, reason);
    }

    fn respond(&self, key: u32, to: ReplyTo<JsValue>, response: Response<JsValue>) {
        self.rust_calls.ended(key);
        self.js.ended(key);
        match to {
            ReplyTo::Agent(connection, id) => {
                let payload = abp::response(&response);
                self.post(connection, abp::kind::CALL_RESULT, id.as_ref(), &payload);
            }
            ReplyTo::Parent => self.hand_over(key, response),
        }
    }

    /// A handler has ended.
    pub fn settle(&self, key: u32, result: Result<JsValue, Error>) {
        let limits = *self.state.borrow().limits();
        let result = result.and_then(|data| inspect::data(data, &limits));
        self.with(|state| state.settle(key, result, now()));
    }

    /// Gives a response to the handler that waits for it, a Rust one or a JavaScript one.
    fn hand_over(&self, key: u32, response: Response<JsValue>) {
        if let Some(response) = self.rust_calls.hand_over(key, response) {
            self.js.answer(key, &abp::response(&response));
        }
    }

    fn answer(&self, to: u32, id: Option<JsValue>, answer: &Answer<JsValue>) {
        let (kind, payload) = match answer {
            Answer::Initialized(result) => (
                abp::kind::INITIALIZE_RESULT,
                abp::initialized(&self.app, result),
            ),
            Answer::Cancelled(given, result) => (
                abp::kind::CANCEL_RESULT,
                abp::cancel_response(given, result),
            ),
            // ABP 0.1 has no such message: only a peer that asks for it by an id gets it.
            Answer::ShutDown(_) if id.is_none() => return,
            Answer::ShutDown(result) => {
                let mut payload = JsValue::object();
                if let Err(failure) = result {
                    payload.put("error", &abp::error(failure));
                }
                (abp::kind::SHUTDOWN_RESULT, payload)
            }
        };
        self.post(to, kind, id.as_ref(), &payload);
    }

    fn post(&self, to: u32, kind: &str, id: Option<&JsValue>, payload: &JsValue) {
        let envelope = abp::envelope(kind, id, sys::unix(), payload);
        self.js.post(to, &envelope);
    }

    fn emit_call(&self, call: CallEvent<JsValue>) {
        let mut event = event("call");
        event.put_text("callId", call.id.as_str());
        event.put_text("capability", &call.capability);
        event.put_text("sessionId", &call.session);
        if let Some(parent) = call.parent {
            event.put_text("parentCallId", parent.as_str());
        }
        let state = match &call.state {
            CallState::Queued(params) => {
                event.put("params", params);
                "queued"
            }
            CallState::Running => "running",
            CallState::Ended(response, reason) => {
                event.put("response", &abp::response(response));
                put_reason(&mut event, reason.as_deref());
                match response.outcome {
                    Outcome::Completed(_) => "completed",
                    Outcome::Failed(_) => "failed",
                    Outcome::Cancelled => "cancelled",
                }
            }
        };
        event.put_text("state", state);
        self.js.emit(&event);
    }
}

fn event(kind: &str) -> JsValue {
    let mut event = JsValue::object();
    event.put_text("type", kind);
    event.put_number("time", sys::unix());
    event
}

fn put_reason(event: &mut JsValue, reason: Option<&str>) {
    if let Some(reason) = reason {
        event.put_text("reason", reason);
    }
}

/// What the schema check found: `null` for nothing, or `{code, message, details}`.
pub(super) fn verdict_of(verdict: &JsValue) -> Result<(), Error> {
    if verdict.is_null() {
        return Ok(());
    }
    Err(error_of(verdict))
}

pub(super) fn elicitation_id(key: u32) -> JsValue {
    JsValue::from(["elicitation-", &decimal(key)].concat())
}
