//! Letting the page breathe during a long computation.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use wasm_bindgen::closure::Closure;

use super::sys;

/// How long a computation may hold the thread: half a frame.
const SLICE: f64 = 8.0;

thread_local! {
    static YIELDED: Cell<f64> = const { Cell::new(0.0) };
}

/// Ready at once, unless about 8 ms have passed since the event loop last had its turn.
pub(super) struct Checkpoint(Option<Rc<Turn>>);

struct Turn {
    come: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

pub(super) fn checkpoint() -> Checkpoint {
    let due = sys::now() - YIELDED.get() >= SLICE;
    Checkpoint(due.then(|| {
        let turn = Rc::new(Turn {
            come: Cell::new(false),
            waker: RefCell::default(),
        });
        let shared = turn.clone();
        let callback = Closure::once_into_js(move || {
            YIELDED.set(sys::now());
            shared.come.set(true);
            let waker = shared.waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        sys::in_next_task(&callback);
        turn
    }))
}

impl Future for Checkpoint {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &self.0 {
            Some(turn) if !turn.come.get() => {
                turn.waker.replace(Some(context.waker().clone()));
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }
}
