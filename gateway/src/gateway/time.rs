//! Tells the broker when something has come to its deadline.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::broker::{Broker, Event};
use crate::gateway::hub::Hub;

/// Long enough to be woken by something else, in milliseconds.
const FAR: f64 = 86_400_000.0;

/// What keeps the time for one hub, once that is needed.
#[derive(Debug)]
pub(super) struct Timer {
    earlier: Arc<Notify>,
    /// The deadline that is waited for, as the bits of its time.
    awaited: AtomicU64,
    task: OnceLock<AbortHandle>,
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
    /// From now on tells the broker of its deadlines.
    pub(crate) fn keep_time(self: &Arc<Self>) {
        self.timer.task.get_or_init(|| {
            let (hub, earlier) = (Arc::downgrade(self), self.timer.earlier.clone());
            let keep = move || {
                let (hub, earlier) = (hub.clone(), earlier.clone());
                async move {
                    while let Some(wait) = hub.upgrade().map(|hub| hub.until_deadline()) {
                        tokio::select! {
                            () = sleep(wait) => {}
                            () = earlier.notified() => {}
                        }
                    }
                    ControlFlow::Break(())
                }
            };
            let tasks = self.tasks.clone();
            let task = tokio::spawn(async move { tasks.keep_going("deadlines", keep).await });
            task.abort_handle()
        });
    }

    /// Deals with what is due. How long until there is more.
    fn until_deadline(&self) -> Duration {
        let due = |hub: &Hub| {
            let state = hub.state();
            let next = state.broker.next_deadline();
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
