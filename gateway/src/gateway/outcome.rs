//! How calls and cancels end.

use serde_json::Value;

use crate::broker::{CancelOutcome, Reply};
use crate::wire::stops::{self, Grade};
use caphost::call::{Code, Error, Stop, StoppedBy};

/// An `ABPError`.
#[derive(Clone, Debug, PartialEq)]
pub struct AbpError {
    /// What a program decides on.
    pub code: String,
    /// What a person reads.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// The whole error.
    pub body: Value,
}

impl AbpError {
    /// One of the gateway's own.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        AbpError::from(&Error::<Value>::new(code, message.into()))
    }

    /// The app, or the way to it, is gone.
    pub fn disconnected() -> Self {
        AbpError::new(
            Code::DISCONNECTED,
            "The app is disconnected: the outcome is unknown",
        )
    }

    /// Reads an error as an app wrote it.
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
    /// With what it was to return.
    Done {
        /// What the handler returned.
        data: Option<Value>,
        /// `{duration, cached?}`, if the app says.
        metadata: Option<Value>,
    },
    /// It failed.
    Failed(AbpError),
    /// It is cancelled, and that is a fact.
    Cancelled {
        /// The reason that was given, if one is known.
        reason: Option<String>,
        /// By the caller, and not by an operator, a timeout or the app.
        by_caller: bool,
        /// How far the stop was seen.
        stop: Stop,
        /// What has stopped it, if the app says.
        by: Option<StoppedBy>,
    },
}

/// What a call does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It says how far it is: a `ProgressInfo`.
    Progress(Value),
    /// It is over, and nothing follows.
    Ended(Outcome),
}

impl Outcome {
    /// Reads an `ABPResponse`.
    pub fn read(mut response: Value) -> Self {
        if response["success"] == true {
            let mut take = |key: &str| response.get_mut(key).map(Value::take);
            let data = take("data");
            return Outcome::Done {
                data,
                metadata: take("metadata"),
            };
        }
        if response["cancelled"] == true {
            return Outcome::cancelled(stops::of(&response));
        }
        Outcome::Failed(AbpError::read(response["error"].take()))
    }

    /// A cancelled call of which no more is known than its grade.
    pub fn cancelled(grade: Grade) -> Self {
        Outcome::Cancelled {
            reason: None,
            by_caller: false,
            stop: grade.stop,
            by: grade.by,
        }
    }
}

/// What came of a cancel.
pub type Confirmation = CancelOutcome<AbpError>;

impl Confirmation {
    /// The cancel itself has failed.
    pub fn failed(error: AbpError) -> Self {
        Confirmation::refused(Some(error.message.clone()), Some(error))
    }
}

impl From<CancelOutcome> for Confirmation {
    fn from(outcome: CancelOutcome) -> Self {
        let error = outcome.error.map(|error| match error {
            Reply::Json(error) => AbpError::read(error.value().unwrap_or_default()),
            Reply::Failed(error) => AbpError::from(&error),
        });
        let CancelOutcome {
            stop,
            by,
            ended,
            reason,
            ..
        } = outcome;
        CancelOutcome {
            stop,
            by,
            ended,
            reason,
            error,
        }
    }
}
