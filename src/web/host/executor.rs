//! Runs the futures of Rust capabilities.
//!
//! There are two reasons for an executor of our own. First, a cancel must drop the future before
//! the cancel is confirmed; `abortable` of the futures crate only marks the future, which is
//! dropped at its next poll. Second, every poll must enter through the guard that turns a trap into
//! answers; `spawn_local` of wasm-bindgen-futures polls in a microtask of its own, without the
//! guard.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use wasm_bindgen::{JsCast, JsValue};

use super::end::End;
use super::inner::{CallContext, HOSTS, Handler, Inner, LocalFuture, Place};
use super::rust_calls::{Running, RunningCall, RustCalls};
use super::{inspect, sys};
use crate::call::CallId;
use crate::offers::Task;

/// Names the task to wake by its number: a waker may go to any thread, so it cannot hold the task.
struct WakeUp {
    host: u32,
    key: u32,
}

impl Wake for WakeUp {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let Some(host) = HOSTS.get(self.host) else {
            return;
        };
        let running = host.rust_calls.tasks.borrow().get(&self.key).cloned();
        if running.is_some_and(|running| running.ask()) {
            host.shell.schedule(self.key);
        }
    }
}

impl Running {
    fn poll_in(&self, host: &Inner, key: u32) {
        self.scheduled.set(false);
        host.running.enter(key, &self.given);
        let polled = self.task.poll(&mut Context::from_waker(&self.waker));
        host.running.leave();
        if self.dropped_later.get() {
            host.dropping.update(|count| count - 1);
            host.drive();
        } else if let Poll::Ready(Some(result)) = polled {
            let limits = *host.state.borrow().limits();
            let result = result.and_then(|data| inspect::data(data, &limits));
            host.with(|state| state.settle(key, result, true, sys::now()));
        }
    }
}

impl RunningCall for Running {
    fn poll(&self, host: u32, key: u32) {
        if let Some(host) = HOSTS.get(host) {
            self.poll_in(&host, key);
        }
    }

    fn ask(&self) -> bool {
        !self.scheduled.replace(true)
    }

    fn is_asked(&self) -> bool {
        self.scheduled.get()
    }

    fn stop(&self, reason: Option<&str>) -> bool {
        self.end.stop(reason);
        let dropped = self.task.stop();
        self.dropped_later.set(!dropped);
        dropped
    }

    fn lose(&self) {
        self.scheduled.set(false);
        self.task.stop();
    }

    fn over(&self, cancelled: bool) {
        self.end.over(cancelled);
    }
}

/// Makes the future of a call. The code of the app runs only when the future is polled.
type MakeFuture = Box<dyn Fn(JsValue, CallContext) -> LocalFuture>;

/// The handler of a capability in Rust.
pub(super) fn handler(make: MakeFuture) -> Handler {
    Handler::Rust(Rc::new(move |calls, key, id, given| {
        calls.start(key, id, &make, given);
    }))
}

impl RustCalls {
    /// Starts a call's future, and polls it for the first time at once.
    fn start(&self, key: u32, id: CallId, make: &MakeFuture, given: JsValue) {
        let Some(host) = HOSTS.get(self.host) else {
            return;
        };
        let end = Rc::<End>::default();
        let place = Place::Page {
            host: host.clone(),
            key,
            end: end.clone(),
        };
        let params = given.unchecked_ref::<sys::Given>().params();
        let running = Rc::new(Running {
            task: Task::new(make(params, CallContext { place, id })),
            end,
            given,
            waker: Waker::from(Arc::new(WakeUp {
                host: self.host,
                key,
            })),
            scheduled: Cell::new(false),
            dropped_later: Cell::new(false),
        });
        self.tasks.borrow_mut().insert(key, running.clone());
        running.poll_in(&host, key);
    }

    /// Polls a call's future.
    pub fn poll(&self, key: u32) {
        let running = self.tasks.borrow().get(&key).cloned();
        if let Some(running) = running {
            running.poll(self.host, key);
        }
    }

    /// The job that polled a call was ended from outside, and the call's future is out of reach.
    /// Schedules again the polls that other calls had asked for.
    pub fn lost(&self, key: u32) {
        if let Some(running) = self.tasks.borrow().get(&key) {
            running.lose();
        }
        if let Some(host) = HOSTS.get(self.host) {
            for (key, running) in self.tasks.borrow().iter() {
                if running.is_asked() {
                    host.shell.schedule(*key);
                }
            }
        }
    }
}
