//! Checks the data and the questions of a Rust capability.

use wasm_bindgen::JsValue;

use super::sys;
use crate::call::Code;
use crate::session::Limits;
use crate::web::Failure;
use crate::web::object::{object, put};

/// Refuses data that cannot be sent to the caller, over any transport.
pub(super) fn data(value: JsValue, limits: &Limits) -> Result<JsValue, Failure> {
    let problem = sys::inspect(&value, limits.depth as f64, limits.message_bytes as f64);
    fit(value, Code::OPERATION_FAILED, RETURNED, problem)
}

const RETURNED: &str = "The capability returned data that cannot be sent: it ";

/// Refuses a call that a host would not accept from an agent. The call's parameters are in `given`.
pub(super) fn call(given: JsValue, limits: &Limits) -> Result<JsValue, Failure> {
    let envelope = object();
    put(&envelope, "payload", &given);
    // The envelope and its payload are also levels.
    let depth = limits.depth as f64 + 2.0;
    let problem = sys::inspect(&envelope, depth, limits.message_bytes as f64);
    fit(given, Code::INVALID_PARAMS, "The message ", problem)
}

/// Refuses a question that a host would not send to an agent.
pub(super) fn question(request: JsValue, limits: &Limits) -> Result<JsValue, Failure> {
    let problem = sys::inspect(&request, limits.depth as f64, limits.message_bytes as f64);
    fit(request, Code::INVALID_PARAMS, "The request ", problem)
}

fn fit(
    value: JsValue,
    code: Code,
    what: &'static str,
    problem: Option<String>,
) -> Result<JsValue, Failure> {
    match problem {
        None => Ok(value),
        Some(problem) => Err(Failure::new(code, format!("{what}{problem}"))),
    }
}
