//! The raw bindings to the JavaScript files of this module. None of these functions throws.
//!
//! The parts of an envelope cross the boundary flat, as arguments. The files in `js` read and
//! write the envelope itself.

use std::string::String;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// An `ABPError`. `retry_after` is NaN if there is none, and `details` may be undefined.
    #[wasm_bindgen(js_name = errorOf)]
    pub(in crate::web) fn error(
        code: &str,
        message: &str,
        retryable: bool,
        retry_after: f64,
        details: &JsValue,
    ) -> JsValue;
    /// How the handler of an abandoned call has ended.
    #[wasm_bindgen(js_name = lateEnd)]
    pub(in crate::web) fn late_end(success: bool, after: f64) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// A thrown value, split up for [`super::failure::read`].
    #[wasm_bindgen(js_name = failureOf)]
    pub(in crate::web) fn failure_of(thrown: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// A JavaScript error with the fields of an `ABPError`.
    pub(in crate::web) fn thrown(error: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// A Rust closure for JavaScript to call. It does nothing once the module is lost.
    pub(in crate::web) fn guard(closure: &JsValue) -> JsValue;
    /// A monotonic time in milliseconds.
    pub(in crate::web) fn now() -> f64;
    pub(in crate::web) fn array() -> JsValue;
    pub(in crate::web) fn push(array: &JsValue, element: &JsValue);
    #[wasm_bindgen(js_name = push)]
    pub(in crate::web) fn push_text(array: &JsValue, element: &str);
    /// An element of an array, if it exists and is text.
    #[wasm_bindgen(js_name = textAt)]
    pub(in crate::web) fn text_at(array: &JsValue, index: u32) -> Option<String>;
}
