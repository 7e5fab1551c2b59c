//! The failures of capabilities.

use std::fmt;

/// The failure of a call: one of the protocol's error codes, and a message for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// `MISSING_PARAM`, `INVALID_PARAMS`, `NOT_SUPPORTED` or `OPERATION_FAILED`.
    pub code: &'static str,
    /// What went wrong, in one sentence.
    pub message: String,
}

impl Failure {
    /// A required parameter is missing.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new("MISSING_PARAM", message)
    }

    /// A parameter has an unusable value.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new("INVALID_PARAMS", message)
    }

    /// The work itself failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new("OPERATION_FAILED", message)
    }

    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}
