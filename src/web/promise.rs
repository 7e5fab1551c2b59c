//! Waiting for a promise of JavaScript.

use futures::channel::oneshot;
use js_sys::Promise;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// A promise, for callbacks that JavaScript owns.
    type Thenable;
    #[wasm_bindgen(method)]
    fn then(this: &Thenable, fulfilled: &JsValue, rejected: &JsValue);
}

/// What a promise comes to. Whoever waits for it may let go of this: the promise finds nobody then.
pub(super) fn outcome(promise: &Promise) -> oneshot::Receiver<Result<JsValue, JsValue>> {
    let (sender, receiver) = oneshot::channel();
    let sender = std::rc::Rc::new(std::cell::Cell::new(Some(sender)));
    let other = sender.clone();
    // JavaScript owns both, and calls one of them once.
    let fulfilled = Closure::once_into_js(move |value: JsValue| {
        let _ = sender.take().map(|sender| sender.send(Ok(value)));
    });
    let rejected = Closure::once_into_js(move |error: JsValue| {
        let _ = other.take().map(|sender| sender.send(Err(error)));
    });
    promise
        .unchecked_ref::<Thenable>()
        .then(&fulfilled, &rejected);
    receiver
}

/// The same as a future.
pub(super) async fn settled(promise: &Promise) -> Result<JsValue, JsValue> {
    let lost = |_| Err(JsValue::from_str("The promise was lost"));
    outcome(promise).await.unwrap_or_else(lost)
}
