//! The deadline of the broker that the gateway waits for.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::broker::Broker;

/// The deadline that the gateway waits for.
#[derive(Debug)]
pub(super) struct Timer {
    /// Signals that something is due earlier.
    earlier: Notify,
    /// The deadline that the gateway waits for, as the bits of its time.
    awaited: AtomicU64,
}

impl Default for Timer {
    fn default() -> Self {
        Timer {
            earlier: Notify::new(),
            awaited: AtomicU64::new(u64::MAX),
        }
    }
}

impl Timer {
    /// Checks whether something is due earlier. The broker must be locked meanwhile.
    pub(super) fn look(&self, broker: &Broker) {
        let next = broker.next_deadline().map_or(u64::MAX, f64::to_bits);
        if next < self.awaited.load(Ordering::Relaxed) {
            self.awaited.store(next, Ordering::Relaxed);
            self.earlier.notify_one();
        }
    }

    /// Sets the deadline to wait for. The broker must be locked meanwhile.
    pub(super) fn awaits(&self, next: Option<f64>) {
        let next = next.map_or(u64::MAX, f64::to_bits);
        self.awaited.store(next, Ordering::Relaxed);
    }

    /// Waits until something is due earlier.
    pub(super) async fn earlier(&self) {
        self.earlier.notified().await;
    }
}
