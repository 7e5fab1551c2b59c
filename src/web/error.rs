//! What `?` makes an error of a capability of, and what becomes of one that JavaScript gets.

use std::error::Error as StdError;
use std::time::Duration;

use wasm_bindgen::{JsError, JsValue};

use super::caller::CallError;
use super::{Error, object, perform, sys};
use crate::call::Code;

impl Error {
    /// Whatever else went wrong, with [`Code::OPERATION_FAILED`]: an error of a library, or a text.
    /// It is said together with what has caused it. An [`Error`] in a box stays as it is.
    ///
    /// `?` does the same for what JavaScript throws, the errors of serde, those of the standard
    /// library, and errors in boxes. No type can convert all of Rust's errors and those of JavaScript,
    /// so the errors of other libraries take this:
    ///
    /// ```no_run
    /// use caphost::{CallContext, Error};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Order {
    ///     amount: String,
    ///     page: String,
    ///     id: String,
    /// }
    ///
    /// async fn place(order: Order, _: CallContext) -> Result<u64, Error> {
    ///     let amount: u64 = order.amount.trim().parse()?; // of the standard library
    ///     js_sys::decode_uri(&order.page)?; // thrown by JavaScript
    ///     uuid::Uuid::parse_str(&order.id).map_err(Error::other)?; // of another library
    ///     Ok(amount)
    /// }
    /// ```
    pub fn other(error: impl Into<Box<dyn StdError>>) -> Self {
        let error = match error.into().downcast::<Error>() {
            Ok(own) => return *own,
            Err(error) => error,
        };
        let error = match error.downcast::<CallError>() {
            Ok(call) => return (*call).into(),
            Err(error) => error,
        };
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        Error::new(Code::OPERATION_FAILED, message)
    }

    /// Adds how long to wait before the request is repeated.
    pub fn with_retry_after(mut self, time: Duration) -> Self {
        self.retry_after = Some(time.as_secs_f64() * 1_000.0);
        self
    }
}

/// What JavaScript throws: a `code` that is text is kept, and of anything without one the message.
impl From<JsValue> for Error {
    fn from(thrown: JsValue) -> Self {
        object::error(&sys::failure_of(&thrown))
    }
}

impl From<JsError> for Error {
    fn from(error: JsError) -> Self {
        JsValue::from(error).into()
    }
}

/// A `CapHostError`, which has the fields of an `ABPError`: an exported function may return one.
impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        sys::thrown(&perform::error(&error))
    }
}

impl From<Box<dyn StdError + Send + Sync>> for Error {
    fn from(error: Box<dyn StdError + Send + Sync>) -> Self {
        let error: Box<dyn StdError> = error;
        Error::other(error)
    }
}

macro_rules! from {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Error::other(error)
            }
        }
    )*};
}

from! {
    Box<dyn StdError>,
    serde_wasm_bindgen::Error,
    std::array::TryFromSliceError,
    std::char::ParseCharError,
    std::fmt::Error,
    std::io::Error,
    std::num::ParseFloatError,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::str::ParseBoolError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
}

#[cfg(feature = "serde_json")]
from! { serde_json::Error }
