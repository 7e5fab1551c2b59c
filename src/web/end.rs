//! How what a handler has begun learns of the end of its call.

use std::cell::{Cell, OnceCell, RefCell};

use futures::channel::oneshot;
use futures::future::{FutureExt as _, Shared};
use web_sys::{AbortController, AbortSignal};

use super::{Error, sys};
use crate::call::Code;

/// The end of a call, for whoever waits for it. It holds nothing of them once it is reached, and what
/// nobody asks for is not made.
#[derive(Default)]
pub(super) struct End {
    /// Whether the call was stopped, once it has ended.
    how: OnceCell<bool>,
    /// With which reason it was.
    reason: OnceCell<String>,
    controller: RefCell<Option<AbortController>>,
    /// Wakes those who wait: it is dropped unsent if the call ends otherwise than by a stop.
    wake: Cell<Option<oneshot::Sender<()>>>,
    waited: OnceCell<Shared<oneshot::Receiver<()>>>,
    #[cfg(feature = "tokio-util")]
    token: RefCell<Option<tokio_util::sync::CancellationToken>>,
}

impl End {
    /// The call is cancelled.
    pub fn stop(&self, reason: Option<&str>) {
        if let Some(reason) = reason {
            let _ = self.reason.set(reason.into());
        }
        if self.how.set(true).is_err() {
            return;
        }
        // The listeners of a signal may do anything: nothing is borrowed.
        let controller = self.controller.take();
        if let Some(controller) = controller {
            sys::abort_with(&controller, reason);
        }
        #[cfg(feature = "tokio-util")]
        if let Some(token) = self.token.take() {
            token.cancel();
        }
        if let Some(wake) = self.wake.take() {
            let _ = wake.send(());
        }
    }

    /// It has ended; as cancelled, if its handler has said so by itself.
    pub fn over(&self, cancelled: bool) {
        if cancelled {
            return self.stop(None);
        }
        if self.how.set(false).is_err() {
            return;
        }
        self.controller.take();
        #[cfg(feature = "tokio-util")]
        self.token.take();
        self.wake.take();
    }

    pub fn is_stop(&self) -> bool {
        self.how.get() == Some(&true)
    }

    /// Waits for it; whether the call was stopped.
    pub async fn reached(&self) -> bool {
        if let Some(stopped) = self.how.get() {
            return *stopped;
        }
        let wait = self.waited.get_or_init(|| {
            let (sender, receiver) = oneshot::channel();
            self.wake.set(Some(sender));
            receiver.shared()
        });
        wait.clone().await.is_ok()
    }

    /// A signal that fires, or has fired, with a stop.
    pub fn signal(&self) -> Result<AbortSignal, Error> {
        if let Some(existing) = &*self.controller.borrow() {
            return Ok(existing.signal());
        }
        let failed = |_| Error::new(Code::BROWSER_ERROR, "There is no AbortController");
        let controller = AbortController::new().map_err(failed)?;
        let signal = controller.signal();
        match self.how.get() {
            Some(true) => sys::abort_with(&controller, self.reason.get().map(|it| &**it)),
            Some(false) => {}
            None => {
                self.controller.replace(Some(controller));
            }
        }
        Ok(signal)
    }

    /// A token of its own for each who asks, which is freed with the last that knows it.
    #[cfg(feature = "tokio-util")]
    pub fn token(&self) -> tokio_util::sync::CancellationToken {
        let mut token = self.token.borrow_mut();
        match self.how.get() {
            None => token.get_or_insert_default().child_token(),
            Some(stopped) => {
                let token = tokio_util::sync::CancellationToken::new();
                if *stopped {
                    token.cancel();
                }
                token
            }
        }
    }
}
