//! The running calls of Rust capabilities.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use futures::channel::oneshot;
use rustc_hash::FxHashMap;
use wasm_bindgen::JsValue;

use super::end::{End, Outcome};
use crate::call::Response;
use crate::offers::Task;

/// A running call of a capability in Rust.
pub(super) trait RunningCall {
    /// Polls its future, for the host of that number.
    fn poll(&self, host: u32, key: u32);
    /// Asks for a poll. False if that was asked for already.
    fn ask(&self) -> bool;
    /// Whether a poll was asked for.
    fn is_asked(&self) -> bool;
    /// Fires its signal and drops its future. False if the future is being polled, and is dropped at
    /// the end of that poll.
    fn stop(&self, reason: Option<&str>) -> bool;
    /// The job that polled the future was ended from outside.
    fn lose(&self);
    /// The call is over.
    fn over(&self, cancelled: bool);
}

/// The future of a call.
pub(super) struct Running {
    pub task: Task<Outcome>,
    /// Tells everything that the handler has spawned about the end of its call.
    pub end: Rc<End>,
    /// The parameters of the call, as JavaScript gave them.
    pub given: JsValue,
    pub waker: Waker,
    pub scheduled: Cell<bool>,
    /// Whether the future was stopped within a poll, and is dropped at the end of that poll. Until
    /// then the host sends nothing.
    pub dropped_later: Cell<bool>,
}

/// The state of the running calls of Rust capabilities, by their keys.
pub(super) struct RustCalls {
    /// The number of the host.
    pub host: u32,
    pub tasks: RefCell<FxHashMap<u32, Rc<dyn RunningCall>>>,
    /// The handlers that wait for the answer to a call or a question.
    pub waiting: RefCell<FxHashMap<u32, oneshot::Sender<Response<JsValue>>>>,
}

impl RustCalls {
    pub fn new(host: u32) -> Self {
        RustCalls {
            host,
            tasks: RefCell::default(),
            waiting: RefCell::default(),
        }
    }

    /// How many futures are held.
    pub fn tasks(&self) -> usize {
        self.tasks.borrow().len()
    }

    /// Fires a call's signal and drops its future. When this returns true, the drop guards have
    /// run. When it returns false, the future is being polled, and the drop guards run at the end
    /// of that poll.
    pub fn stop(&self, key: u32, reason: Option<&str>) -> bool {
        let running = self.tasks.borrow_mut().remove(&key);
        running.is_none_or(|running| running.stop(reason))
    }

    /// Reports that a call is over, either cancelled or ended in another way.
    pub fn ended(&self, key: u32, cancelled: bool) {
        let running = self.tasks.borrow_mut().remove(&key);
        if let Some(running) = running {
            running.over(cancelled);
        }
    }

    /// Gives a response to the future that waits for it. Returns the response if no future waits.
    pub fn hand_over(&self, key: u32, response: Response<JsValue>) -> Option<Response<JsValue>> {
        let waiting = self.waiting.borrow_mut().remove(&key);
        let Some(sender) = waiting else {
            return Some(response);
        };
        // The handler may be gone by now. Then nobody waits.
        drop(sender.send(response));
        None
    }
}
