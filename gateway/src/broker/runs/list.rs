//! What of the ledger is shown.

use std::borrow::Borrow;
use std::cmp::Reverse;

use super::{Run, Runs};
use crate::tokens::Identity;

/// Of runs that are newest first keeps all in flight, and the first `ended` of those that have
/// ended. How many are left out.
pub fn leave_out(runs: &mut Vec<impl Borrow<Run>>, ended: usize) -> usize {
    let (all, mut seen) = (runs.len(), 0);
    runs.retain(|run| {
        let is_over = run.borrow().state.is_over();
        seen += usize::from(is_over);
        !is_over || seen <= ended
    });
    all - runs.len()
}

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
        let omitted = leave_out(&mut found, ended);
        (found.into_iter().cloned().collect(), omitted)
    }
}
