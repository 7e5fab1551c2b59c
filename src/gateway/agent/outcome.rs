//! How calls and cancels end.

use serde_json::Value;

use crate::agent::CancelOutcome;
use crate::call::{Code, Error};
use crate::dialect::abp;

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

    /// `INVALID_PARAMS`
    pub fn invalid_params(message: impl Into<String>) -> Self {
        AbpError::new(Code::INVALID_PARAMS, message)
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
        AbpError {
            code: text("code").unwrap_or_else(|| Code::OPERATION_FAILED.as_str().into()),
            message: text("message").unwrap_or_else(|| "The app did not say what failed".into()),
            retryable: body["retryable"] == true,
            body,
        }
    }
}

impl From<&Error<Value>> for AbpError {
    fn from(error: &Error<Value>) -> Self {
        AbpError::read(abp::error(error))
    }
}

impl From<&crate::gateway::wire::Failure> for AbpError {
    fn from(error: &crate::gateway::wire::Failure) -> Self {
        AbpError::read(crate::gateway::wire::error_json(error))
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
    Cancelled,
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
            return Outcome::Cancelled;
        }
        Outcome::Failed(AbpError::read(response["error"].take()))
    }
}

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// True only for a confirmed fact.
    pub cancelled: bool,
    /// Why not.
    pub reason: Option<String>,
    /// What went wrong, if anything did.
    pub error: Option<AbpError>,
}

impl Confirmation {
    /// It is cancelled.
    pub const CANCELLED: Confirmation = Confirmation {
        cancelled: true,
        reason: None,
        error: None,
    };

    /// The cancel itself has failed.
    pub fn failed(error: AbpError) -> Self {
        Confirmation {
            cancelled: false,
            reason: Some(error.message.clone()),
            error: Some(error),
        }
    }
}

impl From<CancelOutcome<Value>> for Confirmation {
    fn from(outcome: CancelOutcome<Value>) -> Self {
        let error = outcome.error.map(|error| match error {
            Ok(body) => AbpError::read(body),
            Err(found) => AbpError::from(&found),
        });
        Confirmation {
            cancelled: outcome.cancelled,
            reason: outcome.reason,
            error,
        }
    }
}
