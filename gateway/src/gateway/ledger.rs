//! What the cluster asks of the ledger of runs here.

use crate::broker::runs::{EarlyCancel, Found, Run, RunId};
use crate::gateway::hub::Hub;
use crate::tokens::Identity;

impl Hub {
    /// All runs here that `viewer` may mean by a run id, or by a dialect's own.
    pub fn matches(&self, request_id: &str, viewer: &Identity) -> Vec<Run> {
        let now = self.now().unix_ms;
        let state = self.state();
        state.relay.runs().matches(request_id, viewer, now)
    }

    /// Cancels a run yet to come here: see [`crate::broker::runs::Runs::cancel_early`].
    pub fn cancel_early(&self, request_id: &str, reason: Option<String>, by: &Identity) {
        let now = self.now().unix_ms;
        let early = EarlyCancel::new(request_id, reason, by, now);
        self.change_runs(|runs, now| runs.cancel_early(early, now));
    }

    /// The runs here that `by` means. If there is none and `keep`, the cancel is kept for it: as it
    /// is kept.
    pub(crate) fn matches_or_keep(
        &self,
        request_id: &str,
        reason: Option<String>,
        by: &Identity,
        keep: bool,
    ) -> (Vec<Run>, Option<EarlyCancel>) {
        self.change_runs(|runs, now| {
            let found = runs.matches(request_id, by, now);
            let keep = keep && found.is_empty();
            let kept = keep.then(|| EarlyCancel::new(request_id, reason, by, now));
            (found, kept.and_then(|early| runs.cancel_early(early, now)))
        })
    }

    /// Another worker keeps a cancel: the run here that it meets. If there is none, it is kept here
    /// too.
    pub(crate) fn meet_early(&self, mut early: EarlyCancel) -> Option<Box<Run>> {
        self.change_runs(|runs, now| {
            // A worker of another version, or with other options, may keep more.
            if !runs.keeps_early(&early.request_id) {
                return None;
            }
            early.at = early.at.min(now);
            match runs.find(&early.request_id, &early.by, now) {
                Found::Several(_) => return None,
                // One that had ended by then is another.
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

    /// A cancel for a run yet to come has met it on another worker.
    pub(crate) fn forget_early(&self, early: &EarlyCancel) {
        self.change_runs(|runs, _| runs.forget_early(early));
    }

    /// The cancels kept for runs yet to come.
    pub(crate) fn early_cancels(&self) -> Vec<EarlyCancel> {
        let now = self.now().unix_ms;
        self.state().relay.runs().early_cancels(now)
    }

    /// Enters runs of a worker that is gone: those that are remembered now.
    pub(crate) fn adopt(&self, runs: Vec<Run>) -> Vec<RunId> {
        self.change_runs(|ledger, now| ledger.adopt(runs, now))
    }

    /// All runs that are remembered here.
    pub(crate) fn run_ids(&self) -> Vec<RunId> {
        self.state().relay.runs().ids()
    }

    /// These runs, as far as they are remembered here.
    pub(crate) fn runs_by_id(&self, ids: Vec<RunId>) -> Vec<(RunId, Option<Run>)> {
        let state = self.state();
        let runs = state.relay.runs();
        let with_run = |id| (id, runs.get(id).cloned());
        ids.into_iter().map(with_run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::runs::{Dialect, Ending, NewRun};
    use crate::limits::Limits;
    use crate::tokens::Tokens;

    const SEVEN: &str = "00000000-0000-4000-8000-000000000007";

    fn register(hub: &Hub) -> RunId {
        let id = RunId::random();
        hub.register_run(NewRun {
            id,
            dialect: Dialect::Mcp,
            dialect_id: Some(SEVEN.into()),
            owner: Identity::anyone(),
            thread: None,
            app: None,
            capability: "a.b".into(),
            call_id: "c".into(),
        });
        id
    }

    fn early(at: u64) -> EarlyCancel {
        EarlyCancel::new(SEVEN, None, &Identity::anyone(), at)
    }

    #[test]
    fn a_cancel_of_another_worker_meets_the_run_that_has_come_meanwhile() {
        let hub = Hub::new(Limits::default(), Tokens::default());
        let now = hub.now().unix_ms;
        let over = register(&hub);
        hub.run_ended(over, Ending::Completed);
        let met = hub.meet_early(early(now)).unwrap();
        assert_eq!(met.id, over, "it has come and gone");
        let run = register(&hub);
        assert_eq!(hub.meet_early(early(now)).unwrap().id, run);
        assert!(hub.early_cancels().is_empty());
        register(&hub);
        assert!(hub.meet_early(early(now)).is_none(), "which of them?");
        assert!(hub.early_cancels().is_empty());
    }

    #[test]
    fn a_cancel_of_another_worker_that_is_not_kept_here_meets_no_run() {
        let hub = Hub::new(Limits::default(), Tokens::default());
        let now = hub.now().unix_ms;
        let id = register(&hub).to_string();
        let shared = EarlyCancel::new("7", None, &Identity::anyone(), now);
        assert!(hub.meet_early(shared).is_none());
        let own = EarlyCancel::new(&id, None, &Identity::anyone(), now);
        assert!(hub.meet_early(own).is_some());
        let mut limits = Limits::default();
        limits.retention.early = std::time::Duration::ZERO;
        let hub = Hub::new(limits, Tokens::default());
        register(&hub);
        assert!(hub.meet_early(early(now)).is_none());
    }

    #[test]
    fn a_cancel_of_another_worker_is_kept_for_a_run_yet_to_come() {
        let hub = Hub::new(Limits::default(), Tokens::default());
        let kept = early(hub.now().unix_ms);
        assert!(hub.meet_early(kept.clone()).is_none());
        assert_eq!(hub.early_cancels(), [kept]);
        let run = register(&hub);
        let run = hub.run(run, &Identity::anyone()).unwrap();
        assert!(run.state.is_over() && hub.early_cancels().is_empty());
    }
}
