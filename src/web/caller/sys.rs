//! The raw bindings to the JavaScript agent.

use js_sys::Promise;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// Returns a promise of a [`JsAgent`]. `class` is [`crate::web::AgentHandle`] in JavaScript.
    #[wasm_bindgen(js_name = connectFromRust)]
    pub fn connect(class: &JsValue, way: &str, to: &JsValue, options: &JsValue) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    /// A promise of an `ABPResponse`.
    pub type Answer;

    /// Returns the same promise. Calls a function once the promise has settled; the function may
    /// free itself.
    #[wasm_bindgen(method)]
    pub fn finally(this: &Answer, settled: &JsValue) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    /// `Agent` in js/agent.js. None of these methods throws. None of their promises rejects unless
    /// the comment says so.
    pub type JsAgent;

    #[wasm_bindgen(method)]
    pub fn call(this: &JsAgent, capability: &str, params: &JsValue, options: &JsValue) -> Answer;
    /// A promise of a `CancelResponse`.
    #[wasm_bindgen(method)]
    pub fn cancel(this: &JsAgent, call: &str, reason: Option<&str>) -> Promise;
    /// A promise of an array of `Capability` objects. It may reject.
    #[wasm_bindgen(method, js_name = listCapabilities)]
    pub fn list_capabilities(this: &JsAgent) -> Promise;
    #[wasm_bindgen(method)]
    pub fn shutdown(this: &JsAgent, params: &JsValue) -> Promise;
    #[wasm_bindgen(method, getter)]
    pub fn closed(this: &JsAgent) -> Promise;
    #[wasm_bindgen(method, getter, js_name = sessionId)]
    pub fn session_id(this: &JsAgent) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    pub fn app(this: &JsAgent) -> JsValue;
}
