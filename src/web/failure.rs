//! An error of the core as a JavaScript object, an `ABPError`, in both directions.

use wasm_bindgen::JsValue;

use super::object::{get, put, texts, texts_of};
use super::{some, sys};
use crate::call::{self, Millis};

/// An error of the core, with details that are a JavaScript value. Hosts and agents use this type.
pub(super) type Failure = call::Error<JsValue>;

/// An `ABPError`.
pub(super) fn error(error: &Failure) -> JsValue {
    let none = JsValue::UNDEFINED;
    let details = error.details.as_ref().unwrap_or(&none);
    let code = error.code.as_str();
    let after = or_nan(error.retry_after);
    let written = sys::error(code, &error.message, error.retryable, after, details);
    if !error.alternatives.is_empty() {
        put(&written, "alternatives", texts_of(&error.alternatives));
    }
    written
}

/// An error as `failureOf` in `read.js` splits it up. Without `retryable`, the code determines
/// whether the error is retryable.
pub(super) fn read(object: &JsValue) -> Failure {
    let text = |key| get(object, key).as_string().unwrap_or_default();
    let mut error = Failure::new(text("code"), text("message"));
    if let Some(retryable) = get(object, "retryable").as_bool() {
        error.retryable = retryable;
    }
    error.retry_after = get(object, "retryAfter").as_f64();
    error.alternatives = texts(object, "alternatives").unwrap_or_default();
    error.details = some(get(object, "details"));
    error
}

/// A time for JavaScript, which reads a missing time as NaN.
pub(super) fn or_nan(time: Option<Millis>) -> f64 {
    time.unwrap_or(f64::NAN)
}
