//! What the workers say of an id, put together.

use std::collections::HashMap;
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
    pub(crate) fn among(
        request_id: &str,
        here: Vec<Arc<Run>>,
        there: Vec<(WorkerId, Arc<Run>)>,
        unsure: Option<Unsure>,
    ) -> Sought {
        let mut found = merged(here, there);
        if let Ok(id) = request_id.parse::<RunId>()
            && found.iter().any(|it| it.run.id == id)
        {
            found.retain(|it| it.run.id == id);
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

impl Sought {
    /// What somebody means who wants it cancelled: of several that have all ended the last to end, as
    /// nothing can be cancelled by mistake.
    pub(crate) fn to_cancel(
        request_id: &str,
        mut here: Vec<Arc<Run>>,
        mut there: Vec<(WorkerId, Arc<Run>)>,
        unsure: Option<Unsure>,
    ) -> Sought {
        let all = there.iter().map(|(_, run)| run).chain(&here);
        let own = |run: &&Arc<Run>| request_id.parse::<RunId>() == Ok(run.id);
        let mut all = all.peekable();
        if all.peek().is_some() && all.clone().all(|run| run.state.is_over() && !own(&run)) {
            let last = all.max_by_key(|run| (run.ended_at, run.registered_at));
            let last = last.map(|run| run.id);
            here.retain(|run| Some(run.id) == last);
            there.retain(|(_, run)| Some(run.id) == last);
        }
        Sought::among(request_id, here, there, unsure)
    }
}

/// Each run once: as its own worker knows it, rather than one that has adopted it.
pub(crate) fn merged(here: Vec<Arc<Run>>, there: Vec<(WorkerId, Arc<Run>)>) -> Vec<Placed> {
    let here = here.into_iter().map(|run| Placed {
        run,
        home: None,
        sure: true,
    });
    let there = there.into_iter().map(|(worker, run)| Placed {
        run,
        home: Some(worker),
        sure: true,
    });
    let mut places = HashMap::new();
    let mut all: Vec<Placed> = Vec::new();
    for placed in here.chain(there) {
        match places.get(&placed.run.id) {
            None => {
                places.insert(placed.run.id, all.len());
                all.push(placed);
            }
            Some(&place) if all[place].run.adopted && !placed.run.adopted => all[place] = placed,
            Some(_) => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
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
        runs.adopt(vec![run.clone()], 3);
        runs.shared(id).unwrap()
    }

    fn one(sought: Sought) -> Box<Placed> {
        match sought {
            Sought::One(placed) => placed,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_run_is_as_its_own_worker_knows_it() {
        let (run, home) = (run("1", false), WorkerId::random());
        let copy = adopted(&run);
        for (here, there) in [
            (vec![copy.clone()], vec![(home, run.clone())]),
            (
                vec![],
                vec![(WorkerId::random(), copy), (home, run.clone())],
            ),
        ] {
            let found = one(Sought::among("1", here, there, None));
            assert!(!found.run.adopted && found.home == Some(home) && found.is_sure());
        }
    }

    #[test]
    fn a_run_id_comes_before_a_dialect_id_that_looks_like_it() {
        let run_there = run("1", true);
        let id = run_there.id.to_string();
        let found = Sought::among(
            &id,
            vec![run(&id, false)],
            vec![(WorkerId::random(), run_there)],
            None,
        );
        assert!(one(found).run.id.to_string() == id);
    }

    #[test]
    fn a_cancel_by_an_id_of_several_runs_means_the_one_in_flight_or_the_last_to_end() {
        let [old, new, flying] = [Some(2), Some(3), None].map(|at| run_until("1", at));
        let there = vec![(WorkerId::random(), new.clone())];
        let meant = |here: &[&Arc<Run>]| {
            let here = here.iter().map(|run| Arc::clone(run)).collect();
            Sought::to_cancel("1", here, there.clone(), None)
        };
        assert_eq!(one(meant(&[&old])).run.id, new.id);
        assert!(!one(meant(&[&old])).is_here());
        assert_eq!(one(meant(&[&old, &flying])).run.id, flying.id);
        let another = run("1", false);
        let several = meant(&[&old, &flying, &another]);
        assert!(matches!(several, Sought::Several(runs) if runs.len() == 2));
        let read = Sought::among("1", vec![old], there.clone(), None);
        assert!(
            matches!(read, Sought::Several(_)),
            "only a cancel may guess"
        );
    }

    #[test]
    fn what_was_not_found_may_be_where_nobody_has_answered() {
        let unsure = Some(Unsure::Workers(1));
        let nothing = |unsure| Sought::among("1", vec![], vec![], unsure);
        assert!(matches!(nothing(None), Sought::None));
        assert!(matches!(
            nothing(unsure),
            Sought::Unsure(Unsure::Workers(1))
        ));
        let found = one(Sought::among("1", vec![run("1", false)], vec![], unsure));
        assert!(found.is_here() && !found.is_sure());
        let both = Sought::among(
            "1",
            vec![run("1", false)],
            vec![(WorkerId::random(), run("1", false))],
            None,
        );
        assert!(matches!(both, Sought::Several(runs) if runs.len() == 2));
    }
}
