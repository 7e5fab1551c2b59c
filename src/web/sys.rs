//! The raw bindings to the JavaScript beside this module. None of these functions throws.
//!
//! What stands in an envelope crosses the boundary flat, as arguments: reading and writing the
//! envelope itself is left to `js/envelope.js`.

use std::string::String;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// What JavaScript holds of a host.
    pub(super) type Shell;

    /// That of the host of that number. A message may be nested so deep, and hold so many
    /// characters.
    #[wasm_bindgen(constructor)]
    pub(super) fn new(class: &JsValue, number: u32, app: &JsValue, depth: f64, size: f64) -> Shell;
    #[wasm_bindgen(method, getter)]
    pub(super) fn running(this: &Shell) -> Running;
    #[wasm_bindgen(method, getter)]
    pub(super) fn asks(this: &Shell) -> Asks;
    #[wasm_bindgen(method, getter)]
    pub(super) fn capabilities(this: &Shell) -> Capabilities;
    #[wasm_bindgen(method, getter)]
    pub(super) fn timeline(this: &Shell) -> Timeline;

    #[wasm_bindgen(method)]
    pub(super) fn wake(this: &Shell);
    #[wasm_bindgen(method)]
    pub(super) fn arm(this: &Shell, at: f64);
    #[wasm_bindgen(method)]
    pub(super) fn check(this: &Shell, key: u32, name: &str, given: &JsValue);
    /// A call is over: to the agent on that connection, or, if it is 0, to the handler that waits.
    #[wasm_bindgen(method)]
    pub(super) fn respond(
        this: &Shell,
        key: u32,
        to: u32,
        id: &JsValue,
        state: u32,
        value: &JsValue,
        duration: f64,
    );
    #[wasm_bindgen(method)]
    pub(super) fn initialized(
        this: &Shell,
        to: u32,
        id: &JsValue,
        session: &str,
        documents: &JsValue,
        features: &JsValue,
    );
    /// Answers a request with nothing but an error, if that is not undefined.
    #[wasm_bindgen(method)]
    pub(super) fn done(this: &Shell, to: u32, kind: &str, id: &JsValue, error: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn cancelled(this: &Shell, to: u32, id: &JsValue, response: &JsValue);
    #[wasm_bindgen(method, js_name = tellProgress)]
    pub(super) fn tell_progress(this: &Shell, to: u32, id: &str, token: &JsValue, info: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn question(this: &Shell, to: u32, key: u32, request: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn withdraw(this: &Shell, to: u32, key: u32);
    #[wasm_bindgen(method)]
    pub(super) fn tell(this: &Shell, to: u32, event: &str, data: &JsValue);
    #[wasm_bindgen(method, js_name = tellChange)]
    pub(super) fn tell_change(
        this: &Shell,
        to: u32,
        added: &JsValue,
        removed: &JsValue,
        changed: &JsValue,
    );
    /// The future of a Rust capability is to be polled soon.
    #[wasm_bindgen(method)]
    pub(super) fn schedule(this: &Shell, key: u32);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The JavaScript handlers that run.
    pub(super) type Running;

    #[wasm_bindgen(method)]
    pub(super) fn start(this: &Running, key: u32, handler: &JsValue, given: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn stop(this: &Running, key: u32, reason: Option<&str>);
    /// What runs a handler is to be ended: it has not ended by itself.
    #[wasm_bindgen(method)]
    pub(super) fn terminate(this: &Running, key: u32);
    /// A call is over, and nobody waits for it.
    #[wasm_bindgen(method)]
    pub(super) fn forget(this: &Running, key: u32);
    /// The Rust handler of a call has the thread from now on.
    #[wasm_bindgen(method)]
    pub(super) fn enter(this: &Running, key: u32, given: &JsValue);
    /// The Rust handler that had it last has it no more.
    #[wasm_bindgen(method)]
    pub(super) fn leave(this: &Running);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// What handlers and the app itself wait for.
    pub(super) type Asks;

    #[wasm_bindgen(method)]
    pub(super) fn settle(this: &Asks, key: u32, response: &JsValue);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// What is told of the capabilities that are registered and unregistered in Rust.
    pub(super) type Capabilities;

    #[wasm_bindgen(method)]
    pub(super) fn added(this: &Capabilities, document: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn removed(this: &Capabilities, name: &str);
}

#[wasm_bindgen]
extern "C" {
    /// What a call was made with, as the JavaScript beside this has given it.
    pub(super) type Given;

    /// A getter, because a name that is made to be looked up costs more than the look.
    #[wasm_bindgen(method, getter)]
    pub(super) fn params(this: &Given) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// For whoever watches a host. `call` is `{ callId, sessionId }` and, of a step of its life,
    /// `{ capability, parentCallId? }`.
    pub(super) type Timeline;

    #[wasm_bindgen(method)]
    pub(super) fn queued(this: &Timeline, call: &JsValue, given: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn running(this: &Timeline, call: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn over(
        this: &Timeline,
        call: &JsValue,
        state: u32,
        value: &JsValue,
        duration: f64,
        reason: Option<&str>,
    );
    #[wasm_bindgen(method)]
    pub(super) fn progress(this: &Timeline, call: &JsValue, info: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn cancelling(this: &Timeline, call: &JsValue, reason: Option<&str>);
    #[wasm_bindgen(method)]
    pub(super) fn cancel(this: &Timeline, call: &JsValue, answer: &JsValue, reason: Option<&str>);
    #[wasm_bindgen(method)]
    pub(super) fn ended(this: &Timeline, call: &JsValue, end: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn session(this: &Timeline, session: &str, open: bool, name: &str, version: &str);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The host as JavaScript sees it: the object `createHost` returns.
    #[wasm_bindgen(js_name = Host)]
    #[derive(Clone)]
    pub type JsHost;

    #[wasm_bindgen(constructor, js_class = "Host")]
    pub(super) fn new(shell: &Shell) -> JsHost;
    /// Puts `abp` on the window, or on another object.
    #[wasm_bindgen(method, catch)]
    pub(super) fn expose(this: &JsHost, target: &JsValue, options: &JsValue)
    -> Result<(), JsValue>;
    /// Serves agents that post messages to this window; `options` says from which origins.
    #[wasm_bindgen(method, catch, js_name = acceptMessages)]
    pub(super) fn accept_messages(this: &JsHost, options: &JsValue) -> Result<JsValue, JsValue>;
    /// Offers a capability that runs in workers.
    #[wasm_bindgen(method, catch, js_name = registerWorker)]
    pub(super) fn register_worker(
        this: &JsHost,
        name: &str,
        description: &JsValue,
        module: &str,
        options: &JsValue,
    ) -> Result<(), JsValue>;
    /// Serves an agent behind a port or a worker.
    #[wasm_bindgen(method, catch, js_name = acceptPort)]
    pub(super) fn accept_port(this: &JsHost, port: &JsValue) -> Result<JsValue, JsValue>;
    /// Serves an agent behind a messenger.
    #[wasm_bindgen(method, catch)]
    pub(super) fn accept(this: &JsHost, messenger: &JsValue) -> Result<JsValue, JsValue>;
    /// Connects to a gateway, and again whenever the connection is lost.
    #[wasm_bindgen(method, catch, js_name = connectGateway)]
    pub(super) fn connect_gateway(
        this: &JsHost,
        url: &str,
        options: &JsValue,
    ) -> Result<(), JsValue>;
    /// The manifest of what is registered.
    #[wasm_bindgen(method)]
    pub(super) fn manifest(this: &JsHost) -> JsValue;
    #[wasm_bindgen(method)]
    pub(super) fn notify(this: &JsHost, event: &str, data: &JsValue);
    /// The app cancels a call: a promise of a `CancelResponse`, which does not reject.
    #[wasm_bindgen(method, js_name = cancelCall)]
    pub(super) fn cancel_call(
        this: &JsHost,
        session: &str,
        call: &str,
        reason: Option<&str>,
    ) -> js_sys::Promise;
    /// Gives a function that stops it.
    #[wasm_bindgen(method)]
    pub(super) fn observe(this: &JsHost, listener: &JsValue) -> js_sys::Function;
    #[wasm_bindgen(method)]
    pub(super) fn stats(this: &JsHost) -> JsValue;
    /// Ends every session: what is in flight is cancelled and answered.
    #[wasm_bindgen(method)]
    pub(super) fn close(this: &JsHost);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
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
    pub(super) fn cancel_confirmation(given: &JsValue, stop: &JsValue, ended: &JsValue) -> JsValue;
    /// How the handler of an abandoned call has ended.
    #[wasm_bindgen(js_name = lateEnd)]
    pub(super) fn late_end(success: bool, after: f64) -> JsValue;
    /// What a capability in Rust reports.
    #[wasm_bindgen(js_name = progressOf)]
    pub(super) fn progress(
        done: f64,
        total: f64,
        stage: Option<&str>,
        status: Option<&str>,
        remaining: Option<f64>,
    ) -> JsValue;
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

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// What somebody threw, as [`super::object::error`] takes it apart.
    #[wasm_bindgen(js_name = failureOf)]
    pub(super) fn failure_of(thrown: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// An error to throw, of an `ABPError`.
    pub(super) fn thrown(error: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// A closure of Rust's for JavaScript to call, which does nothing once the module is lost.
    pub(super) fn guard(closure: &JsValue) -> JsValue;
    /// Milliseconds that never go back.
    pub(super) fn now() -> f64;
    pub(super) fn array() -> JsValue;
    pub(super) fn push(array: &JsValue, element: &JsValue);
    #[wasm_bindgen(js_name = push)]
    pub(super) fn push_text(array: &JsValue, element: &str);
    /// An element, if there is one and it is text.
    #[wasm_bindgen(js_name = textAt)]
    pub(super) fn text_at(array: &JsValue, index: u32) -> Option<String>;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
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

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// Fires an `AbortController` with the reason a caller gave, if any.
    #[wasm_bindgen(js_name = abortWith)]
    pub(super) fn abort_with(controller: &web_sys::AbortController, reason: Option<&str>);
    /// Runs a callback in a task of its own, after what waits in the event loop.
    #[wasm_bindgen(js_name = inNextTask)]
    pub(super) fn in_next_task(callback: &JsValue);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// What is wrong with a value that is to be sent, if anything.
    pub(super) fn inspect(value: &JsValue, depth: f64, size: f64) -> Option<String>;
}
