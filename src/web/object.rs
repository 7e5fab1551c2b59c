//! Plain JavaScript objects, for what an app in Rust describes.

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};

pub(super) fn object() -> JsValue {
    js_sys::Object::new().into()
}

/// Sets a property of an object of our own, which takes any.
pub(super) fn put(object: &JsValue, key: &str, value: impl Into<JsValue>) {
    let _ = Reflect::set(object, &key.into(), &value.into());
}

/// A property; undefined for what cannot be read.
pub(super) fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

/// Adds the names of capabilities that may serve instead to an `ABPError`.
pub(super) fn name_alternatives(error: &JsValue, names: &[String]) {
    if !names.is_empty() {
        let names: Array = names.iter().map(|name| JsValue::from_str(name)).collect();
        put(error, "alternatives", names.unchecked_into::<JsValue>());
    }
}
