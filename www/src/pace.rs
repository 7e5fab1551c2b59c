//! How long work yields to other work, and reports its progress.

use std::future::Future;

/// What a capability needs from its caller: turns of the event loop, and a receiver of progress.
///
/// A capability calls [`checkpoint`](Pace::checkpoint) at least about once per millisecond of work.
/// To cancel a call, its future is dropped at a checkpoint, so `Drop` must release everything that
/// needs release.
pub trait Pace {
    /// Yields to other work if it is time to yield. Otherwise it costs almost nothing.
    fn checkpoint(&self) -> impl Future<Output = ()>;

    /// Reports that `done` of `total` units of the stage `stage` are finished.
    fn progress(&self, done: usize, total: usize, stage: &str);
}

/// Counts small units of work up to a checkpoint.
#[derive(Default)]
pub struct Meter(usize);

impl Meter {
    /// The units between two checkpoints. A unit takes about a nanosecond: a few additions, or one
    /// byte touched.
    pub const STEP: usize = 1_000_000;

    /// Counts `units` more. Returns whether a checkpoint is due.
    #[must_use]
    pub fn due(&mut self, units: usize) -> bool {
        self.0 += units;
        let due = self.0 >= Self::STEP;
        if due {
            self.0 = 0;
        }
        due
    }
}

#[cfg(test)]
pub mod testing {
    //! A pace for tests. It counts, and yields at every checkpoint, so that tests can stop the work
    //! anywhere.

    use super::Pace;
    use std::cell::{Cell, RefCell};
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[derive(Default)]
    pub struct Counting {
        checkpoints: Cell<usize>,
        reports: RefCell<Vec<(usize, usize, String)>>,
    }

    impl Counting {
        pub fn checkpoints(&self) -> usize {
            self.checkpoints.get()
        }

        /// All progress reports so far: done, total, stage.
        pub fn reports(&self) -> Vec<(usize, usize, String)> {
            self.reports.borrow().clone()
        }
    }

    impl Pace for Counting {
        async fn checkpoint(&self) {
            self.checkpoints.set(self.checkpoints.get() + 1);
            let mut yielded = false;
            poll_fn(|_| match std::mem::replace(&mut yielded, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
        }

        fn progress(&self, done: usize, total: usize, stage: &str) {
            assert!(done <= total, "{done} of {total} {stage}");
            self.reports.borrow_mut().push((done, total, stage.into()));
        }
    }

    /// Runs a future to its end.
    pub fn finish<F: Future>(future: F) -> F::Output {
        stop_after(usize::MAX, future).expect("a future that ends")
    }

    /// Polls a future at most `turns` times and drops it. Returns the output if the future ended
    /// before that.
    pub fn stop_after<F: Future>(turns: usize, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..turns {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Some(output);
            }
        }
        None
    }
}
