//! What the JavaScript glue calls.

use alloc::rc::{Rc, Weak};

use wasm_bindgen::prelude::*;

use super::inner::{Handler, Inner};
use super::sys::{self, now};
use super::{Error, random};
use crate::call::Code;
use crate::dialect::{Value, abp};
use crate::session::{CallRequest, Limits};

/// A host, from JavaScript's side. Everything takes `&self` and survives being called back into.
#[wasm_bindgen]
pub struct HostHandle(pub(super) Weak<Inner>);

/// Makes a host out of the options of `createHost`, and gives its JavaScript object, or
/// the error to throw.
#[wasm_bindgen(js_name = newHost)]
pub fn new_host(options: &JsValue) -> JsValue {
    let app = Value::get(options, "app").unwrap_or(JsValue::UNDEFINED);
    match limits(options).and_then(|limits| Inner::new(app, limits)) {
        Ok(host) => host.js.clone().into(),
        Err(error) => as_js(&error),
    }
}

fn limits(options: &JsValue) -> Result<Limits, Error> {
    let number = |key: &str| {
        let number = options.number_of(key).filter(|number| *number >= 0.0);
        if number.is_none() && Value::get(options, key).is_some() {
            let message = [key, " is a number, not negative"];
            return Err(Error::invalid_params(message.concat()));
        }
        Ok(number)
    };
    let default = Limits::default();
    let whole =
        |key: &str, default: usize| number(key).map(|it| it.map_or(default, |it| it as usize));
    Ok(Limits {
        remembered: whole("maxRemembered", default.remembered)?,
        in_flight: whole("maxInFlight", default.in_flight)?,
        sessions: whole("maxSessions", default.sessions)?,
        requests_per_second: number("maxRequestsPerSecond")?.unwrap_or(default.requests_per_second),
        message_bytes: whole("maxMessageBytes", default.message_bytes)?,
        depth: whole("maxDepth", default.depth)?,
    })
}

#[wasm_bindgen]
impl HostHandle {
    /// Undefined, or the error to throw.
    pub fn register(&self, name: &JsValue, options: &JsValue, handler: JsValue) -> JsValue {
        let registered = self.with(|host| {
            let name = name.as_string().unwrap_or_default();
            host.register(&name, options, Handler::Js(handler))
        });
        match registered.unwrap_or_else(|| Err(closed())) {
            Ok(()) => JsValue::UNDEFINED,
            Err(error) => as_js(&error),
        }
    }

    pub fn unregister(&self, name: &JsValue) -> bool {
        let name = name.as_string().unwrap_or_default();
        self.with(|host| host.with(|state| state.unregister(&name)))
            .unwrap_or(false)
    }

    /// An array of the `Capability` documents, by name.
    pub fn documents(&self) -> JsValue {
        let mut documents = JsValue::array();
        self.with(|host| {
            for it in host.state.borrow().registry().iter() {
                documents.push(it.descriptor.document.clone());
            }
        });
        documents
    }

    pub fn connect(&self) -> u32 {
        self.with(|host| host.with(|state| state.connect()))
            .unwrap_or(0)
    }

    pub fn receive(&self, connection: u32, envelope: &JsValue) {
        self.with(|host| host.receive(connection, envelope));
    }

    pub fn disconnect(&self, connection: u32) {
        self.with(|host| host.with(|state| state.disconnect(connection, now())));
    }

    #[wasm_bindgen(js_name = sessionId)]
    pub fn session_id(&self, connection: u32) -> JsValue {
        let id = self.with(|host| host.state.borrow().session_id(connection));
        id.flatten().map_or(JsValue::NULL, |id| JsValue::from(&*id))
    }

    #[wasm_bindgen(js_name = runReady)]
    pub fn run_ready(&self) {
        self.with(|host| host.with(|state| state.run_ready()));
    }

    pub fn tick(&self) {
        self.with(|host| {
            host.armed.set(f64::INFINITY);
            host.with(|state| state.handle_timeout(now()));
        });
    }

    /// Polls a Rust capability's future.
    pub fn poll(&self, key: u32) {
        self.with(|host| host.rust_calls.poll(key));
    }

    /// A JavaScript handler has returned.
    pub fn settle(&self, key: u32, data: JsValue) {
        self.with(|host| host.settle(key, Ok(data)));
    }

    /// A JavaScript handler has thrown `error`; `aborted` when that is an AbortError of its own.
    pub fn fail(&self, key: u32, error: &JsValue, aborted: bool) {
        let error = if aborted {
            Error::cancelled()
        } else {
            error_of(error)
        };
        self.with(|host| host.settle(key, Err(error)));
    }

    /// The schema check of a call is done.
    pub fn checked(&self, key: u32, verdict: &JsValue) {
        let result = super::perform::verdict_of(verdict);
        self.with(|host| host.with(|state| state.checked(key, result, now())));
    }

    pub fn progress(&self, key: u32, info: JsValue) {
        self.with(|host| host.with(|state| state.progress(key, info)));
    }

    /// A JavaScript handler calls: the key its answer will come under.
    #[wasm_bindgen(js_name = callFrom)]
    pub fn call_from(&self, parent: u32, envelope: &JsValue) -> u32 {
        let call = |host: Rc<Inner>| {
            let mut state = host.state.borrow_mut();
            match abp::read_from_agent(envelope).map(|received| received.message) {
                Ok(abp::FromAgent::Call {
                    call,
                    capability,
                    params,
                    timeout,
                    token,
                }) => {
                    let id = call.unwrap_or_else(random::call_id);
                    let request = CallRequest {
                        id,
                        capability,
                        params,
                        timeout,
                        token,
                    };
                    state.call_from(parent, request, now())
                }
                Ok(_) => 0,
                Err(error) => state.refuse_child(error),
            }
        };
        self.with(call).unwrap_or(0)
    }

    /// A handler cancels a call it has made.
    #[wasm_bindgen(js_name = cancelKey)]
    pub fn cancel_key(&self, key: u32, reason: &JsValue) {
        let reason = reason.as_string().map(|reason| reason.into());
        self.with(|host| host.with(|state| state.cancel_child(key, reason, now())));
    }

    /// Progress the app reports by the operation's name: a progress token or a callId.
    #[wasm_bindgen(js_name = notifyProgress)]
    pub fn notify_progress(&self, info: JsValue) {
        let Some(operation) = Value::get(&info, "operationId") else {
            return;
        };
        let text = operation.as_string();
        self.with(|host| {
            host.with(|state| {
                state.progress_of(info, |id, token| {
                    token == Some(&operation) || text.as_deref() == Some(id.as_str())
                });
            });
        });
    }

    /// A JavaScript handler asks the agent: the key its answer will come under.
    pub fn elicit(&self, call: u32, request: JsValue) -> u32 {
        let timeout = request.number_of("timeout");
        self.with(|host| {
            host.state
                .borrow_mut()
                .elicit(call, request, timeout, now())
        })
        .unwrap_or(0)
    }

    /// The app asks the agent of a connection: the key its answer will come under.
    pub fn ask(&self, connection: u32, request: JsValue) -> u32 {
        let timeout = request.number_of("timeout");
        self.with(|host| {
            host.state
                .borrow_mut()
                .ask(connection, None, request, timeout, now())
        })
        .unwrap_or(0)
    }

    /// Does what the last [`HostHandle::call_from`], `elicit` or `ask` has led to.
    pub fn drive(&self) {
        self.with(|host| host.drive());
    }

    pub fn notify(&self, event: &JsValue, data: JsValue) {
        let event = event.as_string().unwrap_or_default();
        let data = (!data.is_undefined()).then_some(data);
        self.with(|host| host.with(|state| state.notify((&*event).into(), data)));
    }

    /// The app cancels a call of one of its agents: a `CancelResponse`.
    #[wasm_bindgen(js_name = cancelCall)]
    pub fn cancel_call(&self, session: &JsValue, call: &JsValue, reason: &JsValue) -> JsValue {
        let answer = self.with(|host| {
            let session = session.as_string().unwrap_or_default();
            let id = call.as_string().unwrap_or_default();
            let reason = reason.as_string().map(|reason| reason.into());
            host.with(|state| match state.connection_of(&session) {
                Some(connection) => state.cancel_here(connection, &id, reason, now()),
                None => {
                    let message = "There is no such session";
                    Err(Error::new(Code::SESSION_INVALID, message))
                }
            })
        });
        abp::cancel_response(call, &answer.unwrap_or_else(|| Err(closed())))
    }

    pub fn watch(&self, on: bool) {
        self.with(|host| host.state.borrow_mut().watch(on));
    }

    /// A fresh callId.
    #[wasm_bindgen(js_name = newCallId)]
    pub fn new_call_id(&self) -> JsValue {
        random::call_id().as_str().into()
    }

    /// What is held and what was counted, for tests and the curious.
    pub fn stats(&self) -> JsValue {
        let stats = self.with(|host| {
            let state = host.state.borrow();
            let counters = state.counters();
            let mut stats = JsValue::object();
            for (key, number) in [
                ("inFlight", state.in_flight() as u64),
                ("sessions", state.sessions() as u64),
                ("elicitations", state.pending_elicitations() as u64),
                ("tasks", host.rust_calls.tasks() as u64),
                ("calls", counters.calls),
                ("cancelled", counters.cancelled),
                ("lateResults", counters.late_results),
                ("lateProgress", counters.late_progress),
            ] {
                stats.put_number(key, number as f64);
            }
            stats
        });
        stats.unwrap_or_default()
    }

    /// Lets go of the host; every call after this does nothing.
    pub fn release(&self) {
        self.with(|host| host.release());
    }

    fn with<T>(&self, work: impl FnOnce(Rc<Inner>) -> T) -> Option<T> {
        self.0.upgrade().map(work)
    }
}

fn closed() -> Error {
    Error::new(Code::NOT_INITIALIZED, "The host is closed")
}

/// What a handler threw, as an error: its code is kept, anything without one is the operation's
/// failure. Nothing of it but text, numbers and plain details is passed on.
pub(super) fn error_of(thrown: &JsValue) -> Error {
    let message = thrown.text_of("message").or_else(|| thrown.as_string());
    let message = message.unwrap_or_else(|| "The capability failed".into());
    let code = thrown.text_of("code");
    let code = code.filter(|code| !code.is_empty() && code.len() <= 128);
    let code = code.map_or(Code::OPERATION_FAILED, Code::from);
    let mut error = Error::new(code, message);
    if let Some(retryable) = thrown.boolean_of("retryable") {
        error.retryable = retryable;
    }
    error.retry_after = thrown.number_of("retryAfter");
    error.details = Value::get(thrown, "details")
        .filter(|details| sys::inspect(details, 32, 65_536.0).is_undefined());
    error
}

/// An error as JavaScript throws it.
fn as_js(error: &Error) -> JsValue {
    sys::abp_error(error.code.as_str(), &error.message, error.retryable)
}
