//! The steps of a call, from the broker to the caller.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

use super::{Outcome, Run};
use crate::wire::Json;
use caphost::call::LateEnd;

/// An event of a call of the gateway itself.
#[derive(Clone, Debug)]
pub enum CallEvent {
    /// Progress: a `ProgressInfo`.
    Progress(Json),
    /// The app asks a question: its number, and the request.
    Question(u64, Json),
    /// The question with that number needs no answer any more.
    Withdrawn(u64),
    /// The call is over. Its run, and its outcome.
    Ended(Arc<Run>, Outcome),
    /// The handler has ended after the call was answered as abandoned.
    Late(LateEnd),
}

/// How many progress messages wait for a caller that does not take them. Beyond that the newest message
/// replaces the one before: a caller that is behind wants to know how far the call is now.
const PROGRESS: usize = 16;

/// The broker's end. When the broker drops its end, no more steps come.
#[derive(Debug)]
pub(crate) struct Sink(Arc<Slot>);

/// The caller's end.
#[derive(Clone, Debug)]
pub(crate) struct Steps(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    steps: VecDeque<CallEvent>,
    over: bool,
    waker: Option<Waker>,
}

/// Both ends of a new channel of steps.
pub(crate) fn steps() -> (Sink, Steps) {
    let slot = Arc::new(Slot::default());
    (Sink(slot.clone()), Steps(slot))
}

impl Slot {
    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.0.lock();
        change(&mut waiting);
        let waker = waiting.waker.take();
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Sink {
    pub(crate) fn push(&self, step: CallEvent) {
        self.0.change(|waiting| {
            let is_progress = |step: &CallEvent| matches!(step, CallEvent::Progress(_));
            let behind = waiting.steps.len() >= PROGRESS;
            if behind && is_progress(&step) && waiting.steps.back().is_some_and(is_progress) {
                waiting.steps.pop_back();
            }
            waiting.steps.push_back(step);
        });
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.0.change(|waiting| waiting.over = true);
    }
}

impl Steps {
    /// The next step, or `None` if no more steps come. The returned future may be dropped, and the function
    /// may be called again.
    pub(crate) async fn next(&self) -> Option<CallEvent> {
        poll_fn(|context| {
            let mut waiting = self.0.0.lock();
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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use caphost::call::LateEnd;

    fn progress(number: usize) -> CallEvent {
        CallEvent::Progress(number.to_string().into())
    }

    #[test]
    fn a_caller_that_is_behind_finds_the_first_progress_the_newest_and_the_end() {
        let (sink, steps) = steps();
        for number in 1..=10_000 {
            sink.push(progress(number));
        }
        sink.push(CallEvent::Late(LateEnd {
            success: true,
            after: 1.0,
        }));
        drop(sink);
        let mut numbers = Vec::new();
        loop {
            match steps.next().now_or_never().flatten() {
                Some(CallEvent::Progress(text)) => numbers.push(text.as_str().to_string()),
                Some(CallEvent::Late(_)) => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(numbers.len(), PROGRESS);
        assert_eq!(numbers.first().map(String::as_str), Some("1"));
        assert_eq!(numbers.last().map(String::as_str), Some("10000"));
        assert!(steps.next().now_or_never().flatten().is_none());
    }
}
