//! What the host says of how a call ended. It counts also when it comes after the agent has given up:
//! it changes nothing that was said, and whoever asks again is told.

use super::CancelOutcome;
use crate::call::{CancelAnswer, End};

impl<P> CancelOutcome<P> {
    /// How the call ended, if this says so.
    pub(super) fn end(&self) -> Option<End> {
        let refused = self.reason.as_deref().filter(|_| self.error.is_none());
        match self.stop {
            Some(stop) => Some(End::Cancelled(stop)),
            None => says_completed(refused).then_some(End::Completed),
        }
    }
}

/// Any other reason leaves open what became of the call.
pub(super) fn says_completed(reason: Option<&str>) -> bool {
    reason.is_some() && reason == CancelAnswer::AlreadyCompleted.reason()
}
