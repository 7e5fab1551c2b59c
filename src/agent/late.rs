//! What the host says about the end of a call. A late answer counts too, even if the agent has
//! given up. It does not change what the agent has said, but later cancels get the true answer.

use super::action::CancelOutcome;
use crate::call::{CancelAnswer, End};

impl<P> CancelOutcome<P> {
    /// How the call ended, if this answer says so.
    pub(super) fn end(&self) -> Option<End> {
        let refused = self.reason.as_deref().filter(|_| self.error.is_none());
        match self.grade {
            Some(grade) => Some(End::Cancelled(grade.stop)),
            None => says_completed(refused).then_some(End::Completed),
        }
    }
}

/// Any other reason does not tell what became of the call.
pub(super) fn says_completed(reason: Option<&str>) -> bool {
    reason.is_some() && reason == CancelAnswer::AlreadyCompleted.reason()
}
