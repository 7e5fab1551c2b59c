//! The error of a capability: its fields, the conversions for `?`, and its form in JavaScript.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use wasm_bindgen::{JsError, JsValue};

use super::answer::CallError;
use super::{Failure, failure, millis, sys};
use crate::call::Code;

/// The reason why a capability, or another request of an app or an agent, did not work.
///
/// If a capability returns an error, the caller gets all of these fields. Agents decide by `code`,
/// and people read `message`.
///
/// ```no_run
/// use caphost::{Code, Error};
/// use std::time::Duration;
///
/// fn save(bytes: &[u8]) -> Result<(), Error> {
///     match bytes.len() {
///         0 => Err(Error::new(Code::INVALID_PARAMS, "There is nothing to be saved")),
///         // A code of the app's own.
///         1_000_000.. => Err(Error::new("TOO_LARGE", "At most a megabyte is saved")
///             .with_details(js_sys::Object::new())),
///         100_000.. => Err(Error::new(Code::RATE_LIMITED, "The disk is busy")
///             .with_retry_after(Duration::from_secs(2))),
///         _ => Ok(()),
///     }
/// }
///
/// fn is_worth_another_try(error: &Error) -> bool {
///     match error.code {
///         Code::TIMEOUT | Code::DISCONNECTED => false, // nobody knows whether it has run
///         _ => error.retryable,
///     }
/// }
/// ```
///
/// # Made with `?`
///
/// | Of | Becomes |
/// |---|---|
/// | a `JsValue` or `JsError`, thrown by JavaScript | its `code`, if that is text, and its message, details and the rest |
/// | a [`CallError`] | the error of the call |
/// | an [`Aborted`](crate::Aborted) | [`Code::CANCELLED`] |
/// | errors of the standard library, of serde-wasm-bindgen, and with the feature `serde_json` of serde_json | [`Code::OPERATION_FAILED`] and what the error says |
/// | a `Box<dyn std::error::Error>` | the [`Error`] that is in it, or else as above |
///
/// In Rust, no type can convert all Rust errors and also JavaScript's errors. The errors of other
/// libraries therefore need `.map_err(Error::other)?`, see [`Error::other`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Error {
    /// The code, for programs.
    pub code: Code,
    /// The message, for people.
    pub message: Cow<'static, str>,
    /// Whether repeating the same request may succeed. [`Error::new`] derives this from the code.
    pub retryable: bool,
    /// How long to wait before the request is repeated.
    pub retry_after: Option<Duration>,
    /// Names of capabilities that may serve instead.
    pub alternatives: Vec<String>,
    /// Further details. For invalid parameters, they have the `path` of the wrong parameter.
    pub details: Option<JsValue>,
    source: Option<Rc<dyn StdError>>,
}

impl Error {
    /// An error with a code of ABP, such as [`Code::PERMISSION_DENIED`], or with a code of the
    /// app's own, such as `"TOO_LARGE"`. The code determines whether the error is retryable.
    pub fn new(code: impl Into<Code>, message: impl Into<Cow<'static, str>>) -> Self {
        Error::of(Failure::new(code, message))
    }

    /// [`Code::INVALID_PARAMS`] with a message.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Code::INVALID_PARAMS, message)
    }

    /// A handler returns this error to say that it has stopped by itself. Its call then counts as
    /// cancelled.
    pub fn cancelled() -> Self {
        Error::of(Failure::cancelled())
    }

    /// Any other error, with [`Code::OPERATION_FAILED`]: an error of a library, or a text. An
    /// [`Error`] in a box stays as it is.
    ///
    /// Agents get the message of `error` itself, without its causes: a cause may name files and
    /// hosts that agents must not see. The app finds the cause with [`source`](StdError::source).
    /// If agents should read the causes, include them in the message:
    /// `Error::new(Code::OPERATION_FAILED, format!("{error:#}"))` with an error of `anyhow`.
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
        let mut made = Error::new(Code::OPERATION_FAILED, error.to_string());
        made.source = Some(error.into());
        made
    }

    /// Sets whether repeating the same request may succeed, if the code does not determine that. An
    /// error with a code of the app's own is not retryable by default.
    pub fn with_retryable(mut self, yes: bool) -> Self {
        self.retryable = yes;
        self
    }

    /// Sets how long to wait before the request is repeated.
    pub fn with_retry_after(mut self, time: Duration) -> Self {
        self.retry_after = Some(time);
        self
    }

    /// Sets the names of capabilities that may serve instead.
    pub fn with_alternatives<T: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = T>,
    ) -> Self {
        self.alternatives = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets further details for programs. They are sent, so they must be plain data.
    pub fn with_details(mut self, details: impl Into<JsValue>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// Converts an error of the core.
    pub(super) fn of(failure: Failure) -> Self {
        let it = failure.into_parts();
        let time = |it: f64| Duration::try_from_secs_f64(it / 1_000.0).ok();
        Error {
            code: it.code,
            message: it.message,
            retryable: it.retryable,
            retry_after: it.retry_after.and_then(time),
            alternatives: it.alternatives,
            details: it.details,
            source: None,
        }
    }

    pub(super) fn into_failure(self) -> Failure {
        let mut failure = Failure::new(self.code, self.message);
        failure.retryable = self.retryable;
        failure.retry_after = self.retry_after.map(millis);
        failure.alternatives = self.alternatives;
        failure.details = self.details;
        failure
    }
}

/// The code and the message.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Shows only the fields that are set.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = f.debug_struct("Error");
        said.field("code", &self.code)
            .field("message", &self.message);
        said.field("retryable", &self.retryable);
        if let Some(time) = &self.retry_after {
            said.field("retry_after", time);
        }
        if !self.alternatives.is_empty() {
            said.field("alternatives", &self.alternatives);
        }
        if let Some(details) = &self.details {
            said.field("details", details);
        }
        if let Some(source) = &self.source {
            said.field("source", source);
        }
        said.finish()
    }
}

/// An error that was made with [`Error::other`] or `?` has a source.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref()
    }
}

/// An error that JavaScript throws. A `code` that is text is kept. Otherwise only the message is
/// kept.
impl From<JsValue> for Error {
    fn from(thrown: JsValue) -> Self {
        Error::of(failure::read(&sys::failure_of(&thrown)))
    }
}

impl From<JsError> for Error {
    fn from(error: JsError) -> Self {
        JsValue::from(error).into()
    }
}

/// A `CapHostError`, which has the fields of an `ABPError`. An exported function may return this
/// error.
impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        sys::thrown(&failure::error(&error.into_failure()))
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
