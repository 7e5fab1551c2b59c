//! Panics anywhere in the module, also in the app's own code.
//!
//! A task that the app has spawned, and a closure of the app, enter wasm without the guard: only a
//! panic hook sees their panics. Our hook calls the previous hook. A hook that the app sets later
//! replaces ours, as `console_error_panic_hook::set_once` does. So the module checks again and
//! again whether our hook is still set: when a host or an agent is made, and at each call of
//! either.

use std::panic::{self, PanicHookInfo};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// Tells everybody about the panic, with its message, in a job of its own. The module is not
    /// entered again.
    fn panicked(message: &str, place: &str);
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// The address of our hook. Nothing else is at that address while the hook lives.
static OURS: AtomicUsize = AtomicUsize::new(0);

/// Makes sure that panics are noticed from now on.
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
    OURS.store(place_of(&*hook), Ordering::Relaxed);
    panic::set_hook(hook);
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
