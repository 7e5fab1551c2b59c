//! How calls and cancels end.

use serde_json::Value;

use crate::broker::{CancelOutcome, Reply};
use crate::wire::{Json, members};
use caphost::call::{Code, Error, Stop, StoppedBy};

/// An `ABPError`.
#[derive(Clone, Debug, PartialEq)]
pub struct AbpError {
    /// The error code, for programs.
    pub code: String,
    /// The error message, for people.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// The whole error.
    pub body: Value,
}

impl AbpError {
    /// An error of the gateway itself.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        AbpError::from(&Error::<Value>::new(code, message.into()))
    }

    /// The app, or the connection to it, is gone.
    pub fn disconnected() -> Self {
        AbpError::new(
            Code::DISCONNECTED,
            "The app is disconnected: the outcome is unknown",
        )
    }

    /// Reads an error of an app.
    pub fn read(body: Value) -> Self {
        let text = |key: &str| body[key].as_str().map(str::to_string);
        let code = text("code").unwrap_or_else(|| Code::OPERATION_FAILED.as_str().into());
        AbpError {
            message: text("message").unwrap_or_else(|| "The app did not say what failed".into()),
            retryable: body["retryable"]
                .as_bool()
                .unwrap_or_else(|| Code::from(code.clone()).retryable()),
            code,
            body,
        }
    }
}

impl From<&Error<Value>> for AbpError {
    fn from(error: &Error<Value>) -> Self {
        AbpError::read(crate::wire::error_json(error))
    }
}

impl From<&crate::wire::Failure> for AbpError {
    fn from(error: &crate::wire::Failure) -> Self {
        AbpError::read(crate::wire::error_json(error))
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The call has returned its result.
    Done {
        /// The handler's return value, as JSON without line breaks. `None` means null.
        data: Option<Json>,
        /// `{duration, cached?}`, if the app sent it.
        metadata: Option<Value>,
    },
    /// The call failed.
    Failed(AbpError),
    /// The call is cancelled, and the app or the gateway confirms it.
    Cancelled {
        /// The reason that was given, if there is one.
        reason: Option<String>,
        /// How far the work was seen to stop.
        stop: Stop,
        /// What has stopped the work, if the app says so.
        by: Option<StoppedBy>,
    },
}

/// The next step of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The call reports progress: a `ProgressInfo`.
    Progress(Value),
    /// The app asks a question: its number, and the request. Only a client that takes questions gets these.
    Question(u64, Value),
    /// The question with that number needs no answer any more.
    Withdrawn(u64),
    /// The call is over, and no step follows.
    Ended(Outcome),
}

impl Outcome {
    /// Reads the `ABPResponse` of a call that is not cancelled.
    pub fn read(response: &Json) -> Self {
        Outcome::parse(response).unwrap_or_else(|error| {
            let message = format!("The answer cannot be read: {error}");
            Outcome::Failed(AbpError::new(Code::TRANSPORT_ERROR, message))
        })
    }

    /// The data stays text: it may be large, and most callers only pass it on.
    fn parse(response: &Json) -> serde_json::Result<Self> {
        let (mut is_success, mut data, mut metadata) = (false, None, None);
        members(response.as_str().as_bytes(), |key, value| match key {
            "success" => is_success = value == b"true",
            "data" => data = str::from_utf8(value).ok(),
            "metadata" => metadata = Some(value),
            _ => {}
        });
        if is_success {
            let data = data.filter(|it| *it != "null");
            let data = data.map(|it| response.part(it).in_one_line());
            let metadata = metadata.map(serde_json::from_slice);
            return Ok(Outcome::Done {
                data,
                metadata: metadata.transpose()?,
            });
        }
        let mut response = response.value()?;
        let error = response.get_mut("error").map(Value::take);
        let error = AbpError::read(error.unwrap_or_default());
        Ok(Outcome::Failed(error))
    }
}

/// The result of a cancel.
pub type Confirmation = CancelOutcome<AbpError>;

impl Confirmation {
    /// The cancel itself has failed.
    pub fn failed(error: AbpError) -> Self {
        Confirmation::refused(Some(error.message.clone()), Some(error))
    }
}

impl From<CancelOutcome> for Confirmation {
    fn from(outcome: CancelOutcome) -> Self {
        outcome.with_error(|error| match error {
            Reply::Json(error) => AbpError::read(error.value().unwrap_or_default()),
            Reply::Failed(error) => AbpError::from(&error),
        })
    }
}

#[cfg(test)]
mod tests;
