//! Which runs have to be written down in Redis, for the others to take over if this worker dies.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::WorkerId;
use crate::broker::runs::{News, RunId};

/// The runs that have changed since they were written. What is written is what they are by then, so
/// no older state comes after a newer one.
#[derive(Debug, Default)]
pub(super) struct Records(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// There is a Redis to write to.
    on: bool,
    /// Those that have just begun: they are written before their calls leave this worker.
    begun: BTreeSet<RunId>,
    changed: BTreeSet<RunId>,
    /// Under which ids of this worker runs were written.
    homes: BTreeSet<WorkerId>,
}

impl Records {
    /// Everything is to be written, under that id. Under which others it was.
    pub fn begin(&self, me: WorkerId, runs: Vec<RunId>) -> Vec<WorkerId> {
        let mut state = self.state();
        state.on = true;
        state.changed.extend(runs);
        state.homes.insert(me);
        let others = state.homes.iter().copied();
        others.filter(|id| *id != me).collect()
    }

    /// What was written under these ids is gone.
    pub fn moved(&self, from: &[WorkerId]) {
        self.state().homes.retain(|id| !from.contains(id));
    }

    /// Nothing can be written: everything will be, later.
    pub fn end(&self) {
        let mut state = self.state();
        state.on = false;
        state.begun.clear();
        state.changed.clear();
    }

    /// Some that are to be written now, those that have just begun first; and whether all of those
    /// are among them.
    pub fn take(&self, max: usize) -> (Vec<RunId>, bool) {
        let mut state = self.state();
        let next = || {
            state
                .begun
                .pop_first()
                .or_else(|| state.changed.pop_first())
        };
        let some = std::iter::from_fn(next).take(max).collect();
        (some, state.begun.is_empty())
    }

    /// Whether everything is written, or about to be.
    pub fn is_empty(&self) -> bool {
        let state = self.state();
        state.begun.is_empty() && state.changed.is_empty()
    }

    /// What is happening to runs.
    pub fn note(&self, news: &[News]) {
        let mut state = self.state();
        if !state.on {
            return;
        }
        for event in news {
            match event {
                News::Registered(id, _) => {
                    state.changed.remove(id);
                    state.begun.insert(*id);
                }
                News::CancelRequested(id) | News::EndedLate(id, ..) | News::Forgotten(id) => {
                    state.change(*id);
                }
                News::Ended(ended) => state.change(ended.id),
                News::CancelRefused(..) | News::EarlyTaken(_) => {}
            }
        }
    }

    /// These are to be written.
    pub fn changed(&self, runs: impl Iterator<Item = RunId>) {
        let mut state = self.state();
        if state.on {
            runs.for_each(|id| state.change(id));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn change(&mut self, id: RunId) {
        if !self.begun.contains(&id) {
            self.changed.insert(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::runs::Dialect;

    #[test]
    fn what_changes_while_there_is_no_redis_is_not_collected() {
        let records = Records::default();
        let (one, two) = (RunId::random(), RunId::random());
        records.changed([one].into_iter());
        assert!(records.is_empty());
        let me = WorkerId::random();
        assert_eq!(records.begin(me, vec![one]), []);
        records.changed([one, two].into_iter());
        assert_eq!(records.take(1).0.len(), 1);
        assert_eq!(records.take(9).0.len(), 1, "each once");
        records.note(&[News::Registered(two, Dialect::Abp)]);
        records.changed([one, two].into_iter());
        assert_eq!(records.take(0), (vec![], false));
        assert_eq!(
            records.take(1),
            (vec![two], true),
            "what has begun goes first"
        );
        records.end();
        assert!(records.is_empty());
        let next = WorkerId::random();
        assert_eq!(records.begin(next, vec![]), [me]);
        records.moved(&[me]);
        assert_eq!(records.begin(next, vec![]), []);
    }
}
