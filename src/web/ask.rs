//! What a capability waits for: the answer to a call or a question of its own.

use futures::channel::oneshot;

use wasm_bindgen::JsValue;

use super::Failure;
use super::executor::Outcome as Answer;
use super::inner::{Inner, State};
use crate::call::{Code, Outcome, Response};

/// Of a child: it is said of what has not stopped its parent, so it is an error of the operation, which
/// the parent may take or leave.
pub(super) const CHILD_CANCELLED: &str = "The call this one waited for was cancelled";

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

/// A call or a question that its handler waits for. One that it waits for no longer, say because
/// another branch of a `select!` has won, is taken back.
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
