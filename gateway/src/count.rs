//! Numbers that only grow.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many there were since the start.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// One more.
    pub(crate) fn add(&self) {
        self.add_many(1);
    }

    /// So many more.
    pub(crate) fn add_many(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// How many.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
