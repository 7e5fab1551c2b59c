//! The catalogue of metrics: their names, descriptions and start values.

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

use super::CancelResult;
use super::tool_servers::TOOL_SERVERS;
use crate::broker::calls::{Dialect, RunState};
use crate::cluster::METRICS as CLUSTER;
use caphost::call::Stop;

const GAUGES: &[(&str, &str)] = &[
    ("caphost_build_info", "Always 1; the version as a label."),
    ("caphost_connections", "Apps, and agents by their dialect."),
    (
        "caphost_requests_in_flight",
        "Requests and questions that wait for an answer.",
    ),
    (
        "caphost_redis_connected",
        "1 while Redis answers, else 0; with `--redis` only.",
    ),
    (
        "caphost_workers",
        "Workers of the cluster that are known, this one included; with `--redis` only.",
    ),
    (
        "caphost_apps_suspended",
        "Apps whose connection was lost and that may come back; they count as connected.",
    ),
];

const COUNTERS: &[(&str, &str)] = &[
    (
        "caphost_requests_relayed_total",
        "Requests passed on to apps.",
    ),
    (
        "caphost_messages_refused_total",
        "Messages of agents and apps that were refused.",
    ),
    (
        "caphost_answers_dropped_total",
        "Answers of apps to nothing that was pending: late, repeated, or never asked for.",
    ),
    (
        "caphost_strays_dropped_total",
        "Messages of apps for agents that were gone, and progress of calls that were over.",
    ),
    (
        "caphost_apps_resumed_total",
        "Apps that came back in time after their connection was lost.",
    ),
    (
        "caphost_apps_lost_total",
        "Apps that did not come back in time, so that their agents were disconnected.",
    ),
    ("caphost_runs_started_total", "Calls, by dialect."),
    (
        "caphost_runs_ended_total",
        "Calls that are over, by dialect and outcome.",
    ),
    (
        "caphost_runs_settled_total",
        "Calls that ended with an unknown outcome that their app has told since, by dialect and outcome.",
    ),
    (
        "caphost_cancels_total",
        "Calls that were asked to be cancelled, by dialect and result.",
    ),
    (
        "caphost_stops_total",
        "Calls that were cancelled, by dialect and by how far their stop was seen.",
    ),
    (
        "caphost_late_ends_total",
        "Calls answered as abandoned whose work has ended since, by dialect.",
    ),
    (
        "caphost_callbacks_total",
        "Callbacks delivered or given up, by result.",
    ),
    (
        "caphost_callback_retries_total",
        "Further attempts to deliver a callback.",
    ),
    (
        "caphost_http_responses_total",
        "HTTP requests answered, by status.",
    ),
    (
        "caphost_log_lines_lost_total",
        "Lines of the log that were lost: nobody read standard error, or it could not be written to.",
    ),
];

/// The histograms, each with the upper bounds of its buckets in seconds.
const HISTOGRAMS: &[(&str, &str, &[f64])] = &[
    (
        "caphost_run_duration_seconds",
        "From a call to its end, by dialect.",
        // From a call that computes nothing to a call that exports a large file.
        &[
            0.001, 0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0, 60.0, 300.0, 1_800.0,
        ],
    ),
    (
        "caphost_cancel_confirmation_seconds",
        "From the first request to cancel a call to its confirmation, by dialect.",
        // Milliseconds, which is the precision of run times, up to the confirm timeout.
        &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0, 5.0],
    ),
];

/// A recorder for one gateway.
pub(super) fn recorder() -> PrometheusRecorder {
    let mut builder = PrometheusBuilder::new();
    for (name, _, bounds) in HISTOGRAMS {
        let metric = Matcher::Full((*name).into());
        builder = builder
            .set_buckets_for_metric(metric, bounds)
            .expect("there are buckets");
    }
    builder.build_recorder()
}

/// Gives the recorder the description of each metric.
pub(super) fn describe() {
    for (name, what) in GAUGES {
        describe_gauge!(*name, Unit::Count, *what);
    }
    let tool_servers = TOOL_SERVERS.iter().map(|(name, what, _)| (*name, *what));
    let cluster = CLUSTER.iter().map(|(name, what, _)| (*name, *what));
    let counters = COUNTERS.iter().copied();
    for (name, what) in counters.chain(tool_servers).chain(cluster) {
        describe_counter!(name, Unit::Count, what);
    }
    for (name, what, _) in HISTOGRAMS {
        describe_histogram!(*name, Unit::Seconds, *what);
    }
}

/// Starts the counters at zero. A counter that appears only with its first count hides that count from
/// `rate()`. The counters of runs exist as soon as they are registered.
pub(super) fn start_at_zero() {
    gauge!("caphost_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    for dialect in Dialect::ALL.map(Dialect::as_str) {
        for stop in Stop::ALL.map(Stop::as_str) {
            counter!("caphost_stops_total", "dialect" => dialect, "stop" => stop).absolute(0);
        }
        counter!("caphost_late_ends_total", "dialect" => dialect).absolute(0);
        for outcome in RunState::ENDS
            .into_iter()
            .filter(|it| *it != RunState::Unknown)
        {
            let outcome = outcome.as_str();
            counter!("caphost_runs_settled_total", "dialect" => dialect, "outcome" => outcome)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_described_on_the_page() {
        let page = include_str!("../../../../docs/operation.md");
        let gauges_and_counters = GAUGES.iter().chain(COUNTERS).map(|(name, _)| *name);
        let histograms = HISTOGRAMS.iter().map(|(name, ..)| *name);
        let tool_servers = TOOL_SERVERS.iter().map(|(name, ..)| *name);
        let cluster = CLUSTER.iter().map(|(name, ..)| *name);
        let counters = gauges_and_counters.chain(tool_servers).chain(cluster);
        for name in counters.chain(histograms) {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
