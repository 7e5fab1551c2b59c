//! What workers ask each other.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::broker::runs::{Run, RunId};
use crate::tokens::Identity;
use crate::wire::stops;
use caphost::call::{LateEnd, Stop};

/// What is asked of another worker about its runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Question {
    /// Those an id may mean: [`Answer::Runs`].
    Find {
        /// A run's own id, or a dialect's.
        request_id: String,
        /// Who asks.
        viewer: Identity,
    },
    /// All in flight and the newest that have ended: [`Answer::Runs`].
    List {
        /// Who asks.
        viewer: Identity,
        /// How many of those that have ended.
        ended: usize,
    },
    /// Cancel one, and say what came of it: [`Answer::Cancelled`].
    Cancel {
        /// Which one.
        run: RunId,
        /// Why.
        reason: Option<String>,
        /// Who asks.
        by: Identity,
    },
}

/// What is answered.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Answer {
    /// Runs.
    Runs {
        /// Those that were asked for.
        runs: Vec<Run>,
        /// How many that have ended were left out.
        omitted: usize,
    },
    /// What came of a cancel.
    Cancelled {
        /// Whether it is a fact that it is cancelled.
        cancelled: bool,
        /// Why not.
        reason: Option<String>,
        /// The `ABPError` with it.
        error: Option<Value>,
        /// How far the stop was seen. Older workers do not say.
        #[serde(default, with = "stops::word")]
        stop: Option<Stop>,
        /// How the handler has ended since it was abandoned.
        #[serde(default, with = "stops::late")]
        ended: Option<LateEnd>,
    },
}
