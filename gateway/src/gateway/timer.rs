//! Which deadline is waited for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::broker::Broker;

/// What keeps the time for one hub, once that is needed.
#[derive(Debug)]
pub(super) struct Timer {
    pub(super) earlier: Arc<Notify>,
    /// The deadline that is waited for, as the bits of its time.
    awaited: AtomicU64,
    pub(super) task: OnceLock<AbortHandle>,
}

impl Default for Timer {
    fn default() -> Self {
        Timer {
            earlier: Arc::default(),
            awaited: AtomicU64::new(u64::MAX),
            task: OnceLock::new(),
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }
}

impl Timer {
    /// From now on waits for what is due next, if anything is: the broker is locked.
    pub(super) fn wait_for(&self, next: Option<f64>) {
        let next = next.map_or(u64::MAX, f64::to_bits);
        self.awaited.store(next, Ordering::Relaxed);
    }

    /// Looks, while the broker is locked, whether something is due earlier than is waited for.
    pub(super) fn look(&self, broker: &Broker) {
        let next = broker.next_deadline().map_or(u64::MAX, f64::to_bits);
        if next < self.awaited.load(Ordering::Relaxed) {
            self.awaited.store(next, Ordering::Relaxed);
            self.earlier.notify_one();
        }
    }
}
