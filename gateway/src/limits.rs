//! The bounds of the gateway.

use std::time::Duration;

/// Levels of nesting in what the gateway's own agents and dialects can read: one less than where
/// serde_json gives up. More is not carried whatever [`Limits::depth`] says, as nobody would answer.
pub const MAX_DEPTH: usize = 127;

/// Every bound, with its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Bytes in one message, 16 MiB: a 10 MB file as base64, and room around it. A larger one is
    /// refused and the connection goes on.
    pub message_bytes: usize,
    /// Bytes in one message past which it is not even read, 256 MiB: the connection closes (1009).
    pub frame_bytes: usize,
    /// Levels of nesting in one message, 127: the most that [`MAX_DEPTH`] allows.
    pub depth: usize,
    /// Bytes of a message's `id` as JSON, 256.
    pub id_bytes: usize,
    /// Requests of one agent that wait for the app's answer, of each type, 16 384.
    pub in_flight: usize,
    /// Agents connected at once, 1 000.
    pub sessions: usize,
    /// Apps connected at once, 1 000: each tab is one.
    pub apps: usize,
    /// Messages per second of one agent, 100 000, with a burst of the same size: enough for any
    /// honest one, and a loop gone wrong is told when to come back.
    pub requests_per_second: f64,
    /// Bytes waiting to be written to one peer, 64 MiB: one that does not read is disconnected.
    /// At half of it an agent is no longer read from, and an app gets no more calls.
    pub queued_bytes: usize,
    /// Between two pings, 15 s.
    pub ping_interval: Duration,
    /// Without a sign of life, 40 s: the peer is taken for gone.
    pub dead_peer_timeout: Duration,
    /// From an app's connection to its `app/register`, 10 s.
    pub register_timeout: Duration,
    /// For an app whose connection was lost to come back on another, 5 s: meanwhile its agents wait.
    /// Zero: its agents are told at once.
    pub app_grace: Duration,
    /// For an app to confirm a cancel that an operator asked for, 5 s.
    pub confirm_timeout: Duration,
    /// Runs remembered after their end.
    pub retention: Retention,
    /// For a peer to take its last messages and the close frame, 3 s.
    pub close_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_bytes: 16 << 20,
            frame_bytes: 256 << 20,
            depth: MAX_DEPTH,
            id_bytes: 256,
            in_flight: 16_384,
            sessions: 1_000,
            apps: 1_000,
            requests_per_second: 100_000.0,
            queued_bytes: 64 << 20,
            ping_interval: Duration::from_secs(15),
            dead_peer_timeout: Duration::from_secs(40),
            register_timeout: Duration::from_secs(10),
            app_grace: Duration::from_secs(5),
            confirm_timeout: Duration::from_secs(5),
            retention: Retention::default(),
            close_timeout: Duration::from_secs(3),
        }
    }
}

/// How much is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Runs that have ended, 10 000; and as many cancels for runs yet to come.
    pub count: usize,
    /// Runs that have ended, for how long, one hour.
    pub time: Duration,
    /// Cancels for runs yet to come, for how long, one minute. Zero: none is kept.
    pub early: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Retention {
            count: 10_000,
            time: Duration::from_secs(3_600),
            early: Duration::from_secs(60),
        }
    }
}
