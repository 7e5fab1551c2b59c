//! What may be sent.

use wasm_bindgen::JsValue;

use super::{Error, sys};
use crate::call::Code;
use crate::session::Limits;

/// Refuses a message that is nested too deeply or too large.
pub(super) fn message(value: &JsValue, limits: &Limits) -> Result<(), Error> {
    match sys::inspect(value, limits.depth as u32, limits.message_bytes as f64).as_string() {
        None => Ok(()),
        Some(problem) => Err(Error::invalid_params(["The message ", &problem].concat())),
    }
}

/// Refuses data that could not be handed to the caller, whatever the transport.
pub(super) fn data(value: JsValue, limits: &Limits) -> Result<JsValue, Error> {
    match sys::inspect(&value, limits.depth as u32, limits.message_bytes as f64).as_string() {
        None => Ok(value),
        Some(problem) => Err(Error::new(
            Code::OPERATION_FAILED,
            [
                "The capability returned data that cannot be sent: it ",
                &problem,
            ]
            .concat(),
        )),
    }
}
