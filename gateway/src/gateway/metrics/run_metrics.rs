//! The metrics of runs and their cancels.

use metrics::{Counter, Histogram, counter, histogram};

use crate::broker::calls::{Dialect, Run, RunState};

/// The metrics of runs, by [`Dialect::index`].
pub(super) struct RunMetrics {
    pub started: [Counter; Dialect::ALL.len()],
    /// The ended runs, by their position in [`RunState::ENDS`].
    ended: [[Counter; RunState::ENDS.len()]; Dialect::ALL.len()],
    durations: [Histogram; Dialect::ALL.len()],
}

impl RunMetrics {
    /// Registers the metrics with the current recorder.
    pub fn register() -> Self {
        RunMetrics {
            started: Dialect::ALL
                .map(|it| counter!("caphost_runs_started_total", "dialect" => it.as_str())),
            ended: Dialect::ALL.map(|it| RunState::ENDS.map(|state| ended(it, state))),
            durations: Dialect::ALL
                .map(|it| histogram!("caphost_run_duration_seconds", "dialect" => it.as_str())),
        }
    }

    /// A run has ended.
    pub fn ended(&self, run: &Run) {
        let dialect = run.dialect.index();
        let outcome = RunState::ENDS.iter().position(|state| *state == run.state);
        if let Some(outcome) = outcome {
            self.ended[dialect][outcome].increment(1);
        }
        self.durations[dialect].record(run.duration() as f64 / 1_000.0);
    }
}

fn ended(dialect: Dialect, state: RunState) -> Counter {
    let (dialect, outcome) = (dialect.as_str(), state.as_str());
    counter!("caphost_runs_ended_total", "dialect" => dialect, "outcome" => outcome)
}

/// The result of a cancel, counted once for each run with a requested cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelResult {
    /// The run is cancelled.
    Confirmed,
    /// The run had ended in another way before the cancel reached it.
    TooLate,
    /// The app refused, and the run goes on.
    Refused,
    /// Nobody knows the result: the app or the agent went away.
    Unconfirmed,
}

impl CancelResult {
    pub(super) const ALL: [CancelResult; 4] = [
        CancelResult::Confirmed,
        CancelResult::TooLate,
        CancelResult::Refused,
        CancelResult::Unconfirmed,
    ];

    /// The name in metrics and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            CancelResult::Confirmed => "confirmed",
            CancelResult::TooLate => "too_late",
            CancelResult::Refused => "refused",
            CancelResult::Unconfirmed => "unconfirmed",
        }
    }

    /// The result for an ended run, if somebody asked to cancel the run.
    pub fn of(run: &Run) -> Option<Self> {
        run.cancel_requested_at?;
        match run.state {
            RunState::Cancelled => Some(CancelResult::Confirmed),
            RunState::Completed | RunState::Failed => Some(CancelResult::TooLate),
            RunState::Unknown => Some(CancelResult::Unconfirmed),
            RunState::Queued | RunState::Running | RunState::Cancelling => None,
        }
    }
}
