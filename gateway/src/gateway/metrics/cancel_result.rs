//! What came of cancels.

use crate::broker::runs::{Ended, RunState};

/// What came of a cancel, once for each run that was asked to be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelResult {
    /// The run is cancelled.
    Confirmed,
    /// The run had another end before the cancel came to it.
    TooLate,
    /// The app said no, and the run goes on.
    Refused,
    /// Nobody knows: the app or the agent went away.
    Unconfirmed,
}

impl CancelResult {
    pub(super) const ALL: [CancelResult; 4] = [
        CancelResult::Confirmed,
        CancelResult::TooLate,
        CancelResult::Refused,
        CancelResult::Unconfirmed,
    ];

    /// Its name in metrics and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            CancelResult::Confirmed => "confirmed",
            CancelResult::TooLate => "too_late",
            CancelResult::Refused => "refused",
            CancelResult::Unconfirmed => "unconfirmed",
        }
    }

    /// Of a run that has ended, if it was asked to be cancelled.
    pub fn of(ended: Ended) -> Option<Self> {
        ended.cancel_requested_at?;
        match ended.state {
            RunState::Cancelled => Some(CancelResult::Confirmed),
            RunState::Completed | RunState::Failed => Some(CancelResult::TooLate),
            RunState::Unknown => Some(CancelResult::Unconfirmed),
            RunState::Queued | RunState::Running | RunState::Cancelling => None,
        }
    }
}
