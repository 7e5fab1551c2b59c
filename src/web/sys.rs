//! The raw bindings to the JavaScript beside this module. None of these functions throws.

use alloc::string::String;
use wasm_bindgen::prelude::*;

use super::HostHandle;

#[wasm_bindgen(module = "/src/web/js/host.js")]
extern "C" {
    /// The host as JavaScript sees it: the object `createHost` returns.
    #[wasm_bindgen(js_name = Host)]
    #[derive(Clone)]
    pub type JsHost;

    #[wasm_bindgen(constructor, js_class = "Host")]
    pub(super) fn new(handle: HostHandle, app: &JsValue) -> JsHost;

    #[wasm_bindgen(method)]
    pub(super) fn registered(this: &JsHost, name: &str);
    #[wasm_bindgen(method)]
    pub(super) fn wake(this: &JsHost);
    #[wasm_bindgen(method)]
    pub(super) fn arm(this: &JsHost, milliseconds: f64);
    #[wasm_bindgen(method)]
    pub(super) fn start(this: &JsHost, key: u32, id: &str, handler: &JsValue, params: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn stop(this: &JsHost, key: u32, reason: Option<&str>);
    #[wasm_bindgen(method)]
    pub(super) fn ended(this: &JsHost, key: u32);
    #[wasm_bindgen(method)]
    pub(super) fn post(this: &JsHost, connection: u32, envelope: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn check(this: &JsHost, key: u32, name: &str, params: &JsValue) -> JsValue;
    #[wasm_bindgen(method)]
    pub(super) fn answer(this: &JsHost, key: u32, response: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn emit(this: &JsHost, event: &JsValue);
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

#[wasm_bindgen(module = "/src/web/js/platform.js")]
extern "C" {
    /// Milliseconds that never go back.
    pub(super) fn now() -> f64;
    /// Unix milliseconds.
    pub(super) fn unix() -> f64;
    /// Fills with random bytes fit for identifiers.
    #[wasm_bindgen(js_name = fillRandom)]
    pub(super) fn fill_random(bytes: &mut [u8]);
    /// An object's own properties in a new object; of `null`, an empty one.
    pub(super) fn copy(object: &JsValue) -> JsValue;
    /// What stands at a path.
    pub(super) fn get(object: &JsValue, path: &str) -> JsValue;
    /// The bits of `dialect::shape`.
    pub(super) fn shape(object: &JsValue, path: &str) -> u32;
    #[wasm_bindgen(js_name = textOf)]
    pub(super) fn text_of(object: &JsValue, path: &str) -> Option<String>;
    #[wasm_bindgen(js_name = numberOf)]
    pub(super) fn number_of(object: &JsValue, path: &str) -> Option<f64>;
    #[wasm_bindgen(js_name = booleanOf)]
    pub(super) fn boolean_of(object: &JsValue, path: &str) -> Option<bool>;
    #[wasm_bindgen(js_name = isObject)]
    pub(super) fn is_object(value: &JsValue) -> bool;
    /// Sets a property of an object of our own.
    pub(super) fn put(object: &JsValue, key: &str, value: &JsValue);
    #[wasm_bindgen(js_name = put)]
    pub(super) fn put_text(object: &JsValue, key: &str, text: &str);
    #[wasm_bindgen(js_name = put)]
    pub(super) fn put_number(object: &JsValue, key: &str, number: f64);
    #[wasm_bindgen(js_name = put)]
    pub(super) fn put_boolean(object: &JsValue, key: &str, boolean: bool);
    pub(super) fn array() -> JsValue;
    pub(super) fn push(array: &JsValue, element: &JsValue);
    /// The `Capability` object that agents get, of what an app says of it.
    pub(super) fn describe(name: &str, options: &JsValue) -> JsValue;
    /// An error as JavaScript throws it.
    #[wasm_bindgen(js_name = abpError)]
    pub(super) fn abp_error(code: &str, message: &str, retryable: bool) -> JsValue;
    /// What is wrong with a value that is to be sent, if anything.
    pub(super) fn inspect(value: &JsValue, depth: u32, size: f64) -> JsValue;
    /// Fires an `AbortController` with the reason a caller gave, if any.
    #[cfg(feature = "std")]
    #[wasm_bindgen(js_name = abortWith)]
    pub(super) fn abort_with(controller: &web_sys::AbortController, reason: Option<&str>);
    /// Runs a callback in a task of its own, after what waits in the event loop.
    #[cfg(feature = "std")]
    #[wasm_bindgen(js_name = inNextTask)]
    pub(super) fn in_next_task(callback: &JsValue);
}
