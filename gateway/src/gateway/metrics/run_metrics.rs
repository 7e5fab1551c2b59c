//! What is counted with every call, looked up once.

use metrics::{Counter, Histogram, counter, histogram};

use super::seconds;
use crate::broker::runs::{Dialect, Ended, RunState};

/// By [`Dialect::index`].
pub(super) struct RunMetrics {
    pub started: [Counter; Dialect::ALL.len()],
    /// By their place in [`RunState::ENDS`].
    ended: [[Counter; RunState::ENDS.len()]; Dialect::ALL.len()],
    durations: [Histogram; Dialect::ALL.len()],
}

impl RunMetrics {
    /// With the recorder that is the current one.
    pub fn register() -> Self {
        RunMetrics {
            started: Dialect::ALL
                .map(|it| counter!("caphost_runs_started_total", "dialect" => it.as_str())),
            ended: Dialect::ALL.map(|it| RunState::ENDS.map(|state| ended(it, state))),
            durations: Dialect::ALL
                .map(|it| histogram!("caphost_run_duration_seconds", "dialect" => it.as_str())),
        }
    }

    /// A run is over.
    pub fn ended(&self, run: Ended) {
        let dialect = run.dialect.index();
        let outcome = RunState::ENDS.iter().position(|state| *state == run.state);
        if let Some(outcome) = outcome {
            self.ended[dialect][outcome].increment(1);
        }
        self.durations[dialect].record(seconds(run.registered_at, run.ended_at));
    }
}

fn ended(dialect: Dialect, state: RunState) -> Counter {
    let (dialect, outcome) = (dialect.as_str(), state.as_str());
    counter!("caphost_runs_ended_total", "dialect" => dialect, "outcome" => outcome)
}
