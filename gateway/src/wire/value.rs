//! What a dialect needs to know of a value.

/// What stands at a path, as bits, so that several can be asked for at once.
pub mod shape {
    #![allow(missing_docs)]
    /// Nothing, or undefined.
    pub const MISSING: u32 = 1;
    /// An object that is no array.
    pub const OBJECT: u32 = 2;
    pub const ARRAY: u32 = 4;
    pub const TEXT: u32 = 8;
    pub const NUMBER: u32 = 16;
    pub const BOOLEAN: u32 = 32;
    /// `null`, or what JSON does not know.
    pub const OTHER: u32 = 64;
}

/// A JSON-like value, such as a `serde_json::Value`.
pub trait Value: Clone {
    /// What stands at a path, such as `options.callId`; `None` when it is missing.
    fn get(&self, path: &str) -> Option<Self>;
    /// The [`shape`] of what stands at a path.
    fn shape(&self, path: &str) -> u32;
    /// Whether it is an object, and no array.
    fn is_object(&self) -> bool;
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

    /// Sets a property to a number that is written without a fraction.
    fn put_integer(&mut self, key: &str, integer: i32) {
        self.put_number(key, integer.into());
    }

    /// The text at a path, if it is a string.
    fn text_of(&self, path: &str) -> Option<String> {
        self.get(path)?.as_text()
    }

    /// The number at a path.
    fn number_of(&self, path: &str) -> Option<f64> {
        self.get(path)?.as_number()
    }

    /// The boolean at a path.
    fn boolean_of(&self, path: &str) -> Option<bool> {
        self.get(path)?.as_boolean()
    }

    /// Sets a property, if there is a value for it.
    fn put_some(&mut self, key: &str, value: Option<&Self>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }
}

mod json {
    use super::{Value, shape};
    use serde_json::Value as Json;

    impl Value for Json {
        fn get(&self, path: &str) -> Option<Self> {
            let mut keys = path.split('.');
            keys.try_fold(self, |value, key| Json::get(value, key))
                .cloned()
        }

        fn shape(&self, path: &str) -> u32 {
            match Value::get(self, path) {
                None => shape::MISSING,
                Some(Json::Object(_)) => shape::OBJECT,
                Some(Json::Array(_)) => shape::ARRAY,
                Some(Json::String(_)) => shape::TEXT,
                Some(Json::Number(_)) => shape::NUMBER,
                Some(Json::Bool(_)) => shape::BOOLEAN,
                Some(Json::Null) => shape::OTHER,
            }
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

        fn put_integer(&mut self, key: &str, integer: i32) {
            self[key] = integer.into();
        }
    }
}
