//! A `JsValue` as a dialect's value.

use alloc::string::String;
use alloc::vec::Vec;
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::sys;
use crate::dialect::Value;

impl Value for JsValue {
    fn get(&self, key: &str) -> Option<Self> {
        if !self.is_object() {
            return None;
        }
        let value = Reflect::get(self, &key.into()).ok()?;
        (!value.is_undefined()).then_some(value)
    }

    fn is_object(&self) -> bool {
        JsValue::is_object(self) && !Array::is_array(self)
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

    fn as_array(&self) -> Option<Vec<Self>> {
        self.dyn_ref::<Array>().map(|array| array.iter().collect())
    }

    fn text(text: &str) -> Self {
        text.into()
    }

    fn number(number: f64) -> Self {
        number.into()
    }

    fn boolean(boolean: bool) -> Self {
        boolean.into()
    }

    fn array(elements: Vec<Self>) -> Self {
        elements.into_iter().collect::<Array>().into()
    }

    fn null() -> Self {
        JsValue::NULL
    }

    fn object(properties: &[(&'static str, Self)]) -> Self {
        with(Object::new().into(), properties)
    }

    fn extended(&self, properties: &[(&'static str, Self)]) -> Self {
        with(sys::copy(self), properties)
    }
}

fn with(object: JsValue, properties: &[(&'static str, JsValue)]) -> JsValue {
    for (key, value) in properties {
        // Setting a property of a plain object of our own cannot fail.
        let _ = Reflect::set(&object, &(*key).into(), value);
    }
    object
}
