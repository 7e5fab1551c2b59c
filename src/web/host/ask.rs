//! The answers that a capability waits for: of its calls and its questions.

use futures::channel::oneshot;

use wasm_bindgen::JsValue;

use super::end::Outcome as Answer;
use super::inner::{Inner, State};
use crate::call::{Code, Outcome, Response};
use crate::web::Failure;
use crate::web::answer::CHILD_CANCELLED;

pub(super) async fn await_response(
    host: &Inner,
    take_back: fn(&mut State, u32),
    ask: impl FnOnce(&mut State) -> u32,
) -> Answer {
    let (sender, receiver) = oneshot::channel::<Response<JsValue>>();
    let key = ask(&mut host.state.borrow_mut());
    host.rust_calls.waiting.borrow_mut().insert(key, sender);
    let _asked = Asked {
        host,
        key,
        take_back,
    };
    host.drive();
    let response = receiver.await.map_err(|_| Failure::cancelled())?;
    match response.outcome {
        Outcome::Completed(data) => Ok(data),
        Outcome::Failed(error) => Err(error),
        Outcome::Cancelled(_) => Err(Failure::new(Code::OPERATION_FAILED, CHILD_CANCELLED)),
    }
}

/// A call or a question that a handler waits for. If the handler stops waiting, for example because
/// another branch of a `select!` has won, the call is cancelled, or the question withdrawn.
struct Asked<'a> {
    host: &'a Inner,
    key: u32,
    take_back: fn(&mut State, u32),
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let waiting = self.host.rust_calls.waiting.borrow_mut().remove(&self.key);
        if waiting.is_some() {
            self.host.with(|state| (self.take_back)(state, self.key));
        }
    }
}
