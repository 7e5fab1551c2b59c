//! Panics anywhere in the module, also in what is the app's own.
//!
//! A task that the app has spawned and a closure of its own enter wasm past the guard: only a panic
//! hook sees how they end. It calls the hook that was there before it. One that the app sets later
//! takes its place, as `console_error_panic_hook::set_once` does, and so it looks time and again
//! whether it is still there: when a host or an agent is made, and with each call of either.

use std::panic::{self, PanicHookInfo};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    /// Has everybody told in a job of its own, with what the panic has said. The module is not
    /// entered again.
    fn panicked(message: &str, place: &str);
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// Where our hook is: it is the only thing there, for as long as it lives.
static OURS: AtomicUsize = AtomicUsize::new(0);

/// Has panics noticed from now on.
pub(super) fn notice() {
    let before = panic::take_hook();
    if place_of(&*before) == OURS.load(Ordering::Relaxed) {
        return panic::set_hook(before);
    }
    let hook: Box<Hook> = Box::new(move |info| {
        // First: what an app does may throw.
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
