//! Panics anywhere in the module, also in the app's own code.
//!
//! A task that the app has spawned, and a closure of the app, enter wasm without the guard. A panic
//! hook sees their panics, with the message. Our hook calls the previous hook. A hook that the app
//! sets later replaces ours, as `console_error_panic_hook::set_once` does. So the module checks
//! again and again whether our hook is still set: when a host or an agent is made, at each call of
//! either, and after each poll of a capability. The error events of the page tell of the traps that
//! no hook of ours sees.

use std::panic::{self, PanicHookInfo};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// Tells everybody about the panic, with its message, in a job of its own. The module is not
    /// entered again.
    fn panicked(message: &str, place: &str);

    /// Listens for uncaught traps of this module.
    #[wasm_bindgen(js_name = noticeTraps)]
    fn notice_traps();
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// The address of our hook. Nothing else is at that address while the hook lives.
static OURS: AtomicUsize = AtomicUsize::new(0);

/// Makes sure that panics and traps are noticed from now on.
pub(super) fn notice() {
    let before = panic::take_hook();
    if place_of(&*before) == OURS.load(Ordering::Relaxed) {
        return panic::set_hook(before);
    }
    let hook: Box<Hook> = Box::new(move |info| {
        // First, as the app's hook may throw.
        tell(info);
        before(info);
    });
    let first = OURS.swap(place_of(&*hook), Ordering::Relaxed) == 0;
    panic::set_hook(hook);
    if first {
        notice_traps();
    }
}

/// Notices panics again after each poll of a future of the app's, which may set a panic hook.
#[cfg(feature = "host")]
pub(super) async fn noticing<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| {
        let polled = work.as_mut().poll(context);
        notice();
        polled
    })
    .await
}

fn place_of(hook: &Hook) -> usize {
    ptr::from_ref(hook).cast::<()>().addr()
}

fn tell(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(|it| &**it));
    let place = info.location().map(ToString::to_string);
    panicked(
        text.unwrap_or("it has panicked"),
        &place.unwrap_or_default(),
    );
}
