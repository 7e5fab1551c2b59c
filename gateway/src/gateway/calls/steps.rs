//! What a call does, from the broker to whoever waits for it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::broker::Step;

/// The broker's end. Dropped, it says that nothing more will come.
#[derive(Debug)]
pub(crate) struct Sink(Arc<Slot>);

/// The caller's end.
#[derive(Clone, Debug)]
pub(super) struct Steps(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    steps: VecDeque<Step>,
    over: bool,
    waker: Option<Waker>,
}

/// Both ends of a new one.
pub(super) fn steps() -> (Sink, Steps) {
    let slot = Arc::new(Slot::default());
    (Sink(slot.clone()), Steps(slot))
}

impl Slot {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.waiting();
        change(&mut waiting);
        let waker = waiting.waker.take();
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Sink {
    pub(crate) fn push(&self, step: Step) {
        self.0.change(|waiting| waiting.steps.push_back(step));
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.0.change(|waiting| waiting.over = true);
    }
}

impl Steps {
    /// What comes next; nothing when nothing more will. Safe to drop and to call again.
    pub(super) async fn next(&self) -> Option<Step> {
        poll_fn(|context| {
            let mut waiting = self.0.waiting();
            match waiting.steps.pop_front() {
                Some(step) => Poll::Ready(Some(step)),
                None if waiting.over => Poll::Ready(None),
                None => {
                    waiting.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
