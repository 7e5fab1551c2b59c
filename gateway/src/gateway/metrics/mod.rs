//! The metrics for Prometheus. Times are in seconds. Every name starts with `caphost_`.

mod catalogue;
mod run_metrics;
mod tool_servers;

use std::fmt;
use std::time::Duration;

use metrics::{counter, gauge, histogram, with_local_recorder};
use metrics_exporter_prometheus::PrometheusRecorder;

pub use tool_servers::ToolServerCounters;

use crate::broker::Counters;
use crate::broker::calls::{Dialect, Run};
use crate::cluster::{METRICS, Standing, Traffic};
use crate::gateway::SessionCounts;
use crate::log;
pub use run_metrics::CancelResult;
use run_metrics::RunMetrics;
use tool_servers::TOOL_SERVERS;

/// The values that are read on demand and not counted as they happen.
#[derive(Clone, Copy, Debug)]
pub struct Readings<'a> {
    /// How many apps are connected.
    pub apps: usize,
    /// How many agents are connected, by dialect.
    pub agents: [(Dialect, usize); 4],
    /// How many requests and questions wait for an answer.
    pub in_flight: usize,
    /// The broker's counters.
    pub counters: Counters,
    /// Whether Redis answers, how many workers there are, and the traffic between them. `None` without a
    /// cluster.
    pub cluster: Option<(Standing, &'a Traffic)>,
    /// The counts of apps' sessions.
    pub sessions: SessionCounts,
}

/// The metrics of one gateway. Every method is cheap and may be called from anywhere.
pub struct Metrics {
    /// The counters of the RAP tool servers whose tools the gateway uses.
    pub tool_servers: ToolServerCounters,
    recorder: PrometheusRecorder,
    runs: RunMetrics,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let recorder = catalogue::recorder();
        let runs = with_local_recorder(&recorder, || {
            catalogue::describe();
            catalogue::start_at_zero();
            RunMetrics::register()
        });
        Metrics {
            tool_servers: ToolServerCounters::default(),
            recorder,
            runs,
        }
    }
}

impl Metrics {
    /// A call has come.
    pub fn run_started(&self, dialect: Dialect) {
        self.runs.started[dialect.index()].increment(1);
    }

    /// A run has ended, and with it the run's cancel, if there was one.
    pub fn run_ended(&self, run: &Run) {
        self.runs.ended(run);
        self.stopped(run);
        let Some(result) = CancelResult::of(run) else {
            return;
        };
        self.cancel_answered(run.dialect, result);
        if let (Some(asked), Some(confirmed)) = (run.cancel_requested_at, run.cancelled_at) {
            self.with(|| {
                histogram!("caphost_cancel_confirmation_seconds", "dialect" => run.dialect.as_str())
                    .record(seconds(asked, confirmed));
            });
        }
    }

    /// The outcome of an ended run was unknown, and its app has told it now.
    pub fn run_settled(&self, run: &Run) {
        let (dialect, outcome) = (run.dialect.as_str(), run.state.as_str());
        self.with(|| {
            counter!("caphost_runs_settled_total", "dialect" => dialect, "outcome" => outcome)
                .increment(1);
        });
        self.stopped(run);
    }

    /// Counts how far the stop of a cancelled run was seen.
    fn stopped(&self, run: &Run) {
        if let Some(stop) = run.stop() {
            let (dialect, stop) = (run.dialect.as_str(), stop.as_str());
            self.with(|| {
                counter!("caphost_stops_total", "dialect" => dialect, "stop" => stop).increment(1);
            });
        }
    }

    /// The work of a run that was answered as abandoned has ended.
    pub fn run_ended_late(&self, dialect: Dialect) {
        self.with(|| {
            counter!("caphost_late_ends_total", "dialect" => dialect.as_str()).increment(1);
        });
    }

    /// The result of a cancel is known. [`Metrics::run_ended`] calls this itself.
    pub fn cancel_answered(&self, dialect: Dialect, result: CancelResult) {
        let (dialect, result) = (dialect.as_str(), result.as_str());
        self.with(|| {
            counter!("caphost_cancels_total", "dialect" => dialect, "result" => result)
                .increment(1);
        });
    }

    /// A callback was delivered or given up after `retries` further attempts.
    pub fn callback_ended(&self, delivered: bool, retries: u32) {
        let result = if delivered { "delivered" } else { "failed" };
        self.with(|| {
            counter!("caphost_callbacks_total", "result" => result).increment(1);
            counter!("caphost_callback_retries_total").increment(u64::from(retries));
        });
    }

    /// The gateway has answered an HTTP request with that status.
    pub fn http_answered(&self, status: u16) {
        self.with(|| {
            counter!("caphost_http_responses_total", "status" => status.to_string()).increment(1);
        });
    }

    /// All metrics in Prometheus' text format.
    pub fn render(&self, readings: Readings<'_>) -> String {
        let Counters {
            answers_dropped,
            strays_dropped,
            refused,
            relayed,
        } = readings.counters;
        self.with(|| {
            gauge!("caphost_connections", "kind" => "app").set(readings.apps as f64);
            for (dialect, agents) in readings.agents {
                gauge!("caphost_connections", "kind" => dialect.as_str()).set(agents as f64);
            }
            gauge!("caphost_requests_in_flight").set(readings.in_flight as f64);
            gauge!("caphost_apps_suspended").set(readings.sessions.suspended as f64);
            counter!("caphost_apps_resumed_total").absolute(readings.sessions.resumed);
            counter!("caphost_apps_lost_total").absolute(readings.sessions.lost);
            counter!("caphost_requests_relayed_total").absolute(relayed);
            counter!("caphost_messages_refused_total").absolute(refused);
            counter!("caphost_answers_dropped_total").absolute(answers_dropped);
            counter!("caphost_strays_dropped_total").absolute(strays_dropped);
            counter!("caphost_log_lines_lost_total").absolute(log::lines_lost());
            if let Some((standing, traffic)) = readings.cluster {
                gauge!("caphost_redis_connected").set(f64::from(u8::from(standing.connected)));
                gauge!("caphost_workers").set((standing.others + 1) as f64);
                for (name, _, count) in METRICS {
                    counter!(*name).absolute(count(traffic).get());
                }
            }
            for (name, _, count) in TOOL_SERVERS {
                counter!(*name).absolute(count(&self.tool_servers).get());
            }
        });
        self.recorder.handle().render()
    }

    /// Sums up the recorded values. Must be called every few seconds, because the recorder keeps every value
    /// until then.
    pub fn sum_up(&self) {
        self.recorder.handle().run_upkeep();
    }

    fn with(&self, record: impl FnOnce()) {
        with_local_recorder(&self.recorder, record);
    }
}

fn seconds(from_ms: u64, to_ms: u64) -> f64 {
    Duration::from_millis(to_ms.saturating_sub(from_ms)).as_secs_f64()
}
