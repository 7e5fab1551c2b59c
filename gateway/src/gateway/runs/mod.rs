//! Runs: their course on this worker, and finding, listing and cancelling them on all workers.

mod bounded;
mod everywhere;
mod log;
mod others;
mod sought;

use std::sync::Arc;

#[cfg(test)]
pub(crate) use bounded::LIST_BYTES;
pub use everywhere::Listed;
pub use sought::{Gone, Placed, Sought, Unsure};

use tokio::sync::{broadcast, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

use crate::broker::calls::{CancelNotice, EarlyCancel, Run, RunId, newest};
use crate::broker::unconfirmed;
use crate::broker::{Asker, Event, PeerId};
use crate::cluster::Notice;
use crate::gateway::CancelOutcome;
use crate::gateway::calls::{Client, Session};
use crate::gateway::hub::Hub;
use crate::tokens::Identity;
use caphost::call::Stop;

impl Hub {
    /// A session for a client.
    pub fn open(self: &Arc<Self>, client: Client) -> Session {
        let quota_key = client.owner.name.clone();
        self.open_of(quota_key, client)
    }

    /// A session for a client, which counts towards the share of `quota_key`.
    pub(crate) fn open_of(self: &Arc<Self>, quota_key: Arc<str>, client: Client) -> Session {
        Session::new(self.clone(), client, quota_key)
    }

    /// The client of that session answers a question of its call, which counts if the call is one of the session.
    pub(crate) fn answer_question(
        &self,
        session: Uuid,
        (run, question): (RunId, u64),
        payload: &str,
    ) {
        let thread = session.to_string();
        let known = self.state().broker.runs().shared(run);
        if known.is_some_and(|run| run.thread.as_ref() == Some(&thread)) {
            self.give_answer((run, question), payload);
        }
    }

    /// The client answers a question of its call.
    pub(crate) fn give_answer(&self, (run, question): (RunId, u64), payload: &str) {
        self.handle(Event::Answer {
            run,
            question,
            payload,
        });
    }

    /// The numbers of the questions of a run that wait for answers.
    pub(crate) fn questions_of(&self, run: RunId) -> Vec<u64> {
        self.state().broker.questions_of(run)
    }

    /// The runs that are not over.
    pub(crate) fn runs_in_flight(&self) -> Vec<RunId> {
        self.state().broker.runs().in_flight()
    }

    /// The newest runs that `viewer` may see, newest first: `ended` runs that have ended, and at most 10 000
    /// runs in flight. Also returns how many runs are left out.
    pub fn recent_runs(&self, viewer: &Identity, ended: usize) -> (Vec<Arc<Run>>, usize) {
        let now = self.now().unix_ms;
        // The runs are sorted after the lock on the ledger is released.
        let recent = self.state().broker.runs().recent(viewer, ended, now);
        let (runs, omitted) = newest(recent.0, ended);
        (runs, omitted + recent.1)
    }

    /// The run with that id, if `viewer` may see it.
    pub fn run(&self, id: RunId, viewer: &Identity) -> Option<Arc<Run>> {
        let state = self.state();
        let run = state.broker.runs().shared(id);
        run.filter(|run| viewer.may_see(&run.owner, run.app.as_deref()))
    }

    /// The runs here that `viewer` may mean by a run id or by a dialect's own id.
    pub fn matches(&self, request_id: &str, viewer: &Identity) -> Vec<Arc<Run>> {
        let now = self.now().unix_ms;
        let state = self.state();
        state.broker.runs().matches(request_id, viewer, now)
    }

    /// The runs here that `by` means. If there is no such run and `keep` is true, the ledger keeps the
    /// cancel. Also returns the kept cancel.
    pub(crate) fn matches_or_keep(
        &self,
        request_id: &str,
        reason: Option<String>,
        by: &Identity,
        keep: bool,
    ) -> (Vec<Arc<Run>>, Option<EarlyCancel>) {
        self.change_runs(|runs, now| {
            let found = runs.matches(request_id, by, now);
            let keep = keep && found.is_empty();
            let kept = keep.then(|| EarlyCancel::new(request_id, reason, by, now));
            (found, kept.and_then(|early| runs.cancel_early(early, now)))
        })
    }

    /// The runs of an app, by the app's connection.
    pub fn runs_on(&self, app: PeerId) -> Vec<RunId> {
        self.state().broker.runs_on(app)
    }

    /// Asks the app to cancel a run that `by` may see, and waits at most the confirm timeout for the answer.
    /// If the run is over, returns how the run ended.
    pub async fn cancel(&self, id: RunId, reason: Option<String>, by: &Identity) -> CancelOutcome {
        if self.run(id, by).is_none() {
            return CancelOutcome::refused(Some("Operation not found".into()), None);
        }
        let (confirm, confirmed) = oneshot::channel();
        let (run, asker) = (id, Asker::Other(confirm));
        self.handle(Event::Cancel { run, asker, reason });
        let outcome = timeout(self.limits.confirm_timeout, confirmed).await;
        let outcome = outcome.ok().and_then(Result::ok);
        // The app may have answered the call meanwhile, but not the cancel.
        let outcome = outcome.or_else(|| self.state().broker.outcome_of_ended(id));
        let outcome = outcome.unwrap_or_else(unconfirmed);
        let (cancelled, stop) = (outcome.cancelled(), outcome.stop.map(Stop::as_str));
        tracing::info!(run = %id, by = &*by.name, cancelled, stop, "cancel answered");
        outcome
    }

    /// The cancels that come in through the cancellation API.
    pub fn cancellations(&self) -> broadcast::Receiver<CancelNotice> {
        self.notices.subscribe()
    }

    /// Tells the listening sessions of a cancel. Returns how many there are.
    pub fn announce_cancelled(&self, notice: CancelNotice) -> usize {
        self.notices.send(notice).unwrap_or(0)
    }

    /// Notes whether this worker can reach the other workers of the cluster.
    pub(crate) fn reaches_others(&self, reached: bool) {
        self.state().broker.set_cut_off(!reached);
    }

    /// From now on, calls `hears` with each notice of other workers, until `hears` returns false.
    pub fn hear_others(&self, hears: impl Fn(&Notice) -> bool + Send + 'static) {
        self.hears_others.lock().push(Box::new(hears));
    }

    /// Gives a notice of another worker to the functions that listen.
    pub(crate) fn pass_on(&self, notice: &Notice) {
        self.hears_others.lock().retain(|hears| hears(notice));
    }
}
