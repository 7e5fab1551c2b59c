//! The part of a run that tells which run an id means. Workers that search get no more than this.

use serde::{Deserialize, Serialize};

use super::{Run, RunId};

/// The part of a run that decides whether an id means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct RunMark {
    /// See [`Run::id`].
    pub id: RunId,
    /// Whether the run has ended.
    pub is_over: bool,
    /// See [`Run::registered_at`].
    pub registered_at: u64,
    /// See [`Run::ended_at`].
    pub ended_at: Option<u64>,
}

impl From<&Run> for RunMark {
    fn from(run: &Run) -> Self {
        RunMark {
            id: run.id,
            is_over: run.state.is_over(),
            registered_at: run.registered_at,
            ended_at: run.ended_at,
        }
    }
}
