//! Plain JavaScript objects whose members Rust reads or names.

use js_sys::Reflect;
use wasm_bindgen::{JsCast, JsValue};

use super::{Failure, some, sys};
use crate::offers::{Descriptor, Ending};

pub(super) fn object() -> JsValue {
    js_sys::Object::new().into()
}

/// A new object with the same properties.
pub(super) fn copy(of: &JsValue) -> JsValue {
    js_sys::Object::assign(
        js_sys::Object::new().unchecked_ref(),
        of.unchecked_ref::<js_sys::Object>(),
    )
    .into()
}

/// Sets a property of an object of our own, which accepts any property.
pub(super) fn put(object: &JsValue, key: &str, value: impl Into<JsValue>) {
    let _ = Reflect::set(object, &key.into(), &value.into());
}

/// A property; undefined if it cannot be read.
pub(super) fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

pub(super) fn array(elements: &[JsValue]) -> JsValue {
    let array = sys::array();
    for element in elements {
        sys::push(&array, element);
    }
    array
}

/// An array of texts.
pub(super) fn texts_of(texts: &[impl AsRef<str>]) -> JsValue {
    let array = sys::array();
    for text in texts {
        sys::push_text(&array, text.as_ref());
    }
    array
}

/// Adds the names of capabilities that may serve instead to an `ABPError`.
pub(super) fn name_alternatives(error: &JsValue, names: &[String]) {
    if !names.is_empty() {
        put(error, "alternatives", texts_of(names));
    }
}

/// The names of capabilities that may serve instead of a failed capability or of a described one.
fn alternatives(object: &JsValue) -> Vec<String> {
    texts(object, "alternatives").unwrap_or_default()
}

/// The texts of a property that is an array; `None` if there is no such property.
pub(super) fn texts(object: &JsValue, key: &str) -> Option<Vec<String>> {
    let texts = some(get(object, key))?;
    Some((0..).map_while(|at| sys::text_at(&texts, at)).collect())
}

/// An error as `failureOf` in `read.js` splits it up. Without `retryable`, the code determines
/// whether the error is retryable.
pub(super) fn error(object: &JsValue) -> Failure {
    let text = |key| get(object, key).as_string().unwrap_or_default();
    let mut error = Failure::new(text("code"), text("message"));
    if let Some(retryable) = get(object, "retryable").as_bool() {
        error.retryable = retryable;
    }
    error.retry_after = get(object, "retryAfter").as_f64();
    error.alternatives = alternatives(object);
    error.details = some(get(object, "details"));
    error
}

/// A capability whose options have been checked. If the options set a grace, it takes precedence
/// over the grace of `ending`.
pub(super) fn descriptor(
    name: &str,
    options: &JsValue,
    document: JsValue,
    mut ending: Ending,
) -> Descriptor<JsValue> {
    if let (Ending::Told { grace } | Ending::Forced { grace, .. }, Some(own)) =
        (&mut ending, get(options, "settleGrace").as_f64())
    {
        *grace = own;
    }
    Descriptor {
        name: name.into(),
        concurrency: get(options, "concurrency").as_f64().map(|it| it as usize),
        available: get(options, "available") != false,
        alternatives: alternatives(&document),
        ending,
        checked: !get(options, "inputSchema").is_undefined(),
        document,
    }
}
