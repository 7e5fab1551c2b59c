//! Does what the core asks for.

use alloc::format;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use wasm_bindgen::JsValue;

use super::inner::{Handler, Inner};
use super::sys::{self, now};
use super::{Error, inspect};
use crate::call::{Code, Response};
use crate::dialect::{Value, abp};
use crate::session::{Action as CoreAction, Answer, CallEvent, CallState, ReplyTo};

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
            Action::Respond { key, to, response } => self.respond(key, to, &response),
            Action::Answer { to, id, answer } => self.answer(to, id, &answer),
            Action::Progress {
                to,
                id,
                token,
                info,
            } => {
                let payload = abp::progress(&id, token, &info);
                self.post(to, abp::kind::PROGRESS, None, payload);
            }
            Action::Elicit { to, key, request } => {
                let id = Some(elicitation_id(key));
                self.post(to, abp::kind::ELICITATION_REQUEST, id, request);
            }
            Action::Withdraw { to, key } => {
                let payload = abp::withdrawn(elicitation_id(key));
                self.post(to, abp::kind::NOTIFICATION, None, payload);
            }
            Action::Elicited { key, response } => self.hand_over(key, response),
            Action::Notify { to, event, data } => {
                let payload = abp::notification(&event, data);
                self.post(to, abp::kind::NOTIFICATION, None, payload);
            }
            Action::CapabilitiesChanged { to, added, removed } => {
                let payload = abp::capabilities_changed(&added, &removed);
                self.post(to, abp::kind::NOTIFICATION, None, payload);
            }
            Action::Call(event) => self.emit_call(event),
            Action::Progressed { id, info } => {
                let info = abp::progress(&id, None, &info);
                self.emit(
                    "progress",
                    &[("callId", id.as_str().into()), ("info", info)],
                );
            }
            Action::CancelAnswered {
                session,
                id,
                answer,
                reason,
            } => {
                let given = JsValue::from(id.as_str());
                let response = abp::cancel_response(given.clone(), &Ok(answer));
                let mut fields = vec![
                    ("callId", given),
                    ("sessionId", JsValue::from(&*session)),
                    ("response", response),
                ];
                fields.extend(reason.map(|reason| ("reason", JsValue::from(&*reason))));
                self.emit("cancel", &fields);
            }
            Action::Session {
                session,
                agent,
                open,
            } => {
                let agent = JsValue::object(&[
                    ("name", agent.name.into()),
                    ("version", agent.version.into()),
                ]);
                let state = if open { "open" } else { "closed" };
                self.emit(
                    "session",
                    &[
                        ("state", state.into()),
                        ("sessionId", JsValue::from(&*session)),
                        ("agent", agent),
                    ],
                );
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

    fn respond(&self, key: u32, to: ReplyTo<JsValue>, response: &Response<JsValue>) {
        self.rust_calls.ended(key);
        self.js.ended(key);
        match to {
            ReplyTo::Agent(connection, id) => {
                self.post(
                    connection,
                    abp::kind::CALL_RESULT,
                    id,
                    abp::response(response),
                );
            }
            ReplyTo::Parent => self.hand_over(key, response.clone()),
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
                abp::initialized(self.app.clone(), result),
            ),
            Answer::Cancelled(given, result) => (
                abp::kind::CANCEL_RESULT,
                abp::cancel_response(given.clone(), result),
            ),
            // ABP 0.1 has no such message: only a peer that asks for it by an id gets it.
            Answer::ShutDown(_) if id.is_none() => return,
            Answer::ShutDown(result) => {
                let failure = result.as_ref().err().map(|it| ("error", abp::error(it)));
                let payload = JsValue::object(&failure.into_iter().collect::<Vec<_>>());
                (abp::kind::SHUTDOWN_RESULT, payload)
            }
        };
        self.post(to, kind, id, payload);
    }

    fn post(&self, to: u32, kind: &str, id: Option<JsValue>, payload: JsValue) {
        self.js
            .post(to, &abp::envelope(kind, id, sys::unix(), payload));
    }

    fn emit(&self, kind: &str, fields: &[(&'static str, JsValue)]) {
        let mut event = vec![("type", JsValue::from(kind)), ("time", sys::unix().into())];
        event.extend_from_slice(fields);
        self.js.emit(&JsValue::object(&event));
    }

    fn emit_call(&self, event: CallEvent<JsValue>) {
        let text = |text: &Rc<str>| JsValue::from(&**text);
        let mut fields = vec![
            ("callId", event.id.as_str().into()),
            ("capability", text(&event.capability)),
            ("sessionId", text(&event.session)),
        ];
        fields.extend(
            event
                .parent
                .map(|parent| ("parentCallId", parent.as_str().into())),
        );
        match &event.state {
            CallState::Queued(params) => {
                fields.push(("state", "queued".into()));
                fields.push(("params", params.clone()));
            }
            CallState::Running => fields.push(("state", "running".into())),
            CallState::Ended(response, reason) => {
                use crate::call::Outcome::{Cancelled, Completed, Failed};
                let state = match response.outcome {
                    Completed(_) => "completed",
                    Failed(_) => "failed",
                    Cancelled => "cancelled",
                };
                fields.push(("state", state.into()));
                fields.push(("response", abp::response(response)));
                fields.extend(reason.as_ref().map(|reason| ("reason", text(reason))));
            }
        }
        self.emit("call", &fields);
    }
}

/// What the schema check found: `null` for nothing, or `{code, message, details}`.
pub(super) fn verdict_of(verdict: &JsValue) -> Result<(), Error> {
    if verdict.is_null() {
        return Ok(());
    }
    let text = |key: &str| Value::get(verdict, key).and_then(|it| it.as_text());
    let code = match text("code").as_deref() {
        Some("MISSING_PARAM") => Code::MISSING_PARAM,
        Some("INVALID_TYPE") => Code::INVALID_TYPE,
        Some("INTERNAL_ERROR") => Code::INTERNAL_ERROR,
        _ => Code::INVALID_PARAMS,
    };
    let mut error = Error::new(code, text("message").unwrap_or_default());
    error.details = Value::get(verdict, "details");
    Err(error)
}

pub(super) fn elicitation_id(key: u32) -> JsValue {
    JsValue::from(format!("elicitation-{key}"))
}
