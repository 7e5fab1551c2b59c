//! Plain JavaScript values that Rust makes and reads.

use js_sys::Reflect;
use wasm_bindgen::convert::TryFromJsValue;
use wasm_bindgen::{JsCast, JsValue};

use super::{some, sys};
use crate::call::{Stop, StoppedBy};

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

/// The class of a struct of ours, as JavaScript has it.
pub(super) fn class_of<T: Into<JsValue> + TryFromJsValue>(value: T) -> JsValue {
    let object = value.into();
    let class = get(&object, "constructor");
    // Takes the object back. Otherwise a finalizer would run for the object when it is garbage,
    // perhaps while the page is kept for a later return: the browser then discards the page.
    drop(T::try_from_js_value(object));
    class
}

/// Sets a property of an object of our own, which accepts any property.
pub(super) fn put(object: &JsValue, key: &str, value: impl Into<JsValue>) {
    let _ = Reflect::set(object, &key.into(), &value.into());
}

/// A property; undefined if it cannot be read.
pub(super) fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

/// An array of texts.
pub(super) fn texts_of(texts: &[impl AsRef<str>]) -> JsValue {
    let array = sys::array();
    for text in texts {
        sys::push_text(&array, text.as_ref());
    }
    array
}

/// The texts of a property that is an array; `None` if there is no such property.
pub(super) fn texts(object: &JsValue, key: &str) -> Option<Vec<String>> {
    Some(elements(&some(get(object, key))?))
}

/// The texts of an array.
pub(super) fn elements(array: &JsValue) -> Vec<String> {
    (0..).map_while(|at| sys::text_at(array, at)).collect()
}

/// How far a call was seen to stop, as a word. The words are made once: decoding a word takes
/// longer than the rest of the confirmation of a cancel.
fn word(stop: Stop) -> JsValue {
    thread_local! {
        static WORDS: [JsValue; 5] = Stop::ALL.map(|stop| JsValue::from_str(stop.as_str()));
    }
    WORDS.with(|words| words[stop as usize].clone())
}

/// The same, with the step that stopped the call, if the step is known: `{ stop, step, took }`.
pub(super) fn seen(stop: Stop, by: Option<StoppedBy>) -> JsValue {
    let word = word(stop);
    let Some(by) = by else { return word };
    let metadata = object();
    put(&metadata, "stop", word);
    put(&metadata, "step", by.step.as_str());
    put(&metadata, "took", by.took);
    metadata
}
