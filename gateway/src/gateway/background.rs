//! Background tasks, which run as long as the gateway does.
//!
//! Nobody would notice a task that panics: the runtime drops the task, and tasks that wait for it wait
//! forever. So the gateway logs the panic, lists the task at `/readyz` while the task is down, and restarts
//! the task if possible.

use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::pauses::Pauses;

/// The first pause before a task restarts. Each time that the task does not last, the pause about doubles, up
/// to the longest pause.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A task that has run this long counts as lasting.
const LASTED: Duration = Duration::from_secs(60);

/// The state of the background tasks.
#[derive(Debug)]
pub struct Tasks {
    first_pause: Duration,
    down: Mutex<BTreeMap<&'static str, usize>>,
}

impl Default for Tasks {
    fn default() -> Self {
        Tasks {
            first_pause: FIRST_PAUSE,
            down: Mutex::default(),
        }
    }
}

impl Tasks {
    /// The names of the tasks that are down.
    pub fn down(&self) -> Vec<&'static str> {
        self.down.lock().keys().copied().collect()
    }

    /// Runs the future that `begin` makes until the future returns `Break`. If the future panics or returns
    /// `Continue`, the gateway logs that and calls `begin` again after a pause.
    pub async fn keep_going<F: Future<Output = ControlFlow<()>>>(
        &self,
        name: &'static str,
        mut begin: impl FnMut() -> F,
    ) {
        let mut pauses = Pauses::new(self.first_pause, LONGEST_PAUSE);
        loop {
            let began = Instant::now();
            let why = match AssertUnwindSafe(begin()).catch_unwind().await {
                Ok(ControlFlow::Break(())) => return,
                Ok(ControlFlow::Continue(())) => "it has ended".into(),
                Err(panic) => words(&*panic),
            };
            if began.elapsed() >= LASTED {
                pauses.reset();
            }
            let pause = pauses.next();
            let again = pause.as_millis() as u64;
            tracing::error!(
                task = name,
                why,
                again,
                "a background task is down: it restarts after a pause"
            );
            let down = self.fell(name);
            sleep(pause).await;
            drop(down);
        }
    }

    /// Runs a task that cannot restart. If the task panics, the gateway logs that and the task stays down.
    pub async fn report(&self, name: &'static str, task: impl Future<Output = ()>) {
        if let Err(panic) = AssertUnwindSafe(task).catch_unwind().await {
            let why = words(&*panic);
            tracing::error!(
                task = name,
                why,
                "a background task is down until the gateway restarts"
            );
            std::mem::forget(self.fell(name));
        }
    }

    fn fell(&self, name: &'static str) -> Down<'_> {
        *self.down.lock().entry(name).or_default() += 1;
        Down(self, name)
    }
}

/// Marks a task as down until this value is dropped.
struct Down<'a>(&'a Tasks, &'static str);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        let mut all = self.0.down.lock();
        if let Some(count) = all.get_mut(self.1) {
            *count -= 1;
            if *count == 0 {
                all.remove(self.1);
            }
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it has panicked".into())
}

#[cfg(test)]
mod tests;
