//! Combines what the workers say of an id.

use std::fmt;
use std::sync::Arc;

use crate::broker::calls::{Found, Run, RunId, RunMark};
use crate::cluster::WorkerId;

/// Why there may be unknown runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// Redis does not answer, so no worker can be asked.
    Redis,
    /// How many workers have not answered, or may not have come yet.
    Workers(usize),
    /// The requester has too many searches in progress.
    Busy,
    /// There is no room in the queues to other workers.
    Full,
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsure::Redis => {
                f.write_str("Redis does not answer: there may be more on other workers")
            }
            Unsure::Busy => f.write_str(
                "Too many of your searches are in progress: there may be more on other workers",
            ),
            Unsure::Full => f.write_str("Not all workers can be told now: try again"),
            Unsure::Workers(1) => f.write_str("A worker does not answer: there may be more on it"),
            Unsure::Workers(count) => {
                write!(
                    f,
                    "{count} workers do not answer: there may be more on them"
                )
            }
        }
    }
}

/// Why nobody knows a run: the run was, or may have been, on a worker that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The id names a worker that is gone.
    ItsWorker,
    /// A caller has chosen the id, and some worker is gone.
    SomeWorker,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Gone::ItsWorker => "The worker of this run is gone: the outcome of the run is unknown",
            Gone::SomeWorker => {
                "No worker has this run. It may have been on a worker that is gone: then its outcome is unknown"
            }
        })
    }
}

/// A run and its worker.
#[derive(Clone, Debug)]
pub struct Placed<R = Arc<Run>> {
    /// The run.
    pub run: R,
    /// The worker that has the run. `None` means this worker.
    pub(crate) home: Option<WorkerId>,
    /// Whether all workers that may have a matching run were asked.
    pub(super) sure: bool,
}

impl<R> Placed<R> {
    pub(super) fn here(run: R) -> Self {
        Placed {
            run,
            home: None,
            sure: true,
        }
    }

    pub(super) fn there(worker: WorkerId, run: R) -> Self {
        Placed {
            home: Some(worker),
            ..Placed::here(run)
        }
    }

    /// Whether the run belongs to this worker.
    pub fn is_here(&self) -> bool {
        self.home.is_none()
    }

    /// Whether no other run can be meant.
    pub fn is_sure(&self) -> bool {
        self.sure
    }
}

/// What an id means, as far as the workers say.
#[derive(Clone, Debug)]
pub enum Sought {
    /// No run that the requester may see.
    None,
    /// Exactly one run.
    One(Box<Placed>),
    /// Several runs, by their own ids.
    Several(Vec<RunId>),
    /// No run on the workers that have answered, but not all workers have answered.
    Unsure(Unsure),
    /// No run on any worker that is left, and a worker is gone.
    Gone(Gone),
}

/// Decides which of the `found` runs an id means. If `cancels` is true and all matching runs have ended, the
/// last to end is meant, because nothing can be cancelled by mistake.
pub(super) fn meant(
    request_id: &str,
    mut found: Vec<Placed<RunMark>>,
    cancels: bool,
) -> Found<Placed<RunMark>> {
    let own = request_id.parse::<RunId>().ok();
    let is_own = |it: &Placed<RunMark>| Some(it.run.id) == own;
    if found.iter().any(is_own) {
        found.retain(is_own);
    } else if cancels && found.iter().all(|it| it.run.is_over) {
        let end = |it: &Placed<RunMark>| (it.run.ended_at, it.run.registered_at);
        found = found.into_iter().max_by_key(end).into_iter().collect();
    }
    Found::among_by(found, |it| it.run)
}

#[cfg(test)]
mod tests;
