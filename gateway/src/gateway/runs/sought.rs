//! Combines what the workers say of an id.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use crate::broker::runs::{Found, Run, RunId, RunMark};
use crate::cluster::WorkerId;

/// Why there may be unknown runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// Redis does not answer, so no worker can be asked.
    Redis,
    /// How many workers have not answered, or are gone while no worker has taken over their runs yet.
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

/// Each run once. The run of its own worker is preferred to the copy of a worker that has adopted it.
pub(super) fn merged<R>(
    all: impl IntoIterator<Item = Placed<R>>,
    mark: impl Fn(&R) -> RunMark,
) -> Vec<Placed<R>> {
    let mut places = HashMap::new();
    let mut merged: Vec<Placed<R>> = Vec::new();
    for placed in all {
        let is = mark(&placed.run);
        match places.entry(is.id) {
            Entry::Vacant(place) => {
                place.insert(merged.len());
                merged.push(placed);
            }
            Entry::Occupied(place) => {
                let known = &mut merged[*place.get()];
                if mark(&known.run).adopted && !is.adopted {
                    *known = placed;
                }
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::broker::runs::{Dialect, Ending, NewRun, Runs};
    use crate::tokens::Identity;

    fn run(dialect_id: &str, ended: bool) -> Arc<Run> {
        run_until(dialect_id, ended.then_some(2))
    }

    fn run_until(dialect_id: &str, ended: Option<u64>) -> Arc<Run> {
        let (mut runs, id) = (Runs::default(), RunId::random());
        runs.register(
            NewRun {
                id,
                dialect: Dialect::Mcp,
                dialect_id: Some(dialect_id.into()),
                owner: Identity::anyone(),
                agent: None,
                thread: None,
                app: None,
                capability: "a.b".into(),
                call_id: "c".into(),
            },
            1,
        );
        if let Some(at) = ended {
            runs.end(id, Ending::Completed, at);
        }
        runs.shared(id).unwrap()
    }

    fn adopted(run: &Arc<Run>) -> Arc<Run> {
        let (mut runs, id) = (Runs::default(), run.id);
        runs.adopt(vec![run.clone()], Uuid::nil(), |_| false, 3);
        runs.shared(id).unwrap()
    }

    fn mark(run: &Arc<Run>) -> RunMark {
        RunMark::from(&**run)
    }

    fn one(found: Found<Placed<RunMark>>) -> Placed<RunMark> {
        match found {
            Found::One(placed) => placed,
            other => panic!("{other:?}"),
        }
    }

    fn here(runs: impl IntoIterator<Item = Arc<Run>>) -> Vec<Placed<RunMark>> {
        runs.into_iter()
            .map(|run| Placed::here(mark(&run)))
            .collect()
    }

    fn there(run: &Arc<Run>) -> Placed<RunMark> {
        Placed::there(WorkerId::random(), mark(run))
    }

    #[test]
    fn a_run_is_as_its_own_worker_knows_it() {
        let (run, home) = (run("1", false), WorkerId::random());
        let (copy, own) = (adopted(&run), Placed::there(home, mark(&run)));
        for all in [
            [Placed::here(mark(&copy)), own.clone()],
            [there(&copy), own],
        ] {
            let found = one(meant("1", merged(all, |it| *it), false));
            assert!(!found.run.adopted && found.home == Some(home));
        }
    }

    #[test]
    fn a_run_id_comes_before_a_dialect_id_that_looks_like_it() {
        let run_there = run("1", true);
        let id = run_there.id.to_string();
        for cancels in [false, true] {
            let found = vec![Placed::here(mark(&run(&id, false))), there(&run_there)];
            let found = one(meant(&id, found, cancels));
            assert!(found.run.id.to_string() == id);
        }
    }

    #[test]
    fn a_cancel_by_an_id_of_several_runs_means_the_one_in_flight_or_the_last_to_end() {
        let [old, new, flying] = [Some(2), Some(3), None].map(|at| run_until("1", at));
        let meant = |runs: &[&Arc<Run>], cancels| {
            let mut found = here(runs.iter().map(|run| Arc::clone(run)));
            found.push(there(&new));
            meant("1", found, cancels)
        };
        assert_eq!(one(meant(&[&old], true)).run.id, new.id);
        assert!(!one(meant(&[&old], true)).is_here());
        assert_eq!(one(meant(&[&old, &flying], true)).run.id, flying.id);
        let another = run("1", false);
        let several = meant(&[&old, &flying, &another], true);
        assert!(matches!(several, Found::Several(runs) if runs.len() == 2));
        let read = meant(&[&old], false);
        assert!(matches!(read, Found::Several(_)), "only a cancel may guess");
    }
}
