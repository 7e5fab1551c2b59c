//! The raw bindings to the JavaScript files of a host. None of these functions throws.
//!
//! The parts of an envelope cross the boundary flat, as arguments. The files in `js` read and
//! write the envelope itself.

use wasm_bindgen::prelude::*;

pub(super) use crate::web::sys::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The objects that JavaScript holds for a host.
    pub(super) type Shell;

    /// The shell of the host of that number. A message may have that many levels of nesting, and
    /// that many characters.
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
    /// Reports the end of a call to the agent on that connection. For the connection 0, reports it
    /// to the handler that waits.
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
    /// Answers a request without a result, with an error if that is not undefined.
    #[wasm_bindgen(method)]
    pub(super) fn done(this: &Shell, to: u32, kind: &str, id: &JsValue, error: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn cancelled(this: &Shell, to: u32, id: &JsValue, response: &JsValue);
    #[wasm_bindgen(method, js_name = tellProgress)]
    pub(super) fn tell_progress(this: &Shell, to: u32, id: &str, token: &JsValue, info: &JsValue);
    /// A person is asked whether a call may start, in the app (1) or by the agent (2), or has
    /// allowed it (0).
    #[wasm_bindgen(method)]
    pub(super) fn consent(this: &Shell, key: u32, call: &JsValue, given: &JsValue, asked: u32);
    #[wasm_bindgen(method)]
    pub(super) fn question(this: &Shell, to: u32, key: u32, request: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn withdraw(this: &Shell, to: u32, key: u32);
    #[wasm_bindgen(method)]
    pub(super) fn tell(this: &Shell, to: u32, event: &str, data: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn lose(this: &Shell, agent: u32);
    #[wasm_bindgen(method, js_name = tellChange)]
    pub(super) fn tell_change(
        this: &Shell,
        to: u32,
        added: &JsValue,
        removed: &JsValue,
        changed: &JsValue,
    );
    /// Asks for a poll of a Rust capability's future soon.
    #[wasm_bindgen(method)]
    pub(super) fn schedule(this: &Shell, key: u32);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The running JavaScript handlers.
    pub(super) type Running;

    #[wasm_bindgen(method)]
    pub(super) fn start(this: &Running, key: u32, handler: &JsValue, given: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn stop(this: &Running, key: u32, reason: Option<&str>);
    /// Ends the thread or job that runs a handler: the handler has not ended by itself.
    #[wasm_bindgen(method)]
    pub(super) fn terminate(this: &Running, key: u32);
    /// Reports the end of a call that nobody waits for.
    #[wasm_bindgen(method)]
    pub(super) fn forget(this: &Running, key: u32);
    /// From now on, the Rust handler of a call has the thread.
    #[wasm_bindgen(method)]
    pub(super) fn enter(this: &Running, key: u32, given: &JsValue);
    /// The last Rust handler no longer has the thread.
    #[wasm_bindgen(method)]
    pub(super) fn leave(this: &Running);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The answers that handlers and the app itself wait for.
    pub(super) type Asks;

    #[wasm_bindgen(method)]
    pub(super) fn settle(this: &Asks, key: u32, response: &JsValue);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The listeners for capabilities that are registered and unregistered in Rust.
    pub(super) type Capabilities;

    #[wasm_bindgen(method)]
    pub(super) fn added(this: &Capabilities, document: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn removed(this: &Capabilities, name: &str);
}

#[wasm_bindgen]
extern "C" {
    /// The parameters of a call, as the JavaScript of this module has given them.
    pub(super) type Given;

    /// A getter, because looking up a property by a name made at run time costs more than the
    /// property itself.
    #[wasm_bindgen(method, getter)]
    pub(super) fn params(this: &Given) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The observers of a host. `call` is `{ callId, sessionId }`. For a step of a call's life, it
    /// is `{ capability, parentCallId? }` in addition.
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
    /// Serves agents that post messages to this window. `options` says from which origins.
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
    /// Connects to a gateway, and reconnects whenever the connection is lost.
    #[wasm_bindgen(method, catch, js_name = connectGateway)]
    pub(super) fn connect_gateway(
        this: &JsHost,
        url: &str,
        options: &JsValue,
    ) -> Result<(), JsValue>;
    /// The manifest of the registered capabilities.
    #[wasm_bindgen(method)]
    pub(super) fn manifest(this: &JsHost) -> JsValue;
    #[wasm_bindgen(method)]
    pub(super) fn notify(this: &JsHost, event: &str, data: &JsValue);
    /// Cancels a call for the app. Returns a promise of a `CancelResponse`, which does not reject.
    #[wasm_bindgen(method, js_name = cancelCall)]
    pub(super) fn cancel_call(
        this: &JsHost,
        session: &str,
        call: &str,
        reason: Option<&str>,
    ) -> js_sys::Promise;
    /// Returns a function that removes the listener.
    #[wasm_bindgen(method)]
    pub(super) fn observe(this: &JsHost, listener: &JsValue) -> js_sys::Function;
    #[wasm_bindgen(method)]
    pub(super) fn stats(this: &JsHost) -> JsValue;
    /// Ends every session: the calls in flight are cancelled and answered.
    #[wasm_bindgen(method)]
    pub(super) fn close(this: &JsHost);
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The problem with an app's description of itself, if there is a problem.
    #[wasm_bindgen(js_name = problemWithApp)]
    pub(super) fn problem_with_app(app: &JsValue) -> Option<String>;
    /// The problem with a capability's description, if there is a problem.
    #[wasm_bindgen(js_name = problemWithCapability)]
    pub(super) fn problem_with_capability(name: &str, options: &JsValue) -> Option<String>;
    /// Whether each call of a capability waits until a person allows it.
    pub(super) fn confirms(options: &JsValue) -> bool;
    /// The `Capability` object for agents, made from the app's description.
    pub(super) fn describe(name: &str, options: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// The problem with a value to be sent, if there is a problem.
    pub(super) fn inspect(value: &JsValue, depth: f64, size: f64) -> Option<String>;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// A `CancelResponse` of a call that was cancelled. `ended` is a `LateEnd`, or undefined.
    #[wasm_bindgen(js_name = cancelConfirmation)]
    pub(super) fn cancel_confirmation(given: &JsValue, stop: &JsValue, ended: &JsValue) -> JsValue;
    /// The progress that a Rust capability reports.
    #[wasm_bindgen(js_name = progressOf)]
    pub(super) fn progress(
        done: f64,
        total: f64,
        stage: Option<&str>,
        status: Option<&str>,
        remaining: Option<f64>,
    ) -> JsValue;
    /// The data of the notification `notifications/call/ended`.
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
    /// Fires an `AbortController` with the caller's reason, if there is a reason.
    #[wasm_bindgen(js_name = abortWith)]
    pub(super) fn abort_with(controller: &web_sys::AbortController, reason: Option<&str>);
    /// Runs a callback in a task of its own, after all that already waits in the event loop.
    #[wasm_bindgen(js_name = inNextTask)]
    pub(super) fn in_next_task(callback: &JsValue);
}
