//! Questions and notices of other workers, and of other gateways, about the runs here.

use std::sync::Arc;

use crate::broker::calls::{EarlyCancel, Found, Run, RunId, RunMark};
use crate::cluster::message::Message;
use crate::cluster::{Answer, CancelMessage, Notice, Question, WorkerId};
use crate::gateway::hub::Hub;
use crate::gateway::runs::bounded::bounded;
use crate::gateway::runs::sought::{Placed, Sought};
use crate::tokens::{Identity, Role};
use crate::wire::for_log;

/// How many bytes a list for another worker may have, about: 4 MiB.
const ANSWER_BYTES: usize = 4 << 20;

impl Hub {
    /// Answers another worker.
    pub(crate) async fn answer(&self, question: Question) -> Answer {
        match question {
            Question::Find { request_id, viewer } => {
                let found = self.matches(&request_id, &viewer);
                Answer::Found(found.iter().map(|run| RunMark::from(&**run)).collect())
            }
            Question::Run { run, viewer } => {
                let run = self.run(run, &viewer);
                Answer::Runs {
                    runs: run.into_iter().collect(),
                    omitted: 0,
                }
            }
            Question::List { viewer, ended } => {
                let (runs, omitted) = self.recent_runs(&viewer, ended);
                let (runs, cut) = bounded(runs, ANSWER_BYTES);
                let omitted = omitted + cut;
                Answer::Runs { runs, omitted }
            }
            Question::Cancel { run, reason, by } => {
                Answer::Cancelled(self.cancel(run, reason, &by).await)
            }
        }
    }

    /// Obeys a notice that another worker sends to all workers.
    pub(crate) fn obey(self: &Arc<Self>, from: WorkerId, notice: Notice) {
        let told = for_log(format_args!("{notice:?}"));
        tracing::debug!(worker = %from, told, "another worker tells");
        match notice {
            Notice::Cancelled(notice) => {
                self.announce_cancelled(notice);
            }
            Notice::CancelEarly(early) => self.obey_early(early),
            Notice::EarlyTaken(early) => self.forget_early(&early),
            notice => self.pass_on(&notice),
        }
    }

    /// Tells a new worker of the cancels that are kept for runs yet to come.
    pub(crate) fn pass_on_early_cancels(&self, worker: WorkerId) {
        let Some(cluster) = self.cluster() else {
            return;
        };
        for early in self.early_cancels() {
            let notice = Notice::CancelEarly(early);
            cluster.send(worker, &Message::Tell(notice).into());
        }
    }

    /// Another worker keeps a cancel. The cancel's run may have come to this worker meanwhile.
    fn obey_early(self: &Arc<Self>, early: EarlyCancel) {
        let Some(run) = self.meet_early(early.clone()) else {
            return;
        };
        if let Some(cluster) = self.cluster() {
            // A worker that does not hear this forgets the cancel when the cancel expires.
            let _ = cluster.tell_all(Notice::EarlyTaken(early.clone()));
        }
        if !run.state.is_over() {
            let hub = self.clone();
            tokio::spawn(async move { hub.cancel(run.id, early.reason, &early.by).await });
        }
    }

    /// Obeys a message of the cancellation channel, in the background.
    pub(crate) fn obey_channel(self: &Arc<Self>, message: CancelMessage) {
        let by = match &message.requester {
            Some(name) => self.tokens.named(name),
            None => Identity {
                role: Role::Admin,
                name: "channel".into(),
                app: None,
            },
        };
        // The worker that has the run cancels it, because all workers have heard the same message. The other
        // workers are asked only if a run here matches and may be cancelled.
        let found = self.matches(&message.run_id, &by);
        let is_live = |run: &Arc<Run>| !run.state.is_over();
        if found.len() != 1 || !found.iter().all(is_live) {
            return;
        }
        let hub = self.clone();
        tokio::spawn(async move {
            let CancelMessage { run_id, reason, .. } = message;
            if let Some(run) = hub.meant_here(&run_id, &by).await {
                hub.cancel(run, reason, &by).await;
            }
        });
    }

    /// The run here that an id means, if no other run on any worker matches.
    async fn meant_here(&self, run_id: &str, by: &Identity) -> Option<RunId> {
        let placed = match self.seek(run_id, by).await {
            Sought::One(placed) => placed,
            Sought::Several(runs) => {
                let runs = runs.len();
                tracing::info!(
                    runs,
                    "a cancel on the channel names several runs: not obeyed"
                );
                return None;
            }
            Sought::None | Sought::Unsure(_) | Sought::Gone(_) => return None,
        };
        let is_live = |it: &Placed| it.is_here() && it.is_sure() && !it.run.state.is_over();
        is_live(&placed).then_some(placed.run.id)
    }

    /// Another worker keeps a cancel. Returns the run here that the cancel is for. If there is none, this
    /// worker keeps the cancel as well.
    pub(crate) fn meet_early(&self, mut early: EarlyCancel) -> Option<Arc<Run>> {
        self.change_runs(|runs, now| {
            // A worker with another version or other options may keep more cancels.
            if !runs.keeps_early(&early.request_id) {
                return None;
            }
            early.at = early.at.min(now);
            match runs.find(&early.request_id, &early.by, now) {
                Found::Several(_) => return None,
                // A run that had ended before the cancel is another run.
                Found::One(run) if run.ended_at.is_none_or(|ended| ended >= early.at) => {
                    runs.forget_early(&early);
                    return Some(run);
                }
                Found::One(_) | Found::None => {}
            }
            runs.cancel_early(early, now);
            None
        })
    }

    /// A cancel for a run yet to come has found its run on another worker.
    pub(crate) fn forget_early(&self, early: &EarlyCancel) {
        self.change_runs(|runs, _| runs.forget_early(early));
    }

    /// The cancels that are kept for runs yet to come.
    pub(crate) fn early_cancels(&self) -> Vec<EarlyCancel> {
        let now = self.now().unix_ms;
        self.state().broker.runs().early_cancels(now)
    }
}

#[cfg(test)]
mod tests;
