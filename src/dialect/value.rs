//! What a dialect needs to know of a value.

use alloc::string::String;

/// A JSON-like value: a `JsValue` in a page, a `serde_json::Value` elsewhere.
pub trait Value: Clone {
    /// A property of an object; `None` when there is none, or it is undefined.
    fn get(&self, key: &str) -> Option<Self>;
    /// Whether it is an object, and no array.
    fn is_object(&self) -> bool;
    /// Whether it is an array.
    fn is_array(&self) -> bool;
    /// Its text, if it is a string.
    fn as_text(&self) -> Option<String>;
    /// Its value, if it is a number.
    fn as_number(&self) -> Option<f64>;
    /// Its value, if it is a boolean.
    fn as_boolean(&self) -> Option<bool>;

    /// A string.
    fn text(text: &str) -> Self;
    /// `null`.
    fn null() -> Self;
    /// An empty array.
    fn array() -> Self;
    /// Adds an element to an array just made.
    fn push(&mut self, element: Self);
    /// An empty object.
    fn object() -> Self;
    /// The properties of an object, in a new one.
    fn copy(&self) -> Self;
    /// Sets a property of an object just made.
    fn put(&mut self, key: &str, value: &Self);
    /// Sets a property to a string.
    fn put_text(&mut self, key: &str, text: &str);
    /// Sets a property to a number.
    fn put_number(&mut self, key: &str, number: f64);
    /// Sets a property to a boolean.
    fn put_boolean(&mut self, key: &str, boolean: bool);

    /// The text of a property that is a string.
    fn text_of(&self, key: &str) -> Option<String> {
        self.get(key)?.as_text()
    }

    /// The value of a property that is a number.
    fn number_of(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_number()
    }

    /// The value of a property that is a boolean.
    fn boolean_of(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_boolean()
    }

    /// Sets a property, if there is a value for it.
    fn put_some(&mut self, key: &str, value: Option<&Self>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }
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

        fn is_array(&self) -> bool {
            Json::is_array(self)
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

        fn text(text: &str) -> Self {
            text.into()
        }

        fn null() -> Self {
            Json::Null
        }

        fn array() -> Self {
            Json::Array(Vec::new())
        }

        fn push(&mut self, element: Self) {
            if let Json::Array(elements) = self {
                elements.push(element);
            }
        }

        fn object() -> Self {
            Json::Object(serde_json::Map::new())
        }

        fn copy(&self) -> Self {
            self.as_object().cloned().unwrap_or_default().into()
        }

        fn put(&mut self, key: &str, value: &Self) {
            self[key] = value.clone();
        }

        fn put_text(&mut self, key: &str, text: &str) {
            self[key] = text.into();
        }

        fn put_number(&mut self, key: &str, number: f64) {
            self[key] = number.into();
        }

        fn put_boolean(&mut self, key: &str, boolean: bool) {
            self[key] = boolean.into();
        }
    }
}
