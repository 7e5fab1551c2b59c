//! Looking for what has not been used for a while, again and again: it is to end.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::gateway::Hub;

/// The longest time between two looks.
const LONGEST_TICK: Duration = Duration::from_secs(60);
/// And the shortest.
const SHORTEST_TICK: Duration = Duration::from_millis(10);

/// The time between two looks for what was not used for `idle`: it ends at most so much later.
pub(crate) fn tick(idle: Duration) -> Duration {
    (idle / 10).clamp(SHORTEST_TICK, LONGEST_TICK)
}

/// Calls `look` once in each tick of `idle`, for as long as `all` lives.
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
