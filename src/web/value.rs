//! A `JsValue` as a dialect's value.

use alloc::string::String;

use wasm_bindgen::JsValue;

use super::sys;
use crate::dialect::Value;

impl Value for JsValue {
    fn get(&self, path: &str) -> Option<Self> {
        let value = sys::get(self, path);
        (!value.is_undefined()).then_some(value)
    }

    fn is_object(&self) -> bool {
        sys::is_object(self)
    }

    fn shape(&self, path: &str) -> u32 {
        sys::shape(self, path)
    }

    fn as_text(&self) -> Option<String> {
        self.as_string()
    }

    fn as_number(&self) -> Option<f64> {
        self.as_f64()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.as_bool()
    }

    fn text(text: &str) -> Self {
        text.into()
    }

    fn null() -> Self {
        JsValue::NULL
    }

    fn array() -> Self {
        sys::array()
    }

    fn push(&mut self, element: Self) {
        sys::push(self, &element);
    }

    fn object() -> Self {
        sys::copy(&JsValue::NULL)
    }

    fn copy(&self) -> Self {
        sys::copy(self)
    }

    fn put(&mut self, key: &str, value: &Self) {
        sys::put(self, key, value);
    }

    fn put_text(&mut self, key: &str, text: &str) {
        sys::put_text(self, key, text);
    }

    fn put_number(&mut self, key: &str, number: f64) {
        sys::put_number(self, key, number);
    }

    fn put_boolean(&mut self, key: &str, boolean: bool) {
        sys::put_boolean(self, key, boolean);
    }

    fn text_of(&self, path: &str) -> Option<String> {
        sys::text_of(self, path)
    }

    fn number_of(&self, path: &str) -> Option<f64> {
        sys::number_of(self, path)
    }

    fn boolean_of(&self, path: &str) -> Option<bool> {
        sys::boolean_of(self, path)
    }
}
