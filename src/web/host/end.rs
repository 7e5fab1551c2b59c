//! Tells everything that a handler has started about the end of its call.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{FutureExt as _, Shared};
use wasm_bindgen::JsValue;
use web_sys::{AbortController, AbortSignal};

use super::sys;
use crate::call::Code;
use crate::web::{Error, Failure};

/// The result of a handler.
pub(super) type Outcome = Result<JsValue, Failure>;

/// The end of a call. The parts that wait for it are made on first use, as most handlers never need
/// them. A module without Rust capabilities does not contain them.
#[derive(Default)]
pub(super) struct End {
    how: OnceCell<How>,
    waits: OnceCell<Rc<dyn Wait>>,
}

/// The reason with which a call was stopped; `None` for a call that ended in another way.
type How = Option<Option<String>>;

trait Wait {
    fn tell(&self, how: &How);
    fn any(self: Rc<Self>) -> Rc<dyn Any>;
}

/// The parts that wait for the end of a call. Empty once the call has ended.
#[derive(Default)]
struct Waits {
    controller: RefCell<Option<AbortController>>,
    /// Wakes the waiting futures. Dropped unsent if the call is not stopped.
    wake: Cell<Option<oneshot::Sender<()>>>,
    woken: OnceCell<Shared<oneshot::Receiver<()>>>,
    #[cfg(feature = "tokio-util")]
    token: RefCell<tokio_util::sync::CancellationToken>,
}

impl End {
    /// Reports that the call is cancelled.
    pub fn stop(&self, reason: Option<&str>) {
        self.reach(Some(reason.map(Into::into)));
    }

    /// Reports that the call has ended; `cancelled` if its handler has said that it stopped by
    /// itself. Has no effect if the call was already stopped.
    pub fn over(&self, cancelled: bool) {
        self.reach(cancelled.then_some(None));
    }

    fn reach(&self, how: How) {
        if self.how.set(how).is_ok()
            && let (Some(waits), Some(how)) = (self.waits.get(), self.how.get())
        {
            waits.tell(how);
        }
    }

    pub fn is_stop(&self) -> bool {
        matches!(self.how.get(), Some(Some(_)))
    }

    fn waits(&self) -> Rc<Waits> {
        let waits = self.waits.get_or_init(|| {
            let waits = Rc::<Waits>::default();
            if let Some(how) = self.how.get() {
                waits.tell(how);
            }
            waits
        });
        let waits = waits.clone().any();
        waits.downcast().expect("it was made here")
    }

    /// Waits for the end of the call, and returns whether the call was stopped.
    pub async fn reached(&self) -> bool {
        if self.how.get().is_none() {
            let woken = self.waits().woken();
            // This is an error if nothing was sent.
            let _ = woken.await;
        }
        self.is_stop()
    }

    /// A signal that fires on a stop, or has already fired.
    pub fn signal(&self) -> Result<AbortSignal, Error> {
        let waits = self.waits();
        let mut known = waits.controller.borrow_mut();
        if let Some(known) = &*known {
            return Ok(known.signal());
        }
        let failed = |_| Error::new(Code::BROWSER_ERROR, "There is no AbortController");
        let controller = AbortController::new().map_err(failed)?;
        let signal = controller.signal();
        match self.how.get() {
            None => *known = Some(controller),
            Some(None) => {}
            Some(Some(reason)) => sys::abort_with(&controller, reason.as_deref()),
        }
        Ok(signal)
    }

    /// A separate token for each caller. The last holder frees it.
    #[cfg(feature = "tokio-util")]
    pub fn token(&self) -> tokio_util::sync::CancellationToken {
        self.waits().token.borrow().child_token()
    }
}

impl Waits {
    fn woken(&self) -> Shared<oneshot::Receiver<()>> {
        let made = || {
            let (sender, receiver) = oneshot::channel();
            self.wake.set(Some(sender));
            receiver.shared()
        };
        self.woken.get_or_init(made).clone()
    }
}

impl Wait for Waits {
    fn tell(&self, how: &How) {
        // A woken party may call anything, so nothing is borrowed here.
        let (controller, wake) = (self.controller.take(), self.wake.take());
        if let Some(reason) = how {
            if let Some(controller) = controller {
                sys::abort_with(&controller, reason.as_deref());
            }
            #[cfg(feature = "tokio-util")]
            self.token.borrow().clone().cancel();
            if let Some(wake) = wake {
                let _ = wake.send(());
            }
        } else {
            // Nobody cancels the tokens any more.
            #[cfg(feature = "tokio-util")]
            self.token.take();
        }
    }

    fn any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}
