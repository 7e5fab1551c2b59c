//! Which deadline of the broker is waited for.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::broker::Broker;

/// Which deadline is waited for.
#[derive(Debug)]
pub(super) struct Timer {
    /// Something is due earlier than is waited for.
    earlier: Notify,
    /// The deadline that is waited for, as the bits of its time.
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
    /// Looks, while the broker is locked, whether something is due earlier than is waited for.
    pub(super) fn look(&self, broker: &Broker) {
        let next = broker.next_deadline().map_or(u64::MAX, f64::to_bits);
        if next < self.awaited.load(Ordering::Relaxed) {
            self.awaited.store(next, Ordering::Relaxed);
            self.earlier.notify_one();
        }
    }

    /// That deadline is waited for from now on, while the broker is locked.
    pub(super) fn awaits(&self, next: Option<f64>) {
        let next = next.map_or(u64::MAX, f64::to_bits);
        self.awaited.store(next, Ordering::Relaxed);
    }

    /// Waits until something is due earlier.
    pub(super) async fn earlier(&self) {
        self.earlier.notified().await;
    }
}
