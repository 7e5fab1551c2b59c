//! What has happened to runs, for metrics and logs.

use super::{Dialect, EarlyCancel, Run, RunId, RunState};
use caphost::call::{LateEnd, Stop};

/// One event in the life of a run.
#[derive(Clone, Debug)]
pub enum News {
    /// Its call has come.
    Registered(RunId, Dialect),
    /// Somebody has asked, for the first time, that it be cancelled.
    CancelRequested(RunId),
    /// It was not cancelled after all, and goes on.
    CancelRefused(RunId, Dialect),
    /// It is over.
    Ended(Ended),
    /// It was cancelled as abandoned, and its handler has ended since.
    EndedLate(RunId, Dialect, LateEnd),
    /// A cancel that had come before its run has met it.
    EarlyTaken(Box<EarlyCancel>),
    /// It is not remembered any more.
    Forgotten(RunId),
}

/// How a run ended, without whatever takes time to copy. Times are Unix milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Which run.
    pub id: RunId,
    /// See [`Run::dialect`].
    pub dialect: Dialect,
    /// In which state.
    pub state: RunState,
    /// See [`Run::registered_at`].
    pub registered_at: u64,
    /// See [`Run::ended_at`].
    pub ended_at: u64,
    /// See [`Run::cancel_requested_at`].
    pub cancel_requested_at: Option<u64>,
    /// See [`Run::cancelled_at`].
    pub cancelled_at: Option<u64>,
    /// See [`Run::stop`].
    pub stop: Option<Stop>,
}

impl From<&Run> for Ended {
    fn from(run: &Run) -> Self {
        Ended {
            id: run.id,
            dialect: run.dialect,
            state: run.state,
            registered_at: run.registered_at,
            ended_at: run.ended_at.unwrap_or(run.registered_at),
            cancel_requested_at: run.cancel_requested_at,
            cancelled_at: run.cancelled_at,
            stop: run.stop(),
        }
    }
}
