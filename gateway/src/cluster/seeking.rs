//! Questions to other workers about the runs there.

use std::fmt;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::{Answer, Cluster, Question, WorkerId};
use crate::broker::runs::{Run, RunId};
use crate::tokens::Identity;

/// For each worker to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why there may be runs that are not known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// Redis does not answer, so nobody can be asked.
    Redis,
    /// So many workers have not answered, or are gone and their runs not taken over yet.
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

impl Cluster {
    /// The runs of others that an id may mean, and whether there may be more. Whoever has the run of
    /// that very id ends the search.
    pub async fn find(
        &self,
        request_id: &str,
        viewer: &Identity,
    ) -> (Vec<(WorkerId, Run)>, Option<Unsure>) {
        let id: Option<RunId> = request_id.parse().ok();
        let question = Question::Find {
            request_id: request_id.into(),
            viewer: viewer.clone(),
        };
        let (mut found, mut silent) = (Vec::new(), self.silent());
        let mut answers = self.answers(question);
        while let Some((worker, answer)) = answers.next().await {
            let Some(Answer::Runs { runs, .. }) = answer else {
                silent += 1;
                continue;
            };
            let is_it = |run: &Run| Some(run.id) == id && !run.adopted;
            let is_found = runs.iter().any(is_it);
            found.extend(runs.into_iter().map(|run| (worker, run)));
            if is_found {
                return (found, None);
            }
        }
        (found, self.unsure(silent))
    }

    /// The runs of others in flight and the newest `ended` of those that have ended, how many are
    /// left out, and whether there may be more.
    pub async fn list(
        &self,
        viewer: &Identity,
        ended: usize,
    ) -> (Vec<(WorkerId, Run)>, usize, Option<Unsure>) {
        let viewer = viewer.clone();
        let question = Question::List { viewer, ended };
        let (mut found, mut left_out, mut silent) = (Vec::new(), 0, self.silent());
        let mut answers = self.answers(question);
        while let Some((worker, answer)) = answers.next().await {
            match answer {
                Some(Answer::Runs { runs, omitted }) => {
                    left_out += omitted;
                    found.extend(runs.into_iter().map(|run| (worker, run)));
                }
                _ => silent += 1,
            }
        }
        (found, left_out, self.unsure(silent))
    }

    fn answers(
        &self,
        question: Question,
    ) -> FuturesUnordered<impl Future<Output = (WorkerId, Option<Answer>)>> {
        let others: Vec<_> = match self.standing().connected {
            true => self.peers().peers.keys().copied().collect(),
            false => Vec::new(),
        };
        let asked = others.into_iter().map(|worker| {
            let question = question.clone();
            async move { (worker, self.ask(worker, question, PATIENCE).await) }
        });
        asked.collect()
    }

    /// Workers that are gone and whose runs nobody has yet.
    fn silent(&self) -> usize {
        self.peers().orphans.len()
    }

    fn unsure(&self, silent: usize) -> Option<Unsure> {
        if !self.standing().connected {
            return Some(Unsure::Redis);
        }
        (silent > 0).then_some(Unsure::Workers(silent))
    }
}
