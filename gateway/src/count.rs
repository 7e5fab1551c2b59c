//! Counters that only grow.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter since the start.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds one.
    pub(crate) fn add(&self) {
        self.add_many(1);
    }

    /// Adds `more`.
    pub(crate) fn add_many(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// The current count.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
