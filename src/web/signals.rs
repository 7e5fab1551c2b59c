//! `AbortSignal`s: waiting for a signal, and running a future until a signal fires.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::Error;
use crate::call::Code;
use crate::offers::Task;

/// Runs a future until a signal fires. For an async function that JavaScript calls.
///
/// When `abort()` returns, the future has been dropped, and its drop guards have run. One
/// exception: if the future itself caused the abort, it is dropped at the end of its poll.
///
/// ```no_run
/// use caphost::{Error, abortable};
/// use wasm_bindgen::prelude::*;
/// use web_sys::AbortSignal;
///
/// /// In JavaScript: `await resize(bytes, signal)`. It throws the reason of the signal.
/// #[wasm_bindgen]
/// pub async fn resize(bytes: Vec<u8>, signal: AbortSignal) -> Result<Vec<u8>, JsValue> {
///     Ok(abortable(&signal, work(bytes)).await??)
/// }
///
/// async fn work(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
///     Ok(bytes)
/// }
/// ```
pub fn abortable<F: Future + 'static>(signal: &AbortSignal, future: F) -> Abortable<F::Output> {
    Abortable {
        task: Rc::new(Task::new(Box::pin(future))),
        signal: signal.clone(),
        listener: None,
    }
}

/// A future that ends when a signal fires. Created with [`abortable`].
///
/// ```no_run
/// use caphost::{Abortable, abortable};
/// use web_sys::AbortSignal;
///
/// struct Upload {
///     sent: Abortable<usize>,
/// }
///
/// fn upload(bytes: Vec<u8>, signal: &AbortSignal) -> Upload {
///     let sent = abortable(signal, async move { bytes.len() });
///     Upload { sent }
/// }
/// ```
pub struct Abortable<T: 'static> {
    task: Rc<Task<T>>,
    signal: AbortSignal,
    listener: Option<Listener>,
}

/// The error that the signal has fired. In a capability, `?` converts it to [`Code::CANCELLED`].
///
/// ```no_run
/// use caphost::{Aborted, abortable};
/// use web_sys::AbortSignal;
///
/// async fn or_none(signal: &AbortSignal) -> Option<u32> {
///     match abortable(signal, async { 42 }).await {
///         Ok(answer) => Some(answer),
///         Err(Aborted { reason, .. }) => {
///             web_sys::console::log_1(&reason);
///             None
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Aborted {
    /// The reason of the signal: an `AbortError`, unless the abort gave another reason.
    pub reason: JsValue,
}

impl<T> fmt::Debug for Abortable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Abortable")
            .field("aborted", &self.signal.aborted())
            .finish_non_exhaustive()
    }
}

impl<T> Future for Abortable<T> {
    type Output = Result<T, Aborted>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.signal.aborted() {
            self.task.stop();
        }
        match self.task.poll(context) {
            Poll::Ready(Some(output)) => {
                self.listener = None;
                Poll::Ready(Ok(output))
            }
            Poll::Ready(None) => Poll::Ready(Err(Aborted {
                reason: self.signal.reason(),
            })),
            Poll::Pending => {
                let task = Rc::downgrade(&self.task);
                let signal = self.signal.clone();
                let listener = self.listener.get_or_insert_with(|| {
                    Listener::new(signal, move || {
                        if let Some(task) = task.upgrade() {
                            task.stop();
                        }
                    })
                });
                listener.wake(context.waker());
                Poll::Pending
            }
        }
    }
}

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The operation was aborted")
    }
}

impl std::error::Error for Aborted {}

impl From<Aborted> for JsValue {
    fn from(aborted: Aborted) -> Self {
        aborted.reason
    }
}

impl From<Aborted> for Error {
    fn from(aborted: Aborted) -> Self {
        Error::new(Code::CANCELLED, aborted.to_string())
    }
}

/// Calls a function when a signal fires, and wakes the waiting future. Dropping this removes the
/// listener from the signal: otherwise everything it holds would live as long as the signal.
struct Listener {
    signal: AbortSignal,
    closure: Closure<dyn FnMut()>,
    waker: Rc<Cell<Option<Waker>>>,
}

impl Listener {
    fn new(signal: AbortSignal, mut work: impl FnMut() + 'static) -> Self {
        let waker = Rc::new(Cell::new(None::<Waker>));
        let told = waker.clone();
        let closure = Closure::<dyn FnMut()>::new(move || {
            work();
            if let Some(waker) = told.take() {
                waker.wake();
            }
        });
        // This fails only if the listener is not a function.
        let _ = signal.add_event_listener_with_callback("abort", closure.as_ref().unchecked_ref());
        Listener {
            signal,
            closure,
            waker,
        }
    }

    fn wake(&self, waker: &Waker) {
        self.waker.set(Some(waker.clone()));
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let callback = self.closure.as_ref().unchecked_ref();
        let _ = self
            .signal
            .remove_event_listener_with_callback("abort", callback);
    }
}
