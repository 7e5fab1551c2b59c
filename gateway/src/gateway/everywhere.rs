//! Runs and their cancels on all workers: without a cluster those here.

use std::time::Duration;

use crate::agent::{AbpError, Confirmation};
use crate::broker::runs::{Run, leave_out};
use crate::cluster::{Answer, Notice, Question, Unsure, WorkerId};
use crate::gateway::hub::Hub;
use crate::gateway::sought::{Placed, Sought, merged};
use crate::tokens::Identity;
use caphost::call::{Code, Stop};

/// For a cancel to get to a run's worker, and its answer back.
const WAY: Duration = Duration::from_secs(1);
const NO_ANSWER: &str = "No answer from the worker of this run";

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
                stop,
                ended,
            }) => Confirmation {
                cancelled,
                reason,
                error: error.map(AbpError::read),
                // An older worker does not say.
                stop: cancelled.then(|| stop.unwrap_or(Stop::Abandoned)),
                ended,
            },
            _ => Confirmation::failed(AbpError::new(Code::TIMEOUT, NO_ANSWER)),
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
        let omitted = omitted + omitted_here + leave_out(&mut runs, ended);
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
