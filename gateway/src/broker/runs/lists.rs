//! What is read of the ledger: the runs an id may mean, and lists, and how many are in one. What takes
//! time is done with the runs themselves, without the ledger.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{Run, RunId, RunMark, Runs};
use crate::tokens::{Identity, Sees};

/// Runs in flight in a list at most.
const IN_FLIGHT: usize = 10_000;

/// Runs that an id is said to mean, at most.
const MATCHES: usize = 16;

/// The runs an id may mean.
#[derive(Clone, Debug)]
pub enum Found<R = Arc<Run>> {
    /// None that may be seen.
    None,
    /// Exactly one.
    One(R),
    /// Several, by their own ids: at most 16 of them.
    Several(Vec<RunId>),
}

impl Found {
    /// The one that is meant of several: those in flight come before those that have ended.
    pub fn among(runs: Vec<Arc<Run>>) -> Found {
        Found::among_by(runs, |run| RunMark::from(&**run))
    }
}

impl<R> Found<R> {
    /// The same, of runs of which `mark` tells enough.
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

impl Runs {
    /// The run that `viewer` means by `request_id`: by its own id, else by its dialect's, where
    /// those in flight come before those that have ended.
    pub fn find(&self, request_id: &str, viewer: &Identity, now: u64) -> Found {
        Found::among(self.matches(request_id, viewer, now))
    }

    /// What `viewer` may mean by `request_id`: those in flight, or else those that have ended, and
    /// of them the newest 16, oldest first.
    pub fn matches(&self, request_id: &str, viewer: &Identity, now: u64) -> Vec<Arc<Run>> {
        let own = request_id.parse().ok().and_then(|id| self.runs.get(&id));
        let namesakes = own.is_none().then(|| self.by_dialect_id.of(request_id));
        let namesakes = namesakes.into_iter().flatten();
        let found = own
            .into_iter()
            .chain(namesakes.filter_map(|id| self.runs.get(&id)));
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

    /// Up to as many runs as a list with `ended` ended runs may have, of those `viewer` may see, in any
    /// order: see [`newest`]. Also returns how many are left out here already.
    pub fn recent(&self, viewer: &Identity, ended: usize, now: u64) -> (Vec<Arc<Run>>, usize) {
        let owner = match viewer.sees() {
            Sees::Own => Some(&*viewer.name),
            Sees::All => None,
            Sees::OfApp => return (self.visible(viewer, now), 0),
        };
        let (mut ids, flying) = self.flying.newest(owner, IN_FLIGHT);
        let (over, left) = self.ended.newest(owner, ended, self.since(now));
        ids.extend(over);
        let runs = ids.iter().filter_map(|id| self.shared(*id)).collect();
        (runs, flying + left)
    }

    /// All that `viewer` may see, in any order.
    pub fn visible(&self, viewer: &Identity, now: u64) -> Vec<Arc<Run>> {
        let seen = self.runs.values().filter(self.seen_by(viewer, now));
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

/// The newest of runs in any order, newest first: as many in flight as a list may have, and `ended` that
/// have ended. Also returns how many are left out.
pub fn newest(mut runs: Vec<Arc<Run>>, ended: usize) -> (Vec<Arc<Run>>, usize) {
    // There may be so many that it takes long to look at each again and again.
    runs.sort_by_cached_key(|run| Reverse((run.registered_at, run.sequence)));
    let omitted = leave_out(&mut runs, ended);
    (runs, omitted)
}

/// Cuts runs, newest first, to what a list may have: as many in flight, and `ended` that have ended.
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
