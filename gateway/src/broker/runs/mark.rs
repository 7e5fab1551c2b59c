//! What of a run tells which one an id means: no more of it goes to a worker that asks.

use serde::{Deserialize, Serialize};

use super::{Run, RunId};

/// A run as far as an id may mean it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct RunMark {
    /// See [`Run::id`].
    pub id: RunId,
    /// See [`Run::adopted`].
    pub adopted: bool,
    /// Whether nothing more will happen.
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
            adopted: run.adopted,
            is_over: run.state.is_over(),
            registered_at: run.registered_at,
            ended_at: run.ended_at,
        }
    }
}
