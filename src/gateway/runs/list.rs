//! What of the ledger is shown.

use std::cmp::Reverse;

use super::{Run, Runs};
use crate::gateway::tokens::Identity;

impl Runs {
    /// What `viewer` may see, newest first.
    pub fn list(&self, viewer: &Identity, now: u64) -> Vec<Run> {
        self.recent(viewer, usize::MAX, now).0
    }

    /// What `viewer` may see, newest first: all in flight, and the newest `ended` of those that have
    /// ended. How many of the latter are left out.
    pub fn recent(&self, viewer: &Identity, ended: usize, now: u64) -> (Vec<Run>, usize) {
        let since = self.since(now);
        let shown = |run: &&Run| {
            run.ended_at.is_none_or(|ended| ended >= since)
                && viewer.may_see(&run.owner, run.app.as_deref())
        };
        let mut found: Vec<_> = self.runs.values().map(Box::as_ref).filter(shown).collect();
        found.sort_unstable_by_key(|run| Reverse((run.registered_at, run.sequence)));
        let all = found.len();
        let mut seen = 0;
        found.retain(|run| {
            seen += usize::from(run.state.is_over());
            !run.state.is_over() || seen <= ended
        });
        let omitted = all - found.len();
        (found.into_iter().cloned().collect(), omitted)
    }
}
