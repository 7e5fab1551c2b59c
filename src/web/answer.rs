//! The app's answers to a cancel, and to a call that has not completed.

use std::fmt;
use std::time::Duration;

use wasm_bindgen::JsValue;

use crate::call::{Code, Stop};
use crate::web::object::get;
use crate::web::{Error, failure, some};

/// The error of a cancelled child. The cancel of the child has not stopped its parent. For the
/// parent it is therefore an error of the operation, which the parent may pass on or ignore.
pub(super) const CHILD_CANCELLED: &str = "The call this one waited for was cancelled";

const TIMED_OUT: &str = "The call was cancelled: its time was up";

/// The reason why a call has no data.
///
/// ```no_run
/// use caphost::{CallError, Code};
///
/// fn say(result: Result<u32, CallError>) -> String {
///     match result {
///         Ok(primes) => format!("{primes} primes"),
///         Err(CallError::Cancelled { timed_out: true, .. }) => "that takes too long".into(),
///         Err(CallError::Cancelled { stop, .. }) => format!("stopped: {stop}"),
///         // It has run. To call again would run it again.
///         Err(error) if error.is_decode() => format!("counted, and answered with {:?}", error.data()),
///         Err(error) => match error.code() {
///             Code::DISCONNECTED => "the app is gone".into(),
///             _ => error.to_string(),
///         },
///     }
/// }
/// ```
///
/// In a capability, `?` converts this error into an [`Error`]. There, a cancelled call counts as a
/// failed call: its cancel has not stopped the capability that made it. An error about unreadable
/// data keeps [`Code::DECODE_FAILED`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The call was cancelled. This is certain: there is no result, and there will be none.
    #[non_exhaustive]
    Cancelled {
        /// How far the call was seen to stop.
        stop: Stop,
        /// Whether the time of [`Call::with_timeout`](crate::Call::with_timeout) was up. If false,
        /// somebody cancelled the call: its caller, the app, or the capability itself.
        timed_out: bool,
    },
    /// The call has failed. With [`Code::TIMEOUT`], [`Code::DISCONNECTED`] and
    /// [`Code::TRANSPORT_ERROR`], its outcome is unknown.
    Failed(Error),
    /// The call has completed, but its data cannot be read as the expected type. The capability has
    /// done its work, and another call would do the work again.
    Decode {
        /// The `ABPResponse` as it arrived, with its `data` and `metadata`.
        response: JsValue,
        /// The problem with the data.
        message: String,
    },
}

impl CallError {
    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, CallError::Cancelled { .. })
    }

    /// Whether the call was cancelled because the time of
    /// [`Call::with_timeout`](crate::Call::with_timeout) was up.
    pub fn is_timeout(&self) -> bool {
        matches!(
            self,
            CallError::Cancelled {
                timed_out: true,
                ..
            }
        )
    }

    /// Whether the call has completed, but its data could not be read.
    pub fn is_decode(&self) -> bool {
        matches!(self, CallError::Decode { .. })
    }

    /// The unreadable data, as they arrived.
    pub fn data(&self) -> Option<JsValue> {
        match self {
            CallError::Decode { response, .. } => Some(get(response, "data")),
            _ => None,
        }
    }

    /// How far a cancelled call was seen to stop.
    pub fn stop(&self) -> Option<Stop> {
        match self {
            CallError::Cancelled { stop, .. } => Some(*stop),
            _ => None,
        }
    }

    /// [`Code::CANCELLED`] of a cancelled call, [`Code::DECODE_FAILED`] of a completed call, or the
    /// code of the call's error.
    pub fn code(&self) -> &Code {
        const CANCELLED: &Code = &Code::CANCELLED;
        const DECODE_FAILED: &Code = &Code::DECODE_FAILED;
        match self {
            CallError::Cancelled { .. } => CANCELLED,
            CallError::Failed(error) => &error.code,
            CallError::Decode { .. } => DECODE_FAILED,
        }
    }

    /// The message, for people.
    pub fn message(&self) -> &str {
        match self {
            CallError::Cancelled {
                timed_out: true, ..
            } => TIMED_OUT,
            CallError::Cancelled { .. } => "The call was cancelled",
            CallError::Failed(error) => &error.message,
            CallError::Decode { message, .. } => message,
        }
    }

    /// The error of a failed call, with its `details` and the other fields.
    pub fn error(&self) -> Option<&Error> {
        match self {
            CallError::Failed(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Cancelled { stop, .. } => write!(f, "{} ({stop})", self.message()),
            CallError::Failed(error) => error.fmt(f),
            CallError::Decode { message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error()?.source()
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Cancelled { .. } => Error::new(Code::OPERATION_FAILED, CHILD_CANCELLED),
            CallError::Failed(error) => error,
            CallError::Decode { message, .. } => Error::new(Code::DECODE_FAILED, message),
        }
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        CallError::Failed(error)
    }
}

impl From<CallError> for JsValue {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Cancelled { .. } => Error::new(Code::CANCELLED, error.to_string()).into(),
            error => Error::from(error).into(),
        }
    }
}

/// The outcome of a cancel: its confirmation, or the reason why there is none.
///
/// ```no_run
/// async fn stop(agent: &caphost::Agent) {
///     let answer = agent.cancel("my-call", Some("The user has left")).await;
///     match (answer.cancelled, answer.stop) {
///         (true, Some(stop)) => web_sys::console::log_1(&stop.as_str().into()),
///         _ => web_sys::console::log_1(&answer.reason.into()),
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CancelResponse {
    /// The id of the call.
    pub call_id: String,
    /// Whether the call was cancelled. If so, the call's own response says so, too.
    pub cancelled: bool,
    /// Why the call was not cancelled, in the words of the protocol: `Operation not found`,
    /// `Operation already completed`.
    pub reason: Option<String>,
    /// How far a cancelled call was seen to stop.
    pub stop: Option<Stop>,
    /// How the handler of an abandoned call ended later.
    pub ended: Option<HandlerEnd>,
    /// The error of the cancel itself.
    pub error: Option<Error>,
}

/// How the handler of a call ended after the call was answered with [`Stop::Abandoned`].
///
/// ```no_run
/// use caphost::{Agent, HandlerEnd};
///
/// /// Whether what a call was doing goes on, as far as that is known.
/// async fn may_go_on(agent: &Agent, call_id: &str) -> bool {
///     match agent.cancel(call_id, None).await.ended {
///         Some(HandlerEnd { success, after, .. }) => {
///             web_sys::console::log_1(&format!("{success} after {after:?}").into());
///             false
///         }
///         None => true,
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HandlerEnd {
    /// Whether the handler returned data. The data was discarded.
    pub success: bool,
    /// The time from the end of the call to the end of the handler.
    pub after: Duration,
}

impl CancelResponse {
    pub(in crate::web) fn read(response: &JsValue) -> Self {
        let cancelled = get(response, "cancelled") == true;
        let ended = within(&within(response, "metadata"), "ended");
        CancelResponse {
            call_id: get(response, "callId").as_string().unwrap_or_default(),
            cancelled,
            reason: get(response, "reason").as_string(),
            stop: cancelled.then(|| stop_of(response)),
            ended: within(&ended, "after").as_f64().map(|after| HandlerEnd {
                success: get(&ended, "success") == true,
                after: Duration::try_from_secs_f64(after / 1_000.0).unwrap_or_default(),
            }),
            error: some(get(response, "error")).map(|error| Error::of(failure::read(&error))),
        }
    }
}

pub(super) fn stop_of(response: &JsValue) -> Stop {
    let word = within(&get(response, "metadata"), "stop").as_string();
    Stop::of_peer(word.as_deref())
}

/// A property of a value that may be undefined. For a `Reflect.get` that throws, wasm-bindgen keeps
/// one reference forever.
fn within(object: &JsValue, key: &str) -> JsValue {
    match object.is_object() {
        true => get(object, key),
        false => JsValue::UNDEFINED,
    }
}
