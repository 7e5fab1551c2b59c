//! How a call ended.

use super::{Error, Millis, Stop, StoppedBy};

/// How a call ended. The first event that ends a call decides; no later event changes that.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<P> {
    /// The handler returned data.
    Completed(P),
    /// The handler failed, or the call was refused.
    Failed(Error<P>),
    /// The call was stopped: by a cancel, a timeout, a shutdown, a lost transport, or by itself.
    /// How far the stop was seen.
    Cancelled(Stop),
}

impl<P> Outcome<P> {
    /// Whether the response says `cancelled: true`.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Outcome::Cancelled(_))
    }
}

impl<P> From<Result<P, Error<P>>> for Outcome<P> {
    fn from(result: Result<P, Error<P>>) -> Self {
        match result {
            Ok(data) => Outcome::Completed(data),
            Err(error) => Outcome::Failed(error),
        }
    }
}

/// What the caller is told: the outcome, and how long the call took on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Response<P> {
    /// How it ended.
    pub outcome: Outcome<P>,
    /// Milliseconds from acceptance to the end. `None` for a call that was refused.
    pub duration: Option<Millis>,
    /// What has stopped the call, if it was stopped and that is known.
    pub by: Option<StoppedBy>,
}

impl<P> Response<P> {
    /// The response to a call that was never accepted.
    pub fn refused(error: Error<P>) -> Self {
        Response {
            outcome: Outcome::Failed(error),
            duration: None,
            by: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Code;

    #[test]
    fn only_a_cancelled_outcome_is_cancelled() {
        assert!(Outcome::<()>::Cancelled(Stop::Abandoned).is_cancelled());
        let failed = Outcome::<()>::from(Err(Error::new(Code::CANCELLED, "no")));
        assert!(!failed.is_cancelled());
        assert!(!Outcome::from(Ok(())).is_cancelled());
    }
}
