//! What has happened to runs, for metrics and logs.

use super::{Dialect, Run, RunId};

/// One event in the life of a run.
#[derive(Clone, Debug)]
pub enum News {
    /// Its call has come.
    Registered(Dialect),
    /// Somebody has asked, for the first time, that it be cancelled.
    CancelRequested(RunId),
    /// It was not cancelled after all, and goes on.
    CancelRefused(RunId, Dialect),
    /// It is over.
    Ended(Box<Run>),
}
