//! What an app's answer counts as. Page, gateway and command line read the members of an answer, each
//! from its own form of JSON, and decide by these functions. The vectors of
//! `tests/conformance/abp/answers.json` hold all of them.

use crate::call::{Code, Grade};

/// What an answer to a call counts as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The call has completed.
    Succeeded,
    /// The call has failed.
    Failed,
    /// The call has failed in a way that tells nobody what has become of it.
    Undecided,
    /// The call is cancelled, and its stop was seen this far.
    Cancelled(Grade),
    /// The answer is no `ABPResponse`.
    Unreadable,
}

impl Answer {
    /// Decides by the members `success` and `cancelled`, as far as they are booleans, `error.code`, as far
    /// as that is a text, and `metadata`.
    pub fn of(
        success: Option<bool>,
        cancelled: Option<bool>,
        code: Option<&str>,
        metadata: Grade,
    ) -> Self {
        match (success, cancelled, code) {
            (None, ..) => Answer::Unreadable,
            // A call that has succeeded was not cancelled, whatever else the answer says.
            (Some(true), ..) => Answer::Succeeded,
            (Some(false), Some(true), _) => Answer::Cancelled(metadata),
            // A cancelled call in the form of a failure: nothing of its stop was seen.
            (_, _, Some(code)) if code == Code::CANCELLED => Answer::Cancelled(Grade::default()),
            (_, _, Some(code)) if Code::leaves_open(code) => Answer::Undecided,
            _ => Answer::Failed,
        }
    }
}

/// What an answer to a cancel counts as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Confirmation {
    /// The call is cancelled, and its stop was seen this far.
    Cancelled(Grade),
    /// The call is not cancelled.
    Refused {
        /// The app knows no such session.
        lost_session: bool,
    },
    /// The answer is no `CancelResponse`.
    Unreadable,
}

impl Confirmation {
    /// Decides by the member `cancelled`, as far as it is a boolean, by `error`, as far as it is an object,
    /// with its `code`, as far as that is a text, and by `metadata`.
    pub fn of(cancelled: Option<bool>, error: bool, code: Option<&str>, metadata: Grade) -> Self {
        match cancelled {
            Some(true) if !error => Confirmation::Cancelled(metadata),
            Some(true) => Confirmation::Unreadable,
            None if !error => Confirmation::Unreadable,
            _ => Confirmation::Refused {
                lost_session: error && code.is_some_and(Code::says_no_session),
            },
        }
    }
}

#[cfg(test)]
mod tests;
