//! Runs and their cancels on all workers: without a cluster those here.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::bounded::{LIST_BYTES, bounded};
use super::sought::{Placed, Sought, Unsure, merged};
use crate::broker::runs::{CancelNotice, NoticedRun, Run, RunId, leave_out};
use crate::cluster::{Answer, Cluster, Notice, Question};
use crate::gateway::hub::Hub;
use crate::gateway::{AbpError, Confirmation};
use crate::tokens::Identity;
use caphost::call::Code;

/// How long each worker may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a cancel may take to get to a run's worker, and its answer to come back.
const WAY: Duration = Duration::from_secs(1);
const NO_ANSWER: &str = "No answer from the worker of this run";

/// What is listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Newest first.
    pub runs: Vec<Arc<Run>>,
    /// How many are left out.
    pub omitted: usize,
    /// Why more may be missing, if so.
    pub unsure: Option<Unsure>,
}

/// What other workers say of their runs.
#[derive(Default)]
struct There {
    runs: Vec<Placed>,
    omitted: usize,
    unsure: Option<Unsure>,
}

impl There {
    /// These and those that are here, each once.
    fn with(self, here: Vec<Arc<Run>>) -> Vec<Placed> {
        merged(here.into_iter().map(Placed::here).chain(self.runs))
    }

    /// What is meant by an id of them and those that are here: see [`Sought::among`].
    fn meant(self, request_id: &str, here: Vec<Arc<Run>>, cancels: bool) -> Sought {
        let unsure = self.unsure;
        Sought::among(request_id, self.with(here), unsure, cancels)
    }
}

impl Hub {
    /// The run `viewer` means by a run id, or by a dialect's own, on whichever worker it is.
    pub async fn seek(&self, request_id: &str, viewer: &Identity) -> Sought {
        self.sought(request_id, viewer, false).await
    }

    /// [`Hub::seek`], for a cancel: of several that have all ended it is the last to end.
    pub async fn seek_to_cancel(&self, request_id: &str, viewer: &Identity) -> Sought {
        self.sought(request_id, viewer, true).await
    }

    async fn sought(&self, request_id: &str, viewer: &Identity, cancels: bool) -> Sought {
        let there = self.ask_for(request_id, viewer).await;
        let here = self.matches(request_id, viewer);
        there.meant(request_id, here, cancels)
    }

    /// [`Hub::seek_to_cancel`]; if there is no such run anywhere, the cancel is kept for it, wherever it comes.
    pub async fn seek_or_cancel_early(
        &self,
        request_id: &str,
        reason: Option<String>,
        by: &Identity,
    ) -> Sought {
        let there = self.ask_for(request_id, by).await;
        let keep = there.runs.is_empty() && there.unsure.is_none();
        let (here, kept) = self.matches_or_keep(request_id, reason, by, keep);
        if let (Some(kept), Some(cluster)) = (kept, self.cluster()) {
            cluster.tell_all(Notice::CancelEarly(kept));
        }
        there.meant(request_id, here, true)
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
            Some(Answer::Cancelled(outcome)) => outcome.with_error(AbpError::read),
            _ => Confirmation::failed(AbpError::new(Code::TIMEOUT, NO_ANSWER)),
        }
    }

    /// Tells the sessions that listen, on all workers, and other gateways that `by` cancels what it
    /// calls `request_id`: that run, if it is known. How many sessions here were told.
    pub fn announce_cancel(
        &self,
        request_id: &str,
        run: Option<&Run>,
        reason: Option<&str>,
        by: &Identity,
    ) -> usize {
        let notice = CancelNotice {
            request_id: request_id.into(),
            reason: reason.map(str::to_string),
            run: run.map(NoticedRun::from),
        };
        if let Some(cluster) = self.cluster() {
            cluster.tell_all(Notice::Cancelled(notice.clone()));
        }
        self.publish_cancel(request_id, reason, by);
        self.announce_cancelled(notice)
    }

    /// Tells other gateways that `by` cancels what it calls `request_id`.
    pub fn publish_cancel(&self, request_id: &str, reason: Option<&str>, by: &Identity) {
        if let Some(cluster) = self.cluster() {
            cluster.publish_cancel(request_id, reason, by);
        }
    }

    /// The runs of all workers that `viewer` may see, newest first: all in flight, and the newest
    /// `ended` of those that have ended.
    pub async fn list(&self, viewer: &Identity, ended: usize) -> Listed {
        let mut there = There::default();
        if let Some(cluster) = self.cluster() {
            let viewer = viewer.clone();
            there = ask_all(cluster, Question::List { viewer, ended }, None).await;
        }
        let (mut runs, mut omitted) = self.recent_runs(viewer, ended);
        omitted += there.omitted;
        let unsure = there.unsure;
        if !there.runs.is_empty() {
            let placed = there.with(runs);
            runs = placed.into_iter().map(|it| it.run).collect();
            // Stable: of one worker the order is as it was.
            runs.sort_by_key(|run| std::cmp::Reverse(run.registered_at));
            omitted += leave_out(&mut runs, ended);
        }
        let (runs, cut) = bounded(runs, LIST_BYTES);
        Listed {
            runs,
            omitted: omitted + cut,
            unsure,
        }
    }

    /// What the others say of an id, unless it names a run of this worker.
    async fn ask_for(&self, request_id: &str, viewer: &Identity) -> There {
        let id: Option<RunId> = request_id.parse().ok();
        let own = id.and_then(|id| self.run(id, viewer));
        let Some(cluster) = self.cluster().filter(|_| own.is_none_or(|run| run.adopted)) else {
            return There::default();
        };
        let question = Question::Find {
            request_id: request_id.into(),
            viewer: viewer.clone(),
        };
        ask_all(cluster, question, id).await
    }
}

/// Asks all others. The one that has the very run with that id ends the search.
async fn ask_all(cluster: &Cluster, question: Question, id: Option<RunId>) -> There {
    let asked = cluster.others().into_iter().map(|worker| {
        let question = question.clone();
        async move { (worker, cluster.ask(worker, question, PATIENCE).await) }
    });
    let mut answers: FuturesUnordered<_> = asked.collect();
    let (mut there, mut silent) = (There::default(), cluster.orphans());
    while let Some((worker, answer)) = answers.next().await {
        let Some(Answer::Runs { runs, omitted }) = answer else {
            silent += 1;
            continue;
        };
        let is_it = |run: &Arc<Run>| Some(run.id) == id && !run.adopted;
        let is_found = runs.iter().any(is_it);
        there.omitted += omitted;
        let placed = runs.into_iter().map(|run| Placed::there(worker, run));
        there.runs.extend(placed);
        if is_found {
            return there;
        }
    }
    there.unsure = match cluster.standing().connected {
        false => Some(Unsure::Redis),
        true => (silent > 0).then_some(Unsure::Workers(silent)),
    };
    there
}
