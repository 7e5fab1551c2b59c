//! Reads calls and questions as JavaScript gives them.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::session::{CallRequest, Question};
use crate::web::ids::Batch;
use crate::web::object;

/// The number of characters of a reason that are kept.
const REASON_CHARACTERS: usize = 1_024;

thread_local! {
    pub(super) static IDS: Batch = const { Batch::new() };
}

/// A call, with its parameters as JavaScript has given them: `{ callId, params }`. Its id is a text
/// or a place.
pub(super) fn request(
    (call, place): (&str, u32),
    capability: String,
    given: JsValue,
    timeout: f64,
    token: JsValue,
) -> Option<CallRequest<JsValue>> {
    Some(CallRequest {
        id: IDS.with(|ids| ids.id(call, place))?,
        capability,
        params: given,
        timeout: timeout_of(timeout),
        token: Some(token),
        bytes: 0,
    })
}

/// A question of a handler or of the app to an agent.
pub(super) fn question(request: JsValue, timeout: Option<f64>) -> Question<JsValue> {
    let method = object::get(&request, "method").as_string();
    Question {
        method: method.unwrap_or_default(),
        request,
        timeout,
    }
}

/// `None` for an infinite timeout.
pub(super) fn timeout_of(timeout: f64) -> Option<f64> {
    Some(timeout).filter(|it| it.is_finite())
}

/// The reason, cut to a length that fits a log line.
pub(super) fn shortened(reason: Option<&str>) -> Option<Rc<str>> {
    let reason = reason?;
    let end = reason.char_indices().nth(REASON_CHARACTERS);
    // Uses `get`, because the panic message of an index out of range takes 7 kB of the module.
    let kept = end.and_then(|(at, _)| reason.get(..at));
    Some(kept.unwrap_or(reason).into())
}
