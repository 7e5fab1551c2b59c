//! Lists of runs: how many are in one. What takes time is done with the runs themselves, without
//! the ledger.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::sync::Arc;

use super::Run;

/// Runs in flight in a list at most.
pub(super) const IN_FLIGHT: usize = 10_000;

/// Of runs in any order the newest, newest first: of those in flight as many as a list may have, and
/// `ended` of those that have ended. How many are left out.
pub fn newest(runs: Vec<Arc<Run>>, ended: usize) -> (Vec<Arc<Run>>, usize) {
    let all = runs.len();
    let (over, mut listed): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.state.is_over());
    cut(&mut listed, IN_FLIGHT);
    let mut over = over;
    cut(&mut over, ended);
    listed.append(&mut over);
    listed.sort_unstable_by_key(|run| age(run));
    let omitted = all - listed.len();
    (listed, omitted)
}

/// Of runs that are newest first keeps as many as a list may have: of those in flight, and `ended` of
/// those that have ended. How many are left out.
pub fn leave_out(runs: &mut Vec<impl Borrow<Run>>, ended: usize) -> usize {
    let (all, mut over, mut in_flight) = (runs.len(), 0, 0);
    runs.retain(|run| {
        let (seen, most) = match run.borrow().state.is_over() {
            true => (&mut over, ended),
            false => (&mut in_flight, IN_FLIGHT),
        };
        *seen += 1;
        *seen <= most
    });
    all - runs.len()
}

/// What sorts the newest first.
pub(super) fn age(run: &Run) -> Reverse<(u64, u64)> {
    Reverse((run.registered_at, run.sequence))
}

/// Keeps the newest.
fn cut(runs: &mut Vec<Arc<Run>>, most: usize) {
    if runs.len() > most {
        runs.select_nth_unstable_by_key(most, |run| age(run));
        runs.truncate(most);
    }
}
