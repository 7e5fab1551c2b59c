//! What a dialect needs to know of a value.

use alloc::string::String;
use alloc::vec::Vec;

/// A JSON-like value: a `JsValue` in a page, a `serde_json::Value` elsewhere.
pub trait Value: Clone {
    /// A property of an object; `None` when there is none, or it is undefined.
    fn get(&self, key: &str) -> Option<Self>;
    /// Whether it is an object, and no array.
    fn is_object(&self) -> bool;
    /// Its text, if it is a string.
    fn as_text(&self) -> Option<String>;
    /// Its value, if it is a number.
    fn as_number(&self) -> Option<f64>;
    /// Its value, if it is a boolean.
    fn as_boolean(&self) -> Option<bool>;
    /// Its elements, if it is an array.
    fn as_array(&self) -> Option<Vec<Self>>;

    /// A string.
    fn text(text: &str) -> Self;
    /// A number.
    fn number(number: f64) -> Self;
    /// A boolean.
    fn boolean(boolean: bool) -> Self;
    /// An array.
    fn array(elements: Vec<Self>) -> Self;
    /// `null`.
    fn null() -> Self;
    /// An object with these properties, in this order.
    fn object(properties: &[(&'static str, Self)]) -> Self;
    /// The properties of an object, and some more that win over its own.
    fn extended(&self, properties: &[(&'static str, Self)]) -> Self;
}

#[cfg(any(test, all(feature = "gateway", not(target_arch = "wasm32"))))]
mod json {
    use super::Value;
    use serde_json::Value as Json;

    impl Value for Json {
        fn get(&self, key: &str) -> Option<Self> {
            Json::get(self, key).cloned()
        }

        fn is_object(&self) -> bool {
            Json::is_object(self)
        }

        fn as_text(&self) -> Option<String> {
            self.as_str().map(String::from)
        }

        fn as_number(&self) -> Option<f64> {
            self.as_f64()
        }

        fn as_boolean(&self) -> Option<bool> {
            self.as_bool()
        }

        fn as_array(&self) -> Option<Vec<Self>> {
            Json::as_array(self).cloned()
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
            Json::Array(elements)
        }

        fn null() -> Self {
            Json::Null
        }

        fn object(properties: &[(&'static str, Self)]) -> Self {
            let entries = properties.iter().cloned();
            Json::Object(entries.map(|(key, value)| (key.into(), value)).collect())
        }

        fn extended(&self, properties: &[(&'static str, Self)]) -> Self {
            let mut object = self.as_object().cloned().unwrap_or_default();
            object.extend(
                properties
                    .iter()
                    .map(|(key, value)| ((*key).into(), value.clone())),
            );
            Json::Object(object)
        }
    }
}
