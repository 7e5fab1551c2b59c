//! What agents send.

use alloc::rc::Rc;

use wasm_bindgen::JsValue;

use super::inner::Inner;
use super::sys::now;
use super::{Error, inspect, random, sys};
use crate::call::Code;
use crate::dialect::{Value, abp};
use crate::session::CallRequest;
use crate::text::parse_decimal;
use abp::{FromAgent, Received};

impl Inner {
    /// One envelope from an agent.
    pub fn receive(&self, connection: u32, envelope: &JsValue) {
        let limits = *self.state.borrow().limits();
        let read = abp::read_from_agent(envelope);
        match read.and_then(|received| inspect::message(envelope, &limits).map(|()| received)) {
            Ok(received) => self.take(connection, received),
            Err(error) => {
                let error = self.without_session(connection, envelope).unwrap_or(error);
                self.js
                    .post(connection, &abp::refusal(envelope, &error, sys::unix()));
            }
        }
    }

    /// Without a session, that there is none comes before what else is wrong.
    fn without_session(&self, connection: u32, envelope: &JsValue) -> Option<Error> {
        let kind = envelope.text_of("type")?;
        let needs_session = [abp::kind::CALL, abp::kind::CANCEL].contains(&&*kind);
        let missing = needs_session && self.state.borrow().session_id(connection).is_none();
        missing.then(|| {
            let message = "There is no session: call initialize first";
            Error::new(Code::NOT_INITIALIZED, message)
        })
    }

    fn take(&self, connection: u32, received: Received<JsValue>) {
        let Received { id, message } = received;
        let now = now();
        match message {
            FromAgent::Initialize(params) => {
                let session: Rc<str> = random::call_id().as_str().into();
                self.with(|state| state.initialize(connection, id, params, session, now));
            }
            FromAgent::Call {
                call,
                capability,
                params,
                timeout,
                token,
            } => {
                let request = CallRequest {
                    id: call.unwrap_or_else(random::call_id),
                    capability,
                    params,
                    timeout,
                    token,
                };
                self.with(|state| state.call(connection, id, request, now));
            }
            FromAgent::Cancel {
                given,
                call,
                reason,
            } => {
                self.with(|state| state.cancel(connection, id, given, &call, reason, now));
            }
            FromAgent::Shutdown { reason } => {
                self.with(|state| state.shutdown(connection, id, reason, now));
            }
            FromAgent::Elicited(response) => {
                let key = id.and_then(|id| id.as_string());
                let key = key.and_then(|id| parse_decimal(id.strip_prefix("elicitation-")?));
                if let Some(key) = key {
                    let result = answer_of(&response);
                    self.with(|state| state.answered(connection, key, result));
                }
            }
        }
    }
}

/// An `ABPResponse` to a question.
fn answer_of(response: &JsValue) -> Result<JsValue, Error> {
    if response.boolean_of("success") == Some(true) {
        return Ok(Value::get(response, "data").unwrap_or(JsValue::UNDEFINED));
    }
    if response.boolean_of("cancelled") == Some(true) {
        return Err(Error::cancelled());
    }
    Err(Value::get(response, "error").map_or_else(
        || {
            Error::new(
                Code::OPERATION_FAILED,
                "The agent did not answer the question",
            )
        },
        |error| super::handle::error_of(&error),
    ))
}
