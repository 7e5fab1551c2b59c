//! Runs of a worker that is gone, in the ledger of another.

use super::{Ending, Run, RunId, Runs};
use crate::call::Code;

impl Runs {
    /// Enters the runs of a worker that is gone. What had ended keeps its end; of what was in flight
    /// nobody knows the outcome. Those that are remembered now: some may be too old, too many, or
    /// known already.
    pub fn adopt(&mut self, runs: Vec<Run>, now: u64) -> Vec<RunId> {
        self.expire(now);
        let mut adopted: Vec<_> = runs
            .into_iter()
            .filter_map(|run| self.adopt_one(run, now))
            .collect();
        // Sorted for the most part already.
        self.ended.make_contiguous().sort_by_key(|(at, _)| *at);
        self.forget_surplus();
        adopted.retain(|id| self.runs.contains_key(id));
        adopted
    }

    fn adopt_one(&mut self, mut run: Run, now: u64) -> Option<RunId> {
        if self.runs.contains_key(&run.id) {
            return None;
        }
        if !run.state.is_over() {
            let disconnected = Ending::Unknown(Code::DISCONNECTED.as_str().into());
            run.finish(disconnected, now);
        }
        let ended_at = run.ended_at.unwrap_or(run.registered_at).min(now);
        if ended_at < self.since(now) {
            return None;
        }
        run.ended_at = Some(ended_at);
        run.adopted = true;
        self.registered += 1;
        run.sequence = self.registered;
        let id = run.id;
        if let Some(dialect_id) = &run.dialect_id {
            let ids = self.by_dialect_id.entry(dialect_id.clone()).or_default();
            ids.push(id);
        }
        self.runs.insert(id, Box::new(run));
        self.ended.push_back((ended_at, id));
        Some(id)
    }
}
