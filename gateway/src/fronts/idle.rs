//! Repeated checks for things that were unused for too long.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::gateway::Hub;

/// The longest time between two checks.
const LONGEST_TICK: Duration = Duration::from_secs(60);
/// The shortest time between two checks.
const SHORTEST_TICK: Duration = Duration::from_millis(10);

/// The time between two checks for things that were unused for `idle`. A thing ends at most this much later.
pub(crate) fn tick(idle: Duration) -> Duration {
    (idle / 10).clamp(SHORTEST_TICK, LONGEST_TICK)
}

/// Calls `look` once in each tick of `idle`, while `all` lives.
pub(crate) fn look_after<T: Send + Sync + 'static>(
    all: &Arc<T>,
    idle: Duration,
    task: &'static str,
    hub: &Hub,
    look: impl Fn(&Arc<T>) + Send + Sync + 'static,
) {
    let (all, tasks) = (Arc::downgrade(all), hub.tasks.clone());
    tokio::spawn(async move {
        let looks = || async {
            let mut ticks = interval(tick(idle));
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                match all.upgrade() {
                    Some(all) => look(&all),
                    None => return ControlFlow::Break(()),
                }
            }
        };
        tasks.keep_going(task, looks).await;
    });
}
