//! The future of one call, which a cancel drops at once.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

type LocalFuture<T> = Pin<Box<dyn Future<Output = T>>>;

/// Holds a future so that another party than its executor can end it.
///
/// `AbortHandle::abort` of the futures crate only sets a flag, and the future is dropped at its
/// next poll. A confirmed cancel promises more: when [`Task::stop`] returns, the future has been
/// dropped and its drop guards have run. There is one exception: a future that stops itself while
/// it is being polled is dropped at the end of that poll.
pub struct Task<T> {
    future: RefCell<Option<LocalFuture<T>>>,
    stopped: Cell<bool>,
}

impl<T> Task<T> {
    /// Wraps a future, without polling it.
    pub fn new(future: LocalFuture<T>) -> Self {
        Task {
            future: RefCell::new(Some(future)),
            stopped: Cell::new(false),
        }
    }

    /// Polls the future. `Ready(None)` once the future has been stopped.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        // The future is out of the cell while it runs. So the future, or a function that it calls,
        // may stop it without a conflicting borrow.
        let Some(mut future) = self.future.take() else {
            return Poll::Ready(None);
        };
        let polled = future.as_mut().poll(context);
        if self.stopped.get() {
            return Poll::Ready(None);
        }
        match polled {
            Poll::Ready(output) => {
                self.stopped.set(true);
                Poll::Ready(Some(output))
            }
            Poll::Pending => {
                self.future.replace(Some(future));
                Poll::Pending
            }
        }
    }

    /// Drops the future. False if the future is being polled: it is then dropped at the end of that
    /// poll.
    pub fn stop(&self) -> bool {
        let ended = self.stopped.replace(true);
        let future = self.future.take();
        ended || future.is_some()
    }
}

#[cfg(test)]
mod tests;
