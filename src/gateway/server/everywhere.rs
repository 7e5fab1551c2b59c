//! Runs and their cancels on all workers: without a cluster those here.

use std::collections::HashMap;
use std::time::Duration;

use super::hub::Hub;
use crate::call::Code;
use crate::gateway::agent::{AbpError, Confirmation};
use crate::gateway::cluster::{Answer, Notice, Question, Unsure, WorkerId};
use crate::gateway::runs::{Found, Run, RunId};
use crate::gateway::tokens::Identity;

/// For a cancel to get to a run's worker, and its answer back.
const WAY: Duration = Duration::from_secs(1);
const NO_ANSWER: &str = "No answer from the worker of this run";

/// A run, and where it is.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The run.
    pub run: Run,
    /// Its worker; none for this one.
    home: Option<WorkerId>,
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

/// What is listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Newest first.
    pub runs: Vec<Run>,
    /// How many that have ended are left out.
    pub omitted: usize,
    /// Why more may be missing, if so.
    pub unsure: Option<Unsure>,
}

impl Hub {
    /// The run `viewer` means by a run id, or by a dialect's own, on whichever worker it is.
    pub async fn seek(&self, request_id: &str, viewer: &Identity) -> Sought {
        let (there, unsure) = self.ask_for(request_id, viewer).await;
        let here = self.matches(request_id, viewer);
        Sought::among(request_id, here, there, unsure)
    }

    /// The same; if there is none anywhere, the cancel is kept for it, wherever it comes.
    pub async fn seek_or_cancel_early(
        &self,
        request_id: &str,
        reason: Option<String>,
        by: &Identity,
    ) -> Sought {
        let (there, unsure) = self.ask_for(request_id, by).await;
        let keep = there.is_empty() && unsure.is_none();
        let (here, kept) = self.matches_or_keep(request_id, reason, by, keep);
        if let (Some(kept), Some(cluster)) = (kept, self.cluster()) {
            cluster.tell_all(Notice::CancelEarly(kept));
        }
        Sought::among(request_id, here, there, unsure)
    }

    /// Cancels a run where it is: see [`Hub::cancel`].
    pub async fn cancel_at_home(
        &self,
        placed: &Placed,
        reason: Option<String>,
        by: &Identity,
    ) -> Confirmation {
        let run = placed.run.id;
        let (Some(home), Some(cluster)) = (placed.home, self.cluster()) else {
            return self.cancel(run, reason, by).await;
        };
        let by = by.clone();
        let question = Question::Cancel { run, reason, by };
        let patience = self.limits.confirm_timeout + WAY;
        match cluster.ask(home, question, patience).await {
            Some(Answer::Cancelled {
                cancelled,
                reason,
                error,
            }) => Confirmation {
                cancelled,
                reason,
                error: error.map(AbpError::read),
            },
            _ => Confirmation {
                cancelled: false,
                reason: Some(NO_ANSWER.into()),
                error: Some(AbpError::new(Code::TIMEOUT, NO_ANSWER)),
            },
        }
    }

    /// The runs of all workers that `viewer` may see, newest first: all in flight, and the newest
    /// `ended` of those that have ended.
    pub async fn recent_everywhere(&self, viewer: &Identity, ended: usize) -> Listed {
        let (mut there, mut omitted, mut unsure) = (Vec::new(), 0, None);
        if let Some(cluster) = self.cluster() {
            (there, omitted, unsure) = cluster.list(viewer, ended).await;
        }
        let (runs, omitted_here) = self.recent_runs(viewer, ended);
        if there.is_empty() {
            let omitted = omitted + omitted_here;
            return Listed {
                runs,
                omitted,
                unsure,
            };
        }
        let placed = merged(runs, there);
        let mut runs: Vec<_> = placed.into_iter().map(|it| it.run).collect();
        // Stable: of one worker the order is as it was.
        runs.sort_by_key(|run| std::cmp::Reverse(run.registered_at));
        let all = runs.len();
        let mut seen = 0;
        runs.retain(|run| {
            seen += usize::from(run.state.is_over());
            !run.state.is_over() || seen <= ended
        });
        let omitted = omitted + omitted_here + (all - runs.len());
        Listed {
            runs,
            omitted,
            unsure,
        }
    }

    /// What the others say of an id, unless it names a run of this worker.
    async fn ask_for(
        &self,
        request_id: &str,
        viewer: &Identity,
    ) -> (Vec<(WorkerId, Run)>, Option<Unsure>) {
        let Some(cluster) = self.cluster() else {
            return (Vec::new(), None);
        };
        let own = request_id.parse().ok().and_then(|id| self.run(id, viewer));
        if own.is_some_and(|run| !run.adopted) {
            return (Vec::new(), None);
        }
        cluster.find(request_id, viewer).await
    }
}

impl Sought {
    fn among(
        request_id: &str,
        here: Vec<Run>,
        there: Vec<(WorkerId, Run)>,
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
                Sought::One(Box::new(Placed {
                    run: *run,
                    home,
                    sure,
                }))
            }
        }
    }
}

/// Each run once: as its own worker knows it, rather than one that has adopted it.
fn merged(here: Vec<Run>, there: Vec<(WorkerId, Run)>) -> Vec<Placed> {
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
    use crate::gateway::runs::{Dialect, Ending, NewRun, Runs};

    fn run(dialect_id: &str, ended: bool) -> Run {
        let (mut runs, id) = (Runs::default(), RunId::random());
        runs.register(
            NewRun {
                id,
                dialect: Dialect::Mcp,
                dialect_id: Some(dialect_id.into()),
                owner: Identity::anyone(),
                thread: None,
                app: None,
                capability: "a.b".into(),
                call_id: "c".into(),
            },
            1,
        );
        if ended {
            runs.end(id, Ending::Completed, 2);
        }
        runs.get(id).unwrap().clone()
    }

    fn adopted(run: &Run) -> Run {
        let (mut runs, id) = (Runs::default(), run.id);
        runs.adopt(vec![run.clone()], 3);
        runs.get(id).unwrap().clone()
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
