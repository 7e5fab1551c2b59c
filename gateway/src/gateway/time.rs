//! Tells the broker when something has come to its deadline.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::broker::Event;
use crate::gateway::hub::Hub;

/// Long enough to be woken by something else, in milliseconds.
const FAR: f64 = 86_400_000.0;

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
            hub.timer.wait_for(next);
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
