//! The raw bindings to the JavaScript beside this module. None of these functions throws.
//!
//! What stands in an envelope crosses the boundary flat, as arguments: reading and writing the
//! envelope itself is left to `js/envelope.js`.

use std::string::String;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/js/host.js")]
extern "C" {
    /// The host as JavaScript sees it: the object `createHost` returns.
    #[wasm_bindgen(js_name = Host)]
    #[derive(Clone)]
    pub type JsHost;

    /// The host of that number. A message may be nested so deep, and hold so many characters.
    #[wasm_bindgen(constructor, js_class = "Host")]
    pub(super) fn new(class: &JsValue, number: u32, app: &JsValue, depth: f64, size: f64)
    -> JsHost;

    #[wasm_bindgen(method)]
    pub(super) fn wake(this: &JsHost);
    #[wasm_bindgen(method)]
    pub(super) fn arm(this: &JsHost, at: f64);
    #[wasm_bindgen(method)]
    pub(super) fn check(this: &JsHost, key: u32, name: &str, given: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn start(this: &JsHost, key: u32, handler: &JsValue, given: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn stop(this: &JsHost, key: u32, reason: Option<&str>);
    /// A call is over: to the agent on that connection, or, if it is 0, to the handler that waits.
    #[wasm_bindgen(method)]
    pub(super) fn respond(
        this: &JsHost,
        key: u32,
        to: u32,
        id: &JsValue,
        state: u32,
        value: &JsValue,
        duration: f64,
    );
    /// A call is over, and nobody waits for it.
    #[wasm_bindgen(method, js_name = forgetCall)]
    pub(super) fn forget_call(this: &JsHost, key: u32);
    /// The answer to a cancel by the app itself, but for the callId.
    #[wasm_bindgen(method)]
    pub(super) fn confirm(this: &JsHost, key: u32, response: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn initialized(
        this: &JsHost,
        to: u32,
        id: &JsValue,
        session: &str,
        documents: &JsValue,
        notifications: bool,
        progress: bool,
        elicitation: bool,
    );
    /// Answers a request with nothing but an error, if that is not undefined.
    #[wasm_bindgen(method)]
    pub(super) fn done(this: &JsHost, to: u32, kind: &str, id: &JsValue, error: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn cancelled(this: &JsHost, to: u32, id: &JsValue, response: &JsValue);
    #[wasm_bindgen(method, js_name = tellProgress)]
    pub(super) fn tell_progress(this: &JsHost, to: u32, id: &str, token: &JsValue, info: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn question(this: &JsHost, to: u32, key: u32, request: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn withdraw(this: &JsHost, to: u32, key: u32);
    #[wasm_bindgen(method)]
    pub(super) fn tell(this: &JsHost, to: u32, event: &str, data: &JsValue);
    #[wasm_bindgen(method, js_name = tellChange)]
    pub(super) fn tell_change(this: &JsHost, to: u32, added: &JsValue, removed: &JsValue);

    #[wasm_bindgen(method, js_name = sawCall)]
    pub(super) fn saw_call(
        this: &JsHost,
        session: &str,
        id: &str,
        parent: Option<&str>,
        capability: &str,
        state: u32,
        value: &JsValue,
        duration: f64,
        reason: Option<&str>,
    );
    #[wasm_bindgen(method, js_name = sawProgress)]
    pub(super) fn saw_progress(this: &JsHost, session: &str, id: &str, info: &JsValue);
    #[wasm_bindgen(method, js_name = sawCancel)]
    pub(super) fn saw_cancel(
        this: &JsHost,
        session: &str,
        id: &str,
        response: &JsValue,
        reason: Option<&str>,
    );
    #[wasm_bindgen(method, js_name = sawEnd)]
    pub(super) fn saw_end(this: &JsHost, session: &str, id: &str, success: bool, after: f64);
    #[wasm_bindgen(method, js_name = sawSession)]
    pub(super) fn saw_session(this: &JsHost, session: &str, open: bool, name: &str, version: &str);
}

#[wasm_bindgen(module = "/src/web/js/envelope.js")]
extern "C" {
    /// An `ABPError`. `retry_after` may be NaN, for none, and `details` undefined.
    #[wasm_bindgen(js_name = errorOf)]
    pub(super) fn error(
        code: &str,
        message: &str,
        retryable: bool,
        retry_after: f64,
        details: &JsValue,
    ) -> JsValue;
    /// A `CancelResponse` of a call that was cancelled; `ended` is a `LateEnd`, or undefined.
    #[wasm_bindgen(js_name = cancelConfirmation)]
    pub(super) fn cancel_confirmation(given: &JsValue, stop: &str, ended: &JsValue) -> JsValue;
    /// How the handler of an abandoned call has ended.
    #[wasm_bindgen(js_name = lateEnd)]
    pub(super) fn late_end(success: bool, after: f64) -> JsValue;
    /// The data of the notification that it has.
    #[wasm_bindgen(js_name = callEnded)]
    pub(super) fn call_ended(id: &str, success: bool, after: f64) -> JsValue;
    /// A `CancelResponse` of a call that was not cancelled.
    #[wasm_bindgen(js_name = cancelResponse)]
    pub(super) fn cancel_response(
        given: &JsValue,
        refusal: Option<&str>,
        error: &JsValue,
    ) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/js/platform.js")]
extern "C" {
    /// Milliseconds that never go back.
    pub(super) fn now() -> f64;
    pub(super) fn array() -> JsValue;
    pub(super) fn push(array: &JsValue, element: &JsValue);
    #[wasm_bindgen(js_name = push)]
    pub(super) fn push_text(array: &JsValue, element: &str);
    /// What `Host.stats` says.
    pub(super) fn stats(
        in_flight: f64,
        sessions: f64,
        elicitations: f64,
        tasks: f64,
        calls: f64,
        cancelled: f64,
        late_results: f64,
        late_progress: f64,
        ended_late: f64,
    ) -> JsValue;
}

/// What only an app in Rust needs.
#[wasm_bindgen(module = "/src/web/js/host.js")]
extern "C" {
    /// A capability written in Rust has been registered.
    #[wasm_bindgen(method)]
    pub(super) fn registered(this: &JsHost, document: &JsValue);
    /// Its future is to be polled soon.
    #[wasm_bindgen(method)]
    pub(super) fn schedule(this: &JsHost, key: u32);
    #[wasm_bindgen(method)]
    pub fn expose(this: &JsHost, target: &JsValue);
    #[wasm_bindgen(method, js_name = acceptMessages)]
    pub fn accept_messages(this: &JsHost, options: &JsValue);
    #[wasm_bindgen(method, js_name = acceptPort)]
    pub fn accept_port(this: &JsHost, port: &JsValue);
    #[wasm_bindgen(method, js_name = connectGateway)]
    pub fn connect_gateway(this: &JsHost, url: &str, options: &JsValue);
    #[wasm_bindgen(method)]
    pub fn manifest(this: &JsHost) -> JsValue;
    #[wasm_bindgen(method)]
    pub fn close(this: &JsHost);
}

#[wasm_bindgen(module = "/src/web/js/descriptor.js")]
extern "C" {
    /// What is wrong with an app's description of itself, if anything.
    #[wasm_bindgen(js_name = problemWithApp)]
    pub(super) fn problem_with_app(app: &JsValue) -> Option<String>;
    /// What is wrong with a capability's description, if anything.
    #[wasm_bindgen(js_name = problemWithCapability)]
    pub(super) fn problem_with_capability(name: &str, options: &JsValue) -> Option<String>;
    /// The `Capability` object that agents get, of what an app says of it.
    pub(super) fn describe(name: &str, options: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/js/platform.js")]
extern "C" {
    /// Fires an `AbortController` with the reason a caller gave, if any.
    #[wasm_bindgen(js_name = abortWith)]
    pub(super) fn abort_with(controller: &web_sys::AbortController, reason: Option<&str>);
    /// Runs a callback in a task of its own, after what waits in the event loop.
    #[wasm_bindgen(js_name = inNextTask)]
    pub(super) fn in_next_task(callback: &JsValue);
}

#[wasm_bindgen(module = "/src/web/js/inspect.js")]
extern "C" {
    /// What is wrong with a value that is to be sent, if anything.
    pub(super) fn inspect(value: &JsValue, depth: f64, size: f64) -> Option<String>;
}
