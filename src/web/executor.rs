//! Runs the futures of Rust capabilities.
//!
//! An executor of our own, of a few lines, for two reasons: a cancel must drop the future at
//! once, and every poll must enter through the guard that turns a trap into answers.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::host::{self, Inner, LocalFuture, Outcome};
use super::inspect;
use crate::capability::Task;

pub(super) struct Running {
    task: Task<Outcome>,
    waker: Waker,
    scheduled: Cell<bool>,
}

/// Names the task to wake; the task itself cannot be in a waker, which could go anywhere.
struct WakeUp {
    host: u32,
    key: u32,
}

impl Wake for WakeUp {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let Some(host) = host::find(self.host) else {
            return;
        };
        let running = host.tasks.borrow().get(&self.key).cloned();
        if running.is_some_and(|running| !running.scheduled.replace(true)) {
            host.js.schedule(self.key);
        }
    }
}

impl Inner {
    /// Starts a call's future: its first poll is here and now.
    pub fn spawn(&self, key: u32, future: LocalFuture) {
        let host = self.id;
        let running = Running {
            task: Task::new(future),
            waker: Waker::from(Arc::new(WakeUp { host, key })),
            scheduled: Cell::new(false),
        };
        self.tasks.borrow_mut().insert(key, running.into());
        self.poll(key);
    }

    /// Polls a call's future.
    pub fn poll(&self, key: u32) {
        let Some(running) = self.tasks.borrow().get(&key).cloned() else {
            return;
        };
        running.scheduled.set(false);
        let Poll::Ready(output) = running.task.poll(&mut Context::from_waker(&running.waker)) else {
            return;
        };
        self.tasks.borrow_mut().remove(&key);
        if let Some(result) = output {
            self.settle(key, result);
        }
    }

    /// Drops a call's future. Its drop guards have run when this returns, unless it is being
    /// polled: then they run at the end of that poll.
    pub fn stop_task(&self, key: u32) {
        let running = self.tasks.borrow_mut().remove(&key);
        if let Some(running) = running {
            running.task.stop();
        }
    }

    /// A handler has ended.
    pub fn settle(&self, key: u32, result: Outcome) {
        let limits = *self.state.borrow().limits();
        let result = result.and_then(|data| inspect::data(data, &limits));
        self.with(|state| state.settle(key, result, host::now()));
    }
}
