//! What the runtime has counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the gateway began.
#[derive(Debug, Default)]
pub struct Counters {
    /// Invocations made.
    pub invocations: Count,
    /// Results that ended a call.
    pub results: Count,
    /// Results of no call in flight: late, repeated, or never asked for.
    pub results_dropped: Count,
    /// Events passed on to an agent.
    pub events: Count,
    /// Events of no subscription.
    pub events_dropped: Count,
    /// Callbacks that could not be read.
    pub callbacks_refused: Count,
    /// Notifications a tool server has acknowledged.
    pub notices: Count,
    /// Notifications that did not get through.
    pub notices_lost: Count,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
