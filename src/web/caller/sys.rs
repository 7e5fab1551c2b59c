//! The raw bindings to the agent in JavaScript.

use js_sys::Promise;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// `class` is [`crate::web::AgentHandle`] in JavaScript. A promise of a [`JsAgent`].
    #[wasm_bindgen(js_name = connectFromRust)]
    pub fn connect(class: &JsValue, way: &str, to: &JsValue, options: &JsValue) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    /// A promise of an `ABPResponse`.
    pub type Answer;

    /// The same, once a function was called, which may free itself then.
    #[wasm_bindgen(method)]
    pub fn finally(this: &Answer, settled: &JsValue) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    /// `Agent` in js/agent.js. None of these methods throws, and none of their promises rejects
    /// unless it says so.
    pub type JsAgent;

    #[wasm_bindgen(method)]
    pub fn call(this: &JsAgent, capability: &str, params: &JsValue, options: &JsValue) -> Answer;
    /// A promise of a `CancelResponse`.
    #[wasm_bindgen(method)]
    pub fn cancel(this: &JsAgent, call: &str, reason: Option<&str>) -> Promise;
    /// A promise of an array of `Capability` objects, which may reject.
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
