//! Runs of a lost worker, in the ledger of another worker.

use std::collections::BTreeSet;
use std::sync::Arc;

use uuid::Uuid;

use super::{Ending, Lost, Run, RunId, RunState, Runs};

impl Runs {
    /// Enters the runs of a lost worker, which was of the process `gone`. A run of another process had been
    /// adopted by that worker; it is left out if its own process is `back`. A run that had ended keeps its
    /// end. The outcome of a run in flight is unknown. Returns the runs that are remembered now: some may be
    /// too old, too many, or already known.
    pub fn adopt(
        &mut self,
        runs: Vec<Arc<Run>>,
        gone: Uuid,
        back: impl Fn(Uuid) -> bool,
        now: u64,
    ) -> Vec<RunId> {
        self.expire(now);
        let mut adopted: Vec<_> = runs
            .into_iter()
            .filter_map(|run| {
                let mut run = Arc::unwrap_or_clone(run);
                let home = *run.home.get_or_insert(gone);
                (!back(home)).then(|| self.adopt_one(run, now))?
            })
            .collect();
        adopted.retain(|id| self.runs.contains_key(id));
        adopted
    }

    /// The process of these runs is back and knows the outcomes itself. The copies end.
    pub fn give_back(&mut self, home: Uuid) {
        let runs = self.runs.values().filter(|run| run.home == Some(home));
        let ids: BTreeSet<_> = runs.map(|run| run.id).collect();
        if ids.is_empty() {
            return;
        }
        self.ended.remove_all(&ids);
        for id in ids {
            self.forget(id);
        }
    }

    fn adopt_one(&mut self, mut run: Run, now: u64) -> Option<RunId> {
        if let Some(known) = self.run_mut(run.id) {
            // If the worker was given up too early, the end of the run may have been unknown until now.
            let corrected =
                known.adopted && known.state == RunState::Unknown && run.state.is_over();
            if !corrected {
                return None;
            }
            *known = Run {
                // The ledger finds the run by these fields.
                owner: known.owner.clone(),
                dialect_id: known.dialect_id.take(),
                ended_at: known.ended_at,
                sequence: known.sequence,
                adopted: true,
                ..run
            };
            let (id, owner, bytes) = (known.id, known.owner.name.clone(), known.bytes());
            let ended_at = known.ended_at.unwrap_or_default();
            self.ended.resize(&owner, ended_at, (id, bytes));
            self.forget_surplus(&owner);
            return Some(id);
        }
        if !run.state.is_over() {
            run.finish(Ending::Lost(Lost::Gateway), now);
        }
        let ended_at = run.ended_at.unwrap_or(run.registered_at).min(now);
        if ended_at < self.since(now) {
            return None;
        }
        run.ended_at = Some(ended_at);
        run.adopted = true;
        self.last_sequence += 1;
        run.sequence = self.last_sequence;
        let id = run.id;
        self.by_dialect_id.add(&run);
        let (owner, bytes) = (run.owner.name.clone(), run.bytes());
        self.runs.insert(id, Arc::new(run));
        self.remember(&owner, ended_at, (id, bytes));
        Some(id)
    }
}
