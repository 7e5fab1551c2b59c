//! Tells the broker when something has come to its deadline.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use crate::broker::{Broker, Event};
use crate::gateway::hub::Hub;

/// Long enough to be woken by something else, in milliseconds.
const FAR: f64 = 86_400_000.0;

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
}

impl Hub {
    /// Tells the broker of its deadlines, for ever.
    pub(crate) async fn keep_time(&self) -> ControlFlow<()> {
        loop {
            let wait = self.until_deadline();
            tokio::select! {
                () = sleep(wait) => {}
                () = self.timer.earlier.notified() => {}
            }
        }
    }

    /// Deals with what is due. How long until there is more.
    fn until_deadline(&self) -> Duration {
        let due = |hub: &Hub| {
            let state = hub.state();
            let next = state.broker.next_deadline();
            // As long as the broker is locked nothing can be due earlier.
            let awaited = next.map_or(u64::MAX, f64::to_bits);
            hub.timer.awaited.store(awaited, Ordering::Relaxed);
            next.map(|next| next - hub.now().monotonic_ms)
        };
        let mut next = due(self);
        if next.is_some_and(|wait| wait <= 0.0) {
            self.handle(Event::Deadline);
            next = due(self);
        }
        let wait = next.map_or(FAR, |wait| wait.clamp(0.0, FAR));
        // Timers are no finer than that.
        Duration::from_secs_f64(wait.ceil() / 1_000.0)
    }
}
