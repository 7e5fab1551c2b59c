//! Runs and their cancels on all workers. Without a cluster, only on this worker.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::bounded::{LIST_BYTES, bounded};
use super::sought::{Gone, Placed, Sought, Unsure, meant};
use crate::bounds::{QuotaKey, Turn};
use crate::broker::calls::{CancelNotice, Found, NoticedRun, Run, RunId, RunMark, leave_out};
use crate::cluster::{Answer, Cluster, Notice, Question, WorkerId};
use crate::gateway::hub::Hub;
use crate::gateway::{AbpError, CancelOutcome};
use crate::tokens::Identity;
use caphost::call::Code;

/// How long each worker may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a search waits for others of its token.
const SEARCH_PATIENCE: Duration = Duration::from_secs(1);
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
        if let Some((run, home)) = self.home_of(request_id) {
            return self.fetched(home, run, viewer, (true, cancels)).await;
        }
        let there = self.ask_for(request_id, viewer, cancels).await;
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
        if let Some((run, home)) = self.home_of(request_id) {
            return self.fetched(home, run, by, (true, true)).await;
        }
        let there = self.ask_for(request_id, by, true).await;
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
        let all = marks.chain(there.runs).collect();
        let sure = there.unsure.is_none();
        let Placed { run, home, .. } = match (meant(request_id, all, cancels), there.unsure) {
            (Found::None, None) => return self.lost(request_id).map_or(Sought::None, Sought::Gone),
            (Found::None, Some(unsure)) => return Sought::Unsure(unsure),
            (Found::Several(runs), _) => return Sought::Several(runs),
            (Found::One(placed), _) => placed,
        };
        if let Some(home) = home {
            return self.fetched(home, run.id, viewer, (sure, cancels)).await;
        }
        // The run may have been forgotten meanwhile.
        let run = here.into_iter().find(|it| it.id == run.id);
        run.map_or(Sought::None, |run| {
            Sought::One(Box::new(Placed { run, home, sure }))
        })
    }

    /// The run of another worker, as that worker knows it. `sure` says whether no other run can be meant, and
    /// `cancels` whether the run is to be cancelled.
    async fn fetched(
        &self,
        home: WorkerId,
        run: RunId,
        viewer: &Identity,
        (sure, cancels): (bool, bool),
    ) -> Sought {
        let Some(cluster) = self.cluster() else {
            return Sought::None;
        };
        let Some(_search) = self.search(viewer, cancels).await else {
            return Sought::Unsure(Unsure::Busy);
        };
        let viewer = viewer.clone();
        let question = Question::Run { run, viewer };
        let Some(Answer::Runs { mut runs, .. }) = cluster.ask(home, question, PATIENCE).await
        else {
            return Sought::Unsure(Unsure::Workers(1));
        };
        let home = Some(home);
        runs.pop().map_or(Sought::None, |run| {
            Sought::One(Box::new(Placed { run, home, sure }))
        })
    }

    /// The turn of `viewer` at a search. `None` if no other search of `viewer` ends in time. Those who only
    /// look do not take the turns of those who cancel.
    async fn search(&self, viewer: &Identity, cancels: bool) -> Turn {
        let key = QuotaKey::Token(viewer.name.clone());
        let searches = &self.searches[usize::from(cancels)];
        searches.take_within(SEARCH_PATIENCE, &key).await
    }

    /// The run and the worker that an id names, if that is another worker and it can be reached.
    fn home_of(&self, request_id: &str) -> Option<(RunId, WorkerId)> {
        let run: RunId = request_id.parse().ok()?;
        let mut others = self.cluster()?.others().into_iter();
        let home = others.find(|worker| run.is_of(worker.process))?;
        Some((run, home))
    }

    /// Why the run with that id may have been on a worker that is gone. No worker that is left knows the run.
    fn lost(&self, request_id: &str) -> Option<Gone> {
        let named: Option<RunId> = request_id.parse().ok();
        match named.filter(|run| run.names_a_worker()) {
            Some(run) => (!run.is_of(self.process)).then_some(Gone::ItsWorker),
            None => self
                .cluster()?
                .has_lost_workers()
                .then_some(Gone::SomeWorker),
        }
    }

    /// Cancels a run on the worker that has it. See [`Hub::cancel`].
    pub async fn cancel_at_home(
        &self,
        placed: &Placed,
        reason: Option<String>,
        by: &Identity,
    ) -> CancelOutcome {
        let run = placed.run.id;
        let (Some(home), Some(cluster)) = (placed.home, self.cluster()) else {
            return self.cancel(run, reason, by).await;
        };
        let by = by.clone();
        let question = Question::Cancel { run, reason, by };
        let patience = self.limits.confirm_timeout + WAY;
        match cluster.ask(home, question, patience).await {
            Some(Answer::Cancelled(outcome)) => outcome,
            _ => CancelOutcome::failed(AbpError::new(Code::TIMEOUT, NO_ANSWER)),
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
            let question = Question::List {
                viewer: viewer.clone(),
                ended,
            };
            there = match self.search(viewer, false).await {
                Some(_search) => ask_all(cluster, question, listed).await,
                None => There::unsure_of(Some(Unsure::Busy)),
            };
        }
        let (mut runs, mut omitted) = self.recent_runs(viewer, ended);
        omitted += there.omitted;
        let unsure = there.unsure;
        if !there.runs.is_empty() {
            runs.extend(there.runs.into_iter().map(|it| it.run));
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

    /// What the other workers say of an id, unless the id names this worker.
    async fn ask_for(&self, request_id: &str, viewer: &Identity, cancels: bool) -> There<RunMark> {
        let named: Option<RunId> = request_id.parse().ok();
        let Some(cluster) = self.cluster() else {
            return There::default();
        };
        if named.is_some_and(|run| run.is_of(self.process)) {
            return There::default();
        }
        let Some(_search) = self.search(viewer, cancels).await else {
            return There::unsure_of(Some(Unsure::Busy));
        };
        let question = Question::Find {
            request_id: request_id.into(),
            viewer: viewer.clone(),
        };
        let mut there = ask_all(cluster, question, found).await;
        // The worker that an id names may be one that has not come yet.
        let is_named = named.is_some_and(RunId::names_a_worker);
        if is_named && there.unsure.is_none() && !cluster.knows_all() {
            there.unsure = Some(Unsure::Workers(1));
        }
        there
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

/// Asks all other workers at once.
async fn ask_all<R>(cluster: &Cluster, question: Question, read: Read<R>) -> There<R> {
    let asked = cluster.others().into_iter().map(|worker| {
        let question = question.clone();
        async move { (worker, cluster.ask(worker, question, PATIENCE).await) }
    });
    let mut answers: FuturesUnordered<_> = asked.collect();
    let (mut there, mut silent) = (There::default(), 0);
    while let Some((worker, answer)) = answers.next().await {
        let Some((runs, omitted)) = answer.and_then(read) else {
            silent += 1;
            continue;
        };
        there.omitted += omitted;
        let placed = runs.into_iter().map(|run| Placed::there(worker, run));
        there.runs.extend(placed);
    }
    there.unsure = match cluster.standing().connected {
        false => Some(Unsure::Redis),
        true => (silent > 0).then_some(Unsure::Workers(silent)),
    };
    there
}
