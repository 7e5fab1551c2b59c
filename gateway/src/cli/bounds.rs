//! The bounds of `caphost serve`.

use std::time::Duration;

use clap::Args;

use crate::limits::Limits;
use crate::limits::Retention;
use crate::units::{bytes, count, depth, duration, duration_or_none, rate};

/// The options of the limits.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub(super) struct Bounds {
    /// Time between two WebSocket pings.
    #[arg(long, env = "CAPHOST_PING_INTERVAL", default_value = "15s", value_parser = duration, value_name = "TIME")]
    ping_interval: Duration,
    /// How long a peer may give no sign of life before it counts as gone. To take what it is sent is one.
    #[arg(long, env = "CAPHOST_DEAD_PEER_TIMEOUT", default_value = "40s", value_parser = duration, value_name = "TIME")]
    dead_peer_timeout: Duration,
    /// How long an app may take to register after it has connected.
    #[arg(long, env = "CAPHOST_REGISTER_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    register_timeout: Duration,
    /// How long agents wait for an app to come back whose connection was lost. 0: they are told at once.
    #[arg(long, env = "CAPHOST_APP_GRACE", default_value = "5s", value_parser = duration_or_none, value_name = "TIME")]
    app_grace: Duration,
    /// How long an app may take to confirm a cancel that an operator asked for.
    #[arg(long, env = "CAPHOST_CONFIRM_TIMEOUT", default_value = "5s", value_parser = duration, value_name = "TIME")]
    confirm_timeout: Duration,
    /// How long a run is remembered after its end.
    #[arg(long, env = "CAPHOST_RETENTION_TIME", default_value = "60m", value_parser = duration, value_name = "TIME")]
    retention_time: Duration,
    /// How long the cancellation API keeps a cancel for a run yet to come, if its id is a UUID. 0: none is kept.
    #[arg(long, env = "CAPHOST_EARLY_CANCEL_TIME", default_value = "60s", value_parser = duration_or_none, value_name = "TIME")]
    early_cancel_time: Duration,
    /// Runs remembered after their end, and cancels kept.
    #[arg(long, env = "CAPHOST_MAX_RETAINED", default_value = "10000", value_parser = count, value_name = "N")]
    max_retained: usize,
    /// How long to wait for a peer to read its last messages before closing.
    #[arg(long, env = "CAPHOST_CLOSE_TIMEOUT", default_value = "3s", value_parser = duration, value_name = "TIME")]
    close_timeout: Duration,
    /// The largest message that is accepted; a larger one is refused.
    #[arg(long, env = "CAPHOST_MAX_MESSAGE_BYTES", default_value = "16MiB", value_parser = bytes, value_name = "SIZE")]
    max_message_bytes: usize,
    /// The largest message that is read at all; beyond it the connection closes.
    #[arg(long, env = "CAPHOST_MAX_FRAME_BYTES", default_value = "256MiB", value_parser = bytes, value_name = "SIZE")]
    max_frame_bytes: usize,
    /// Levels of nesting in one message.
    #[arg(long, env = "CAPHOST_MAX_DEPTH", default_value = "127", value_parser = depth, value_name = "N")]
    max_depth: usize,
    /// The largest `id` of a message, as JSON.
    #[arg(long, env = "CAPHOST_MAX_ID_BYTES", default_value = "256B", value_parser = bytes, value_name = "SIZE")]
    max_id_bytes: usize,
    /// Requests of one agent waiting for an answer, of each type.
    #[arg(long, env = "CAPHOST_MAX_IN_FLIGHT", default_value = "16384", value_parser = count, value_name = "N")]
    max_in_flight: usize,
    /// Agents connected at once.
    #[arg(long, env = "CAPHOST_MAX_SESSIONS", default_value = "1000", value_parser = count, value_name = "N")]
    max_sessions: usize,
    /// Apps connected at once.
    #[arg(long, env = "CAPHOST_MAX_APPS", default_value = "1000", value_parser = count, value_name = "N")]
    max_apps: usize,
    /// Messages per second of one agent. A second's worth may come at once.
    #[arg(long, env = "CAPHOST_MAX_REQUESTS_PER_SECOND", default_value = "100000", value_parser = rate, value_name = "N")]
    max_requests_per_second: f64,
    /// The most that may wait to be written to one peer; one that does not read is disconnected.
    #[arg(long, env = "CAPHOST_MAX_QUEUED_BYTES", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    max_queued_bytes: usize,
}

impl Bounds {
    /// What cannot be right together.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.dead_peer_timeout > self.ping_interval {
            return Ok(());
        }
        Err("--dead-peer-timeout must be longer than --ping-interval: \
            only a ping makes a silent peer answer"
            .into())
    }
}

impl From<Bounds> for Limits {
    fn from(bounds: Bounds) -> Self {
        Limits {
            message_bytes: bounds.max_message_bytes,
            frame_bytes: bounds.max_frame_bytes,
            depth: bounds.max_depth,
            id_bytes: bounds.max_id_bytes,
            in_flight: bounds.max_in_flight,
            sessions: bounds.max_sessions,
            apps: bounds.max_apps,
            requests_per_second: bounds.max_requests_per_second,
            queued_bytes: bounds.max_queued_bytes,
            ping_interval: bounds.ping_interval,
            dead_peer_timeout: bounds.dead_peer_timeout,
            register_timeout: bounds.register_timeout,
            app_grace: bounds.app_grace,
            confirm_timeout: bounds.confirm_timeout,
            retention: Retention {
                count: bounds.max_retained,
                time: bounds.retention_time,
                early: bounds.early_cancel_time,
            },
            close_timeout: bounds.close_timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        bounds: Bounds,
    }

    #[test]
    fn defaults_are_those_of_the_limits() {
        let bounds = Line::parse_from(["serve"]).bounds;
        assert_eq!(Limits::from(bounds), Limits::default());
    }
}
