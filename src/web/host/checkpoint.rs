//! Lets the event loop of the page run during a long computation.

use std::cell::Cell;

use futures::channel::oneshot;
use wasm_bindgen::closure::Closure;

use super::sys;

/// How long a computation may hold the thread: half a frame.
const SLICE: f64 = 8.0;

thread_local! {
    static YIELDED: Cell<f64> = const { Cell::new(0.0) };
}

/// Returns at once, unless about 8 ms have passed since the event loop last ran.
pub(super) async fn checkpoint() {
    if sys::now() - YIELDED.get() < SLICE {
        return;
    }
    let (sender, turn) = oneshot::channel();
    let callback = Closure::once_into_js(move || {
        YIELDED.set(sys::now());
        // The waiting future may be gone by now.
        let _ = sender.send(());
    });
    sys::in_next_task(&callback);
    let _ = turn.await;
}
