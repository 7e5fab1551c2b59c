//! The app's view of its host at work.

use js_sys::Function;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::{JsHost, sys};

/// Calls a listener with each step of each call until the observer is dropped. Created with
/// [`crate::Host::observe`].
///
/// ```no_run
/// use caphost::Host;
///
/// fn log(host: &Host) {
///     let log = |event: serde_json::Value| web_sys::console::log_1(&event.to_string().into());
///     host.observe(log).forget();
/// }
/// ```
#[must_use = "dropping it stops the listener"]
#[derive(Debug)]
pub struct Observer(Function);

impl Observer {
    /// Keeps the listener for as long as the host lives.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // The function does not throw.
        let _ = self.0.call0(&JsValue::UNDEFINED);
    }
}

pub(super) fn observe<T>(host: &JsHost, mut listener: impl FnMut(T) + 'static) -> Observer
where
    T: DeserializeOwned,
{
    let told = move |event: JsValue| {
        if let Ok(event) = serde_wasm_bindgen::from_value(event) {
            listener(event);
        }
    };
    // JavaScript owns the closure: the listener itself may drop the observer.
    let told = Closure::<dyn FnMut(JsValue)>::new(told).into_js_value();
    Observer(host.observe(&sys::guard(&told)))
}

/// The number of objects that a host holds, and its counters.
///
/// ```no_run
/// fn is_busy(host: &caphost::Host) -> bool {
///     host.stats().in_flight > 0
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that have not settled yet.
    pub in_flight: u32,
    /// Sessions of agents.
    pub sessions: u32,
    /// Questions that have no answer yet.
    pub elicitations: u32,
    /// Futures of Rust capabilities.
    pub tasks: u32,
    /// Calls accepted so far.
    pub calls: u32,
    /// Calls cancelled so far.
    pub cancelled: u32,
    /// Results of handlers that came after their calls had ended, and were dropped.
    pub late_results: u32,
    /// Progress that came after its call had ended, and was dropped.
    pub late_progress: u32,
    /// Abandoned calls whose handlers ended later.
    pub ended_late: u32,
}

pub(super) fn stats(host: &JsHost) -> Stats {
    // A lost host has no numbers.
    serde_wasm_bindgen::from_value(host.stats()).unwrap_or_default()
}
