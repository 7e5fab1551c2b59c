//! What is counted, for Prometheus. Times are in seconds; every name starts with `caphost_`.

use std::fmt;
use std::time::Duration;

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
    with_local_recorder,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

use super::relay::Counters;
use super::runs::{Dialect, Run, RunState};

const DIALECTS: [Dialect; 4] = [Dialect::Abp, Dialect::Rap, Dialect::Mcp, Dialect::JsonRpc];
const OUTCOMES: [RunState; 4] = [
    RunState::Completed,
    RunState::Failed,
    RunState::Cancelled,
    RunState::Unknown,
];

/// From a call that computes nothing to one that exports a large file.
const RUN_SECONDS: [f64; 12] = [
    0.001, 0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0, 60.0, 300.0, 1_800.0,
];
/// A confirmation takes milliseconds, which is as fine as runs are timed, and at most the confirm
/// timeout.
const CONFIRMATION_SECONDS: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0, 5.0];

/// What came of a cancel, once for each run that was asked to be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelResult {
    /// The run is cancelled.
    Confirmed,
    /// The run had another end before the cancel came to it.
    TooLate,
    /// The app said no, and the run goes on.
    Refused,
    /// Nobody knows: the app or the agent went away.
    Unconfirmed,
}

impl CancelResult {
    const ALL: [CancelResult; 4] = [
        CancelResult::Confirmed,
        CancelResult::TooLate,
        CancelResult::Refused,
        CancelResult::Unconfirmed,
    ];

    /// Its name in metrics and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            CancelResult::Confirmed => "confirmed",
            CancelResult::TooLate => "too_late",
            CancelResult::Refused => "refused",
            CancelResult::Unconfirmed => "unconfirmed",
        }
    }

    /// Of a run that has ended, if it was asked to be cancelled.
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

/// What is read when it is asked for, not counted as it happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readings {
    /// Agents and apps connected.
    pub peers: (usize, usize),
    /// Requests and questions that wait for an answer.
    pub in_flight: usize,
    /// Of the relay.
    pub counters: Counters,
}

/// The metrics of one gateway. Every method is cheap and may be called from anywhere.
pub struct Metrics(PrometheusRecorder);

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let buckets = [
            ("caphost_run_duration_seconds", &RUN_SECONDS[..]),
            (
                "caphost_cancel_confirmation_seconds",
                &CONFIRMATION_SECONDS[..],
            ),
        ];
        let mut builder = PrometheusBuilder::new();
        for (name, bounds) in buckets {
            let metric = Matcher::Full(name.into());
            builder = builder
                .set_buckets_for_metric(metric, bounds)
                .expect("there are buckets");
        }
        let metrics = Metrics(builder.build_recorder());
        metrics.with(describe);
        metrics.with(start_at_zero);
        metrics
    }
}

impl Metrics {
    /// A call has come.
    pub fn run_started(&self, dialect: Dialect) {
        self.with(|| {
            counter!("caphost_runs_started_total", "dialect" => dialect.as_str()).increment(1);
        });
    }

    /// A run is over; and its cancel, if there was one.
    pub fn run_ended(&self, run: &Run) {
        let dialect = run.dialect.as_str();
        let ended_at = run.ended_at.unwrap_or(run.registered_at);
        self.with(|| {
            let outcome = run.state.as_str();
            counter!("caphost_runs_ended_total", "dialect" => dialect, "outcome" => outcome)
                .increment(1);
            histogram!("caphost_run_duration_seconds", "dialect" => dialect)
                .record(seconds(run.registered_at, ended_at));
        });
        let Some(result) = CancelResult::of(run) else {
            return;
        };
        self.cancel_answered(run.dialect, result);
        if let (Some(asked), Some(confirmed)) = (run.cancel_requested_at, run.cancelled_at) {
            self.with(|| {
                histogram!("caphost_cancel_confirmation_seconds", "dialect" => dialect)
                    .record(seconds(asked, confirmed));
            });
        }
    }

    /// It is known what came of a cancel. [`Metrics::run_ended`] says so itself.
    pub fn cancel_answered(&self, dialect: Dialect, result: CancelResult) {
        let (dialect, result) = (dialect.as_str(), result.as_str());
        self.with(|| {
            counter!("caphost_cancels_total", "dialect" => dialect, "result" => result)
                .increment(1);
        });
    }

    /// A callback was delivered, or given up, after `retries` attempts more than the first.
    pub fn callback_ended(&self, delivered: bool, retries: u32) {
        let result = if delivered { "delivered" } else { "failed" };
        self.with(|| {
            counter!("caphost_callbacks_total", "result" => result).increment(1);
            counter!("caphost_callback_retries_total").increment(u64::from(retries));
        });
    }

    /// An HTTP request was answered with that status.
    pub fn http_answered(&self, status: u16) {
        self.with(|| {
            counter!("caphost_http_responses_total", "status" => status.to_string()).increment(1);
        });
    }

    /// All of it, in Prometheus' text format.
    pub fn render(&self, readings: Readings) -> String {
        let (agents, apps) = readings.peers;
        let Counters {
            answers_dropped,
            strays_dropped,
            refused,
            relayed,
        } = readings.counters;
        self.with(|| {
            gauge!("caphost_connections", "kind" => "agent").set(agents as f64);
            gauge!("caphost_connections", "kind" => "app").set(apps as f64);
            gauge!("caphost_requests_in_flight").set(readings.in_flight as f64);
            counter!("caphost_requests_relayed_total").absolute(relayed);
            counter!("caphost_messages_refused_total").absolute(refused);
            counter!("caphost_answers_dropped_total").absolute(answers_dropped);
            counter!("caphost_strays_dropped_total").absolute(strays_dropped);
        });
        self.0.handle().render()
    }

    /// To be called every few seconds: what was recorded since is kept one by one until then.
    pub fn sum_up(&self) {
        self.0.handle().run_upkeep();
    }

    fn with(&self, record: impl FnOnce()) {
        with_local_recorder(&self.0, record);
    }
}

fn describe() {
    let count = Unit::Count;
    describe_gauge!(
        "caphost_build_info",
        count,
        "Always 1; the version as a label."
    );
    describe_gauge!(
        "caphost_connections",
        count,
        "Peers connected by WebSocket, by kind."
    );
    describe_gauge!(
        "caphost_requests_in_flight",
        count,
        "Requests and questions that wait for an answer."
    );
    describe_counter!(
        "caphost_requests_relayed_total",
        count,
        "Requests passed on to apps."
    );
    describe_counter!(
        "caphost_messages_refused_total",
        count,
        "Messages of agents and apps that were refused."
    );
    describe_counter!(
        "caphost_answers_dropped_total",
        count,
        "Answers of apps to nothing that was pending: late, repeated, or never asked for."
    );
    describe_counter!(
        "caphost_strays_dropped_total",
        count,
        "Messages of apps for agents that were gone."
    );
    describe_counter!("caphost_runs_started_total", count, "Calls, by dialect.");
    describe_counter!(
        "caphost_runs_ended_total",
        count,
        "Calls that are over, by dialect and outcome."
    );
    describe_histogram!(
        "caphost_run_duration_seconds",
        Unit::Seconds,
        "From a call to its end, by dialect."
    );
    describe_counter!(
        "caphost_cancels_total",
        count,
        "Calls that were asked to be cancelled, by dialect and result."
    );
    describe_histogram!(
        "caphost_cancel_confirmation_seconds",
        Unit::Seconds,
        "From the first request to cancel a call to its confirmation, by dialect."
    );
    describe_counter!(
        "caphost_callbacks_total",
        count,
        "Callbacks delivered or given up, by result."
    );
    describe_counter!(
        "caphost_callback_retries_total",
        count,
        "Further attempts to deliver a callback."
    );
    describe_counter!(
        "caphost_http_responses_total",
        count,
        "HTTP requests answered, by status."
    );
}

/// A counter that is not there before it first counts hides that first time from `rate()`.
fn start_at_zero() {
    gauge!("caphost_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    for dialect in DIALECTS.map(Dialect::as_str) {
        counter!("caphost_runs_started_total", "dialect" => dialect).absolute(0);
        for outcome in OUTCOMES.map(RunState::as_str) {
            counter!("caphost_runs_ended_total", "dialect" => dialect, "outcome" => outcome)
                .absolute(0);
        }
        for result in CancelResult::ALL.map(CancelResult::as_str) {
            counter!("caphost_cancels_total", "dialect" => dialect, "result" => result).absolute(0);
        }
    }
    for result in ["delivered", "failed"] {
        counter!("caphost_callbacks_total", "result" => result).absolute(0);
    }
    counter!("caphost_callback_retries_total").absolute(0);
}

fn seconds(from_ms: u64, to_ms: u64) -> f64 {
    Duration::from_millis(to_ms.saturating_sub(from_ms)).as_secs_f64()
}
