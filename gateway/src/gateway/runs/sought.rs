//! What the workers say of an id, put together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use crate::broker::runs::{Found, Run, RunId};
use crate::cluster::WorkerId;

/// Why there may be runs that are not known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// Redis does not answer, so nobody can be asked.
    Redis,
    /// How many workers have not answered, or are gone with their runs not taken over yet.
    Workers(usize),
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsure::Redis => {
                f.write_str("Redis does not answer: there may be more on other workers")
            }
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

/// A run, and where it is.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The run.
    pub run: Arc<Run>,
    /// Its worker; none for this one.
    pub(crate) home: Option<WorkerId>,
    /// Whether all workers were asked for others that may be meant, as far as was needed.
    sure: bool,
}

impl Placed {
    pub(super) fn here(run: Arc<Run>) -> Self {
        Placed {
            run,
            home: None,
            sure: true,
        }
    }

    pub(super) fn there(worker: WorkerId, run: Arc<Run>) -> Self {
        Placed {
            home: Some(worker),
            ..Placed::here(run)
        }
    }

    /// Whether it is a run of this worker.
    pub fn is_here(&self) -> bool {
        self.home.is_none()
    }

    /// Whether no other can be meant.
    pub fn is_sure(&self) -> bool {
        self.sure
    }
}

/// What an id means, as far as the workers say.
#[derive(Clone, Debug)]
pub enum Sought {
    /// No run that may be seen.
    None,
    /// Exactly one.
    One(Box<Placed>),
    /// Several, by their own ids.
    Several(Vec<RunId>),
    /// No run on the workers that have answered, but not all have.
    Unsure(Unsure),
}

impl Sought {
    /// What somebody means by an id, of those that are `found` here and elsewhere. Who `cancels` means of
    /// several that have all ended the last to end, as nothing can be cancelled by mistake.
    pub(super) fn among(
        request_id: &str,
        mut found: Vec<Placed>,
        unsure: Option<Unsure>,
        cancels: bool,
    ) -> Sought {
        let own = request_id.parse::<RunId>().ok();
        let is_own = |it: &Placed| Some(it.run.id) == own;
        if found.iter().any(is_own) {
            found.retain(is_own);
        } else if cancels && found.iter().all(|it| it.run.state.is_over()) {
            let end = |it: &Placed| (it.run.ended_at, it.run.registered_at);
            found = found.into_iter().max_by_key(end).into_iter().collect();
        }
        let runs = found.iter().map(|it| it.run.clone()).collect();
        match (Found::among(runs), unsure) {
            (Found::None, None) => Sought::None,
            (Found::None, Some(unsure)) => Sought::Unsure(unsure),
            (Found::Several(runs), _) => Sought::Several(runs),
            (Found::One(run), _) => {
                let home = found.iter().find(|it| it.run.id == run.id);
                let home = home.and_then(|it| it.home);
                let sure = unsure.is_none();
                Sought::One(Box::new(Placed { run, home, sure }))
            }
        }
    }
}

/// Each run once: as its own worker knows it, rather than one that has adopted it.
pub(super) fn merged(all: impl IntoIterator<Item = Placed>) -> Vec<Placed> {
    let mut places = HashMap::new();
    let mut merged: Vec<Placed> = Vec::new();
    for placed in all {
        match places.entry(placed.run.id) {
            Entry::Vacant(place) => {
                place.insert(merged.len());
                merged.push(placed);
            }
            Entry::Occupied(place) => {
                let known = &mut merged[*place.get()];
                if known.run.adopted && !placed.run.adopted {
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

    fn one(sought: Sought) -> Box<Placed> {
        match sought {
            Sought::One(placed) => placed,
            other => panic!("{other:?}"),
        }
    }

    fn here(runs: impl IntoIterator<Item = Arc<Run>>) -> Vec<Placed> {
        runs.into_iter().map(Placed::here).collect()
    }

    fn there(run: &Arc<Run>) -> Placed {
        Placed::there(WorkerId::random(), run.clone())
    }

    #[test]
    fn a_run_is_as_its_own_worker_knows_it() {
        let (run, home) = (run("1", false), WorkerId::random());
        let (copy, own) = (adopted(&run), Placed::there(home, run));
        for all in [
            [Placed::here(copy.clone()), own.clone()],
            [there(&copy), own],
        ] {
            let found = one(Sought::among("1", merged(all), None, false));
            assert!(!found.run.adopted && found.home == Some(home) && found.is_sure());
        }
    }

    #[test]
    fn a_run_id_comes_before_a_dialect_id_that_looks_like_it() {
        let run_there = run("1", true);
        let id = run_there.id.to_string();
        for cancels in [false, true] {
            let found = vec![Placed::here(run(&id, false)), there(&run_there)];
            let found = one(Sought::among(&id, found, None, cancels));
            assert!(found.run.id.to_string() == id);
        }
    }

    #[test]
    fn a_cancel_by_an_id_of_several_runs_means_the_one_in_flight_or_the_last_to_end() {
        let [old, new, flying] = [Some(2), Some(3), None].map(|at| run_until("1", at));
        let meant = |runs: &[&Arc<Run>], cancels| {
            let mut found = here(runs.iter().map(|run| Arc::clone(run)));
            found.push(there(&new));
            Sought::among("1", found, None, cancels)
        };
        assert_eq!(one(meant(&[&old], true)).run.id, new.id);
        assert!(!one(meant(&[&old], true)).is_here());
        assert_eq!(one(meant(&[&old, &flying], true)).run.id, flying.id);
        let another = run("1", false);
        let several = meant(&[&old, &flying, &another], true);
        assert!(matches!(several, Sought::Several(runs) if runs.len() == 2));
        let read = meant(&[&old], false);
        assert!(
            matches!(read, Sought::Several(_)),
            "only a cancel may guess"
        );
    }

    #[test]
    fn what_was_not_found_may_be_where_nobody_has_answered() {
        let unsure = Some(Unsure::Workers(1));
        let nothing = |unsure| Sought::among("1", vec![], unsure, true);
        assert!(matches!(nothing(None), Sought::None));
        assert!(matches!(
            nothing(unsure),
            Sought::Unsure(Unsure::Workers(1))
        ));
        let found = one(Sought::among("1", here([run("1", false)]), unsure, false));
        assert!(found.is_here() && !found.is_sure());
        let both = vec![Placed::here(run("1", false)), there(&run("1", false))];
        let both = Sought::among("1", both, None, false);
        assert!(matches!(both, Sought::Several(runs) if runs.len() == 2));
    }
}
