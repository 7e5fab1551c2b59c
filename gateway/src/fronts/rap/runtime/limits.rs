//! The bounds of the runtime.

use std::time::Duration;

/// Every bound, with its default.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeLimits {
    /// Between two looks at a tool server's toolset, 30 s.
    pub refresh_interval: Duration,
    /// For a tool server to answer with its toolset, 5 s.
    pub toolset_timeout: Duration,
    /// Bytes of a toolset, 1 MiB.
    pub toolset_bytes: usize,
    /// Without a valid toolset, 60 s: the tool server's app leaves the relay until there is one.
    pub gone_after: Duration,
    /// The first pause before a request is repeated, 250 ms; it doubles each time, and varies by a
    /// quarter.
    pub first_pause: Duration,
    /// The longest such pause, 10 s.
    pub longest_pause: Duration,
    /// For a tool server to acknowledge an invocation, 10 s.
    pub invoke_timeout: Duration,
    /// Invocations on their way to one tool server, 64; the others wait for their turn.
    pub invocations_at_once: usize,
    /// How often an invocation is sent before its call fails, 5.
    pub invoke_attempts: u32,
    /// For a notification of a cancelled call or a closed thread, 2 s, waiting for its turn
    /// included.
    pub notice_timeout: Duration,
    /// Notifications on their way to one tool server, 64; the others wait for their turn.
    pub notices_at_once: usize,
    /// Subscriptions of one agent, 1 024: events of any more are dropped.
    pub subscriptions: usize,
    /// Callbacks that wait to be dealt with, 256 per tool server: those after them wait to be read.
    pub callbacks_queued: usize,
}

impl Default for RuntimeLimits {
    fn default() -> Self {
        RuntimeLimits {
            refresh_interval: Duration::from_secs(30),
            toolset_timeout: Duration::from_secs(5),
            toolset_bytes: 1 << 20,
            gone_after: Duration::from_secs(60),
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(10),
            invoke_timeout: Duration::from_secs(10),
            invocations_at_once: 64,
            invoke_attempts: 5,
            notice_timeout: Duration::from_secs(2),
            notices_at_once: 64,
            subscriptions: 1_024,
            callbacks_queued: 256,
        }
    }
}
