//! Runs and their cancels on all workers. Without a cluster, only on this worker.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::bounded::{LIST_BYTES, bounded};
use super::sought::{Placed, Sought, Unsure, meant, merged};
use crate::broker::runs::{CancelNotice, Found, NoticedRun, Run, RunId, RunMark, leave_out};
use crate::cluster::{Answer, Cluster, Notice, Question};
use crate::gateway::hub::Hub;
use crate::gateway::{AbpError, Confirmation};
use crate::tokens::Identity;
use caphost::call::Code;

/// How long each worker may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a cancel may take to reach a run's worker, and the answer to come back.
const WAY: Duration = Duration::from_secs(1);
const NO_ANSWER: &str = "No answer from the worker of this run";

/// A list of runs.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The runs, newest first.
    pub runs: Vec<Arc<Run>>,
    /// How many runs are left out.
    pub omitted: usize,
    /// Why more runs may be missing, if so.
    pub unsure: Option<Unsure>,
}

/// What other workers say of their runs.
struct There<R> {
    runs: Vec<Placed<R>>,
    omitted: usize,
    unsure: Option<Unsure>,
}

impl<R> Default for There<R> {
    fn default() -> Self {
        There::unsure_of(None)
    }
}

impl<R> There<R> {
    /// No worker has said anything.
    fn unsure_of(unsure: Option<Unsure>) -> Self {
        There {
            runs: Vec::new(),
            omitted: 0,
            unsure,
        }
    }
}

impl Hub {
    /// The run on any worker that `viewer` means by a run id or by a dialect's own id.
    pub async fn seek(&self, request_id: &str, viewer: &Identity) -> Sought {
        self.sought(request_id, viewer, false).await
    }

    /// [`Hub::seek`] for a cancel. If several runs match and all have ended, the last to end is meant.
    pub async fn seek_to_cancel(&self, request_id: &str, viewer: &Identity) -> Sought {
        self.sought(request_id, viewer, true).await
    }

    async fn sought(&self, request_id: &str, viewer: &Identity, cancels: bool) -> Sought {
        let there = self.ask_for(request_id, viewer).await;
        let here = self.matches(request_id, viewer);
        self.meant(request_id, there, here, viewer, cancels).await
    }

    /// [`Hub::seek_to_cancel`]. If no worker has such a run, the workers keep the cancel for a run that comes
    /// later.
    pub async fn seek_or_cancel_early(
        &self,
        request_id: &str,
        reason: Option<String>,
        by: &Identity,
    ) -> Sought {
        let there = self.ask_for(request_id, by).await;
        let keep = there.runs.is_empty() && there.unsure.is_none();
        let (here, kept) = self.matches_or_keep(request_id, reason, by, keep);
        if let (Some(kept), Some(cluster)) = (kept, self.cluster())
            && !cluster.tell_all(Notice::CancelEarly(kept.clone()))
        {
            // The cancel is forgotten, because its run may come to a worker that has not heard of the cancel.
            self.forget_early(&kept);
            let _ = cluster.tell_all(Notice::EarlyTaken(kept));
            return Sought::Unsure(Unsure::Full);
        }
        self.meant(request_id, there, here, by, true).await
    }

    /// Decides which of the runs here and on other workers an id means. A run of another worker is fetched.
    async fn meant(
        &self,
        request_id: &str,
        there: There<RunMark>,
        here: Vec<Arc<Run>>,
        viewer: &Identity,
        cancels: bool,
    ) -> Sought {
        let marks = here.iter().map(|run| Placed::here(RunMark::from(&**run)));
        let all = merged(marks.chain(there.runs), |mark| *mark);
        let sure = there.unsure.is_none();
        let Placed { run, home, .. } = match (meant(request_id, all, cancels), there.unsure) {
            (Found::None, None) => return Sought::None,
            (Found::None, Some(unsure)) => return Sought::Unsure(unsure),
            (Found::Several(runs), _) => return Sought::Several(runs),
            (Found::One(placed), _) => placed,
        };
        let run = match (home, self.cluster()) {
            (Some(home), Some(cluster)) => {
                let viewer = viewer.clone();
                let question = Question::Run {
                    run: run.id,
                    viewer,
                };
                match cluster.ask(home, question, PATIENCE).await {
                    Some(Answer::Runs { mut runs, .. }) => runs.pop(),
                    _ => return Sought::Unsure(Unsure::Workers(1)),
                }
            }
            _ => here.into_iter().find(|it| it.id == run.id),
        };
        // The run may have been forgotten meanwhile.
        run.map_or(Sought::None, |run| {
            Sought::One(Box::new(Placed { run, home, sure }))
        })
    }

    /// Cancels a run on the worker that has it. See [`Hub::cancel`].
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

    /// Tells the listening sessions of all workers, and other gateways, that `by` cancels `request_id`. `run`
    /// is that run, if it is known. Returns how many sessions on this worker were told.
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
            // If there is no room, the listeners on other workers miss the notice. The cancel itself goes on.
            let _ = cluster.tell_all(Notice::Cancelled(notice.clone()));
        }
        self.publish_cancel(request_id, reason, by);
        self.announce_cancelled(notice)
    }

    /// Tells other gateways that `by` cancels `request_id`.
    pub fn publish_cancel(&self, request_id: &str, reason: Option<&str>, by: &Identity) {
        if let Some(cluster) = self.cluster() {
            cluster.publish_cancel(request_id, reason, by);
        }
    }

    /// The runs of all workers that `viewer` may see, newest first. Contains all runs in flight and the
    /// newest `ended` runs that have ended.
    pub async fn list(&self, viewer: &Identity, ended: usize) -> Listed {
        let mut there = There::default();
        if let Some(cluster) = self.cluster() {
            let (viewer_name, viewer) = (viewer.name.clone(), viewer.clone());
            let question = Question::List { viewer, ended };
            there = match self.searches.take(&viewer_name).await {
                Some(_search) => ask_all(cluster, question, listed, |_: &Arc<Run>| false).await,
                None => There::unsure_of(Some(Unsure::Busy)),
            };
        }
        let (mut runs, mut omitted) = self.recent_runs(viewer, ended);
        omitted += there.omitted;
        let unsure = there.unsure;
        if !there.runs.is_empty() {
            let here = runs.into_iter().map(Placed::here);
            let placed = merged(here.chain(there.runs), |run| RunMark::from(&**run));
            runs = placed.into_iter().map(|it| it.run).collect();
            // The sort is stable: the runs of one worker keep their order.
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

    /// What the other workers say of an id, unless the id names a run of this worker.
    async fn ask_for(&self, request_id: &str, viewer: &Identity) -> There<RunMark> {
        let id: Option<RunId> = request_id.parse().ok();
        let own = id.and_then(|id| self.run(id, viewer));
        let Some(cluster) = self.cluster().filter(|_| own.is_none_or(|run| run.adopted)) else {
            return There::default();
        };
        let Some(_search) = self.searches.take(&viewer.name).await else {
            return There::unsure_of(Some(Unsure::Busy));
        };
        let question = Question::Find {
            request_id: request_id.into(),
            viewer: viewer.clone(),
        };
        let is_it = |mark: &RunMark| Some(mark.id) == id && !mark.adopted;
        ask_all(cluster, question, found, is_it).await
    }
}

/// Reads the runs in an answer, and how many runs the answer leaves out.
type Read<R> = fn(Answer) -> Option<(Vec<R>, usize)>;

fn listed(answer: Answer) -> Option<(Vec<Arc<Run>>, usize)> {
    match answer {
        Answer::Runs { runs, omitted } => Some((runs, omitted)),
        _ => None,
    }
}

fn found(answer: Answer) -> Option<(Vec<RunMark>, usize)> {
    match answer {
        Answer::Found(runs) => Some((runs, 0)),
        _ => None,
    }
}

/// Asks all other workers. The search ends when a worker has the very run that is searched for.
async fn ask_all<R>(
    cluster: &Cluster,
    question: Question,
    read: Read<R>,
    is_it: impl Fn(&R) -> bool,
) -> There<R> {
    let asked = cluster.others().into_iter().map(|worker| {
        let question = question.clone();
        async move { (worker, cluster.ask(worker, question, PATIENCE).await) }
    });
    let mut answers: FuturesUnordered<_> = asked.collect();
    let (mut there, mut silent) = (There::default(), cluster.orphans());
    while let Some((worker, answer)) = answers.next().await {
        let Some((runs, omitted)) = answer.and_then(read) else {
            silent += 1;
            continue;
        };
        let is_found = runs.iter().any(&is_it);
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
