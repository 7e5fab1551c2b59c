//! Queries of the ledger: the runs that an id may mean, and lists of runs. Slow work is done on the runs
//! themselves, after the ledger is unlocked.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{Calls, Run, RunId, RunMark};
use crate::tokens::{Identity, Sees};

/// The most runs in flight that a list has.
const IN_FLIGHT: usize = 10_000;

/// The most runs that are named when an id is ambiguous.
const MATCHES: usize = 16;

/// The runs that an id may mean.
#[derive(Clone, Debug)]
pub enum Found<R = Arc<Run>> {
    /// No run that the viewer may see.
    None,
    /// Exactly one run.
    One(R),
    /// Several runs, by their own ids: at most 16.
    Several(Vec<RunId>),
}

impl Found {
    /// The run that is meant among several: runs in flight come before ended runs.
    pub fn among(runs: Vec<Arc<Run>>) -> Found {
        Found::among_by(runs, |run| RunMark::from(&**run))
    }
}

impl<R> Found<R> {
    /// Like `among`, for any type of which `mark` tells enough.
    pub fn among_by(mut runs: Vec<R>, mark: impl Fn(&R) -> RunMark) -> Found<R> {
        if runs.iter().any(|run| !mark(run).is_over) {
            runs.retain(|run| !mark(run).is_over);
        }
        match runs.len() {
            0 => Found::None,
            1 => Found::One(runs.remove(0)),
            _ => Found::Several(runs.iter().take(MATCHES).map(|run| mark(run).id).collect()),
        }
    }
}

impl Calls {
    /// The run that `viewer` means by `request_id`: the run with that id, else the run with that id in its
    /// dialect. Runs in flight come before ended runs.
    pub fn find(&self, request_id: &str, viewer: &Identity, now: u64) -> Found {
        Found::among(self.matches(request_id, viewer, now))
    }

    /// The runs that `viewer` may mean by `request_id`: the runs in flight, or else the ended runs.
    /// If there are more than 16, the newest 16. Oldest first.
    pub fn matches(&self, request_id: &str, viewer: &Identity, now: u64) -> Vec<Arc<Run>> {
        let own = request_id.parse().ok().filter(|id| self.get(*id).is_some());
        let namesakes = own.is_none().then(|| self.by_dialect_id.of(request_id));
        let namesakes = namesakes.into_iter().flatten();
        let found = own.into_iter().chain(namesakes);
        let found = found.filter_map(|id| Some(&self.calls.get(&id)?.run));
        let (mut in_flight, mut over) = (Vec::new(), Vec::new());
        for run in found.filter(self.seen_by(viewer, now)) {
            let alike = match run.state.is_over() {
                true => &mut over,
                false => &mut in_flight,
            };
            if alike.len() < MATCHES {
                alike.push(run.clone());
            }
            if in_flight.len() == MATCHES {
                break;
            }
        }
        let mut found = if in_flight.is_empty() {
            over
        } else {
            in_flight
        };
        found.reverse();
        found
    }

    /// The newest runs that `viewer` may see, in any order: as many as a list with `ended` ended runs may
    /// have, see [`newest`]. Also returns how many are left out.
    pub fn recent(&self, viewer: &Identity, ended: usize, now: u64) -> (Vec<Arc<Run>>, usize) {
        let owner = match viewer.sees() {
            Sees::Own => Some(&*viewer.name),
            Sees::All => None,
            Sees::OfApp => return (self.visible(viewer, now), 0),
        };
        let (mut ids, flying) = self.live.newest(owner, IN_FLIGHT);
        let (over, left) = self.ended.newest(owner, ended, self.since(now));
        ids.extend(over);
        let runs = ids.iter().filter_map(|id| self.shared(*id)).collect();
        (runs, flying + left)
    }

    /// All runs that `viewer` may see, in any order.
    pub fn visible(&self, viewer: &Identity, now: u64) -> Vec<Arc<Run>> {
        let all = self.calls.values().map(|call| &call.run);
        let seen = all.filter(self.seen_by(viewer, now));
        seen.cloned().collect()
    }

    fn seen_by(&self, viewer: &Identity, now: u64) -> impl Fn(&&Arc<Run>) -> bool {
        let since = self.since(now);
        move |run| {
            run.ended_at.is_none_or(|ended| ended >= since)
                && viewer.may_see(&run.owner, run.app.as_deref())
        }
    }
}

/// Sorts runs, newest first, and keeps the newest: as many in flight as a list may have, and `ended` ended
/// runs. Also returns how many are left out.
pub fn newest(mut runs: Vec<Arc<Run>>, ended: usize) -> (Vec<Arc<Run>>, usize) {
    // With many runs it takes long to compute each key again and again.
    runs.sort_by_cached_key(|run| Reverse((run.registered_at, run.sequence)));
    let omitted = leave_out(&mut runs, ended);
    (runs, omitted)
}

/// Cuts a list of runs, newest first: keeps as many in flight as a list may have, and `ended` ended runs.
/// Returns how many are left out.
pub fn leave_out(runs: &mut Vec<Arc<Run>>, ended: usize) -> usize {
    let (all, mut over, mut in_flight) = (runs.len(), 0, 0);
    runs.retain(|run| {
        let (seen, most) = match run.state.is_over() {
            true => (&mut over, ended),
            false => (&mut in_flight, IN_FLIGHT),
        };
        *seen += 1;
        *seen <= most
    });
    all - runs.len()
}
