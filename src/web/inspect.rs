//! What a capability written in Rust may return.

use wasm_bindgen::JsValue;

use super::{Error, sys};
use crate::call::Code;
use crate::session::Limits;

/// Refuses data that could not be handed to the caller, whatever the transport.
pub(super) fn data(value: JsValue, limits: &Limits) -> Result<JsValue, Error> {
    match sys::inspect(&value, limits.depth as f64, limits.message_bytes as f64) {
        None => Ok(value),
        Some(problem) => Err(Error::new(
            Code::OPERATION_FAILED,
            format!("The capability returned data that cannot be sent: it {problem}"),
        )),
    }
}
