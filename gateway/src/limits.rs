//! The limits of the gateway, which are options of `caphost serve`.

use std::time::Duration;

use clap::Args;

use crate::options::{bytes, count, defaults, duration, duration_or_none, rate};

/// How deeply values may be nested for the gateway's own agents and dialects: one level less than serde_json
/// accepts. The gateway does not carry deeper values, whatever [`Limits::depth`] says, because no reader
/// could answer them.
pub const MAX_DEPTH: usize = 127;

/// The size of the largest `app/register` and `app/update`, and of the largest message of an app that has not
/// registered: 1 MiB.
pub const REGISTRATION_BYTES: usize = 1 << 20;

/// How many bytes are kept of the largest registration if its capabilities are as small as possible.
const LARGEST_REGISTERED: usize = 10 << 20;

/// Every bound of messages, connections and runs.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Time between two WebSocket pings.
    #[arg(long, env = "CAPHOST_PING_INTERVAL", default_value = "15s", value_parser = duration, value_name = "TIME")]
    pub ping_interval: Duration,
    /// How long a peer may give no sign of life before it counts as gone. Reading counts as a sign of life.
    #[arg(long, env = "CAPHOST_DEAD_PEER_TIMEOUT", default_value = "40s", value_parser = duration, value_name = "TIME")]
    pub dead_peer_timeout: Duration,
    /// How long an app may take to register after it has connected.
    #[arg(long, env = "CAPHOST_REGISTER_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub register_timeout: Duration,
    /// How long a lost app may take to reconnect. 0: its agents are told at once.
    #[arg(long, env = "CAPHOST_APP_GRACE", default_value = "5s", value_parser = duration_or_none, value_name = "TIME")]
    pub app_grace: Duration,
    /// How long an app may take to confirm a cancel that an operator asked for.
    #[arg(long, env = "CAPHOST_CONFIRM_TIMEOUT", default_value = "5s", value_parser = duration, value_name = "TIME")]
    pub confirm_timeout: Duration,
    /// Results by reference.
    #[command(flatten)]
    pub references: References,
    /// Runs remembered after their end.
    #[command(flatten)]
    pub retention: Retention,
    /// How long to wait for a peer to read its last messages before closing.
    #[arg(long, env = "CAPHOST_CLOSE_TIMEOUT", default_value = "3s", value_parser = duration, value_name = "TIME")]
    pub close_timeout: Duration,
    /// The largest message that is accepted. A larger one is refused under the id found in its first 64 KiB; the rest is dropped as it comes.
    #[arg(id = "max_message_bytes", long = "max-message-bytes", env = "CAPHOST_MAX_MESSAGE_BYTES", default_value = "16MiB", value_parser = bytes, value_name = "SIZE")]
    pub message_bytes: usize,
    /// The largest message that is read at all; beyond it the connection closes. For an app without a token, where tokens are needed, --max-message-bytes applies instead.
    #[arg(id = "max_frame_bytes", long = "max-frame-bytes", env = "CAPHOST_MAX_FRAME_BYTES", default_value = "128MiB", value_parser = bytes, value_name = "SIZE")]
    pub frame_bytes: usize,
    /// Bytes of unfinished messages and HTTP bodies from all peers. When there are more, the token or address that holds most loses its largest: a connection is closed, or a body is answered 503. A message counts until it is handled. The first 64 KiB of a message and the first 4 KiB of a body do not count.
    #[arg(id = "max_unfinished_bytes", long = "max-unfinished-bytes", env = "CAPHOST_MAX_UNFINISHED_BYTES", default_value = "128MiB", value_parser = bytes, value_name = "SIZE")]
    pub unfinished_bytes: usize,
    /// Bytes of unfinished messages and HTTP bodies from all peers that have shown no token or have not registered their app. When there are more, the address with most of them loses its largest.
    #[arg(id = "max_unfinished_stranger_bytes", long = "max-unfinished-stranger-bytes", env = "CAPHOST_MAX_UNFINISHED_STRANGER_BYTES", default_value = "16MiB", value_parser = bytes, value_name = "SIZE")]
    pub unfinished_stranger_bytes: usize,
    /// Levels of nesting in one message.
    #[arg(id = "max_depth", long = "max-depth", env = "CAPHOST_MAX_DEPTH", default_value = "127", value_parser = depth, value_name = "N")]
    pub depth: usize,
    /// The largest `id` of a message, as JSON.
    #[arg(id = "max_id_bytes", long = "max-id-bytes", env = "CAPHOST_MAX_ID_BYTES", default_value = "256B", value_parser = bytes, value_name = "SIZE")]
    pub id_bytes: usize,
    /// Unanswered requests of one agent, for each type of request.
    #[arg(id = "max_in_flight", long = "max-in-flight", env = "CAPHOST_MAX_IN_FLIGHT", default_value = "16384", value_parser = count, value_name = "N")]
    pub in_flight: usize,
    /// Unanswered requests of one token over all its connections, for each type of request.
    #[arg(id = "max_in_flight_per_token", long = "max-in-flight-per-token", env = "CAPHOST_MAX_IN_FLIGHT_PER_TOKEN", default_value = "65536", value_parser = count, value_name = "N")]
    pub in_flight_per_token: usize,
    /// ABP agents connected at once; as many JSON-RPC peers may be connected beside them.
    #[arg(id = "max_sessions", long = "max-sessions", env = "CAPHOST_MAX_SESSIONS", default_value = "1000", value_parser = count, value_name = "N")]
    pub sessions: usize,
    /// JSON-RPC peers connected at once with one token, or from one address where there are no tokens; and ABP agents connected at once with one token.
    #[arg(id = "max_sessions_per_token", long = "max-sessions-per-token", env = "CAPHOST_MAX_SESSIONS_PER_TOKEN", default_value = "500", value_parser = count, value_name = "N")]
    pub sessions_per_token: usize,
    /// Sessions with one app at once, of agents of all kinds. One token, or one network where there are no tokens, has at most half of them, and the last tenth is for tokens or networks that have no session.
    #[arg(id = "max_sessions_per_app", long = "max-sessions-per-app", env = "CAPHOST_MAX_SESSIONS_PER_APP", default_value = "500", value_parser = count, value_name = "N")]
    pub sessions_per_app: usize,
    /// Connections of apps that have not registered yet and have shown no token. Beyond it, the one that has waited longest is closed.
    #[arg(id = "max_unregistered_apps", long = "max-unregistered-apps", env = "CAPHOST_MAX_UNREGISTERED_APPS", default_value = "256", value_parser = count, value_name = "N")]
    pub unregistered_apps: usize,
    /// Connections of apps that have not registered yet, from one address or one IPv6 /64 network without a token, or with one token. Beyond it, the one that has waited longest is closed.
    #[arg(id = "max_unregistered_apps_per_address", long = "max-unregistered-apps-per-address", env = "CAPHOST_MAX_UNREGISTERED_APPS_PER_ADDRESS", default_value = "64", value_parser = count, value_name = "N")]
    pub unregistered_apps_per_address: usize,
    /// Apps registered at once with one token.
    #[arg(id = "max_apps_per_token", long = "max-apps-per-token", env = "CAPHOST_MAX_APPS_PER_TOKEN", default_value = "500", value_parser = count, value_name = "N")]
    pub apps_per_token: usize,
    /// Apps registered at once.
    #[arg(id = "max_apps", long = "max-apps", env = "CAPHOST_MAX_APPS", default_value = "1000", value_parser = count, value_name = "N")]
    pub apps: usize,
    /// Bytes kept of what all registered apps offer. At least 10MiB, which one app may take.
    #[arg(id = "max_registered_bytes", long = "max-registered-bytes", env = "CAPHOST_MAX_REGISTERED_BYTES", default_value = "64MiB", value_parser = registered_bytes, value_name = "SIZE")]
    pub registered_bytes: usize,
    /// Bytes kept of what the registered apps of one token offer. At least 10MiB, which one app may take.
    #[arg(id = "max_registered_bytes_per_token", long = "max-registered-bytes-per-token", env = "CAPHOST_MAX_REGISTERED_BYTES_PER_TOKEN", default_value = "16MiB", value_parser = registered_bytes, value_name = "SIZE")]
    pub registered_bytes_per_token: usize,
    /// Messages per second of one agent. A second's worth may come at once.
    #[arg(id = "max_requests_per_second", long = "max-requests-per-second", env = "CAPHOST_MAX_REQUESTS_PER_SECOND", default_value = "100000", value_parser = rate, value_name = "N")]
    pub requests_per_second: f64,
    /// Messages per second of one app, answers included. A second's worth may come at once. Beyond it the connection waits.
    #[arg(id = "max_app_messages_per_second", long = "max-app-messages-per-second", env = "CAPHOST_MAX_APP_MESSAGES_PER_SECOND", default_value = "100000", value_parser = rate, value_name = "N")]
    pub app_messages_per_second: f64,
    /// Bytes per second of lists for one token, or for one address where there are no tokens. Each kind (runs, apps, MCP tools, JSON-RPC capabilities) counts by itself. A second's worth and one list may come at once. Beyond it, the next list is answered 429, or RATE_LIMITED over JSON-RPC.
    #[arg(id = "max_listed_bytes_per_second", long = "max-listed-bytes-per-second", env = "CAPHOST_MAX_LISTED_BYTES_PER_SECOND", default_value = "20MiB", value_parser = bytes, value_name = "SIZE")]
    pub listed_bytes_per_second: usize,
    /// Bytes that may wait to be written to one peer. A peer that does not read is disconnected.
    #[arg(id = "max_queued_bytes", long = "max-queued-bytes", env = "CAPHOST_MAX_QUEUED_BYTES", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    pub queued_bytes: usize,
    /// Bytes that may wait for all peers together. This includes what is kept for apps that may come back. Beyond it, the slowest reader of the token with most is disconnected.
    #[arg(id = "max_total_queued_bytes", long = "max-total-queued-bytes", env = "CAPHOST_MAX_TOTAL_QUEUED_BYTES", default_value = "72MiB", value_parser = bytes, value_name = "SIZE")]
    pub queued_bytes_of_all: usize,
}

/// Results by reference.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(next_help_heading = "Results by reference")]
pub struct References {
    /// The largest file or text that stands in the result of an MCP call. A larger one is a resource link: an address of the gateway, which its caller reads once.
    #[arg(id = "inline_result", long = "inline-result", env = "CAPHOST_INLINE_RESULT", default_value = "1MiB", value_parser = bytes, value_name = "SIZE")]
    pub inline: usize,
    /// How long the file that a result refers to can be read.
    #[arg(id = "reference_time", long = "reference-time", env = "CAPHOST_REFERENCE_TIME", default_value = "5m", value_parser = duration, value_name = "TIME")]
    pub time: Duration,
    /// Bytes of results that are kept until they are read. Beyond it a result is not given by reference. What a page keeps does not count.
    #[arg(id = "max_referenced_bytes", long = "max-referenced-bytes", env = "CAPHOST_MAX_REFERENCED_BYTES", default_value = "64MiB", value_parser = bytes, value_name = "SIZE")]
    pub bytes: usize,
    /// Bytes of results that are kept for one token, or for one address where there are no tokens.
    #[arg(id = "max_referenced_bytes_per_token", long = "max-referenced-bytes-per-token", env = "CAPHOST_MAX_REFERENCED_BYTES_PER_TOKEN", default_value = "32MiB", value_parser = bytes, value_name = "SIZE")]
    pub bytes_of_one: usize,
}

/// How much is remembered of runs.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
#[command(next_help_heading = "Limits")]
pub struct Retention {
    /// How long a run is remembered after its end.
    #[arg(id = "retention_time", long = "retention-time", env = "CAPHOST_RETENTION_TIME", default_value = "60m", value_parser = duration, value_name = "TIME")]
    pub time: Duration,
    /// How long the cancellation API keeps a cancel that arrives before its run, if the id is a UUID. 0: none is kept.
    #[arg(id = "early_cancel_time", long = "early-cancel-time", env = "CAPHOST_EARLY_CANCEL_TIME", default_value = "60s", value_parser = duration_or_none, value_name = "TIME")]
    pub early: Duration,
    /// How many ended runs, and early cancels, are kept.
    #[arg(id = "max_retained", long = "max-retained", env = "CAPHOST_MAX_RETAINED", default_value = "10000", value_parser = count, value_name = "N")]
    pub count: usize,
    /// Bytes of remembered runs per owner; ten times that for all. Also bounds reasons and progress of an owner's runs in flight, and the ids and names of one token's calls in flight: beyond it a call is refused with RATE_LIMITED.
    #[arg(id = "max_retained_bytes", long = "max-retained-bytes", env = "CAPHOST_MAX_RETAINED_BYTES", default_value = "16MiB", value_parser = bytes, value_name = "SIZE")]
    pub bytes: usize,
}

impl Limits {
    /// Refuses options that contradict each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.dead_peer_timeout > self.ping_interval {
            return Ok(());
        }
        Err("--dead-peer-timeout must be longer than --ping-interval: \
            only a ping makes a silent peer answer"
            .into())
    }
}

impl Default for Limits {
    fn default() -> Self {
        defaults()
    }
}

impl Default for References {
    fn default() -> Self {
        defaults()
    }
}

impl Default for Retention {
    fn default() -> Self {
        defaults()
    }
}

/// Parses a number of bytes that is enough for the registration of any one app.
fn registered_bytes(text: &str) -> Result<usize, String> {
    let size = bytes(text)?;
    if size >= LARGEST_REGISTERED {
        Ok(size)
    } else {
        Err("expected at least 10MiB: one app may take that much".into())
    }
}

/// Parses a nesting depth that the JSON reader can handle.
fn depth(text: &str) -> Result<usize, String> {
    let levels = count(text)?;
    if levels <= MAX_DEPTH {
        Ok(levels)
    } else {
        Err(format!("expected at most {MAX_DEPTH}: more cannot be read"))
    }
}
