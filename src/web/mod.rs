//! The browser: JavaScript API, AbortSignal bridge, page transports.
//!
//! Rust decides, JavaScript carries: `js/` holds thin glue around browser objects, each file with
//! no rule of its own. It also reads and writes the messages, whose values are its own: what stands
//! in them comes to Rust flat, as arguments. Every call out of JavaScript into Rust goes through one
//! guard, so that a trap settles what is pending instead of leaving it for ever.

use wasm_bindgen::JsValue;

mod agent;
mod builder;
mod checkpoint;
mod context;
mod executor;
mod files;
mod handle;
mod handles;
mod host;
mod inner;
mod inspect;
mod object;
mod perform;
mod receive;
mod sys;

pub use agent::AgentHandle;
pub use builder::{App, Capability, Progress};
pub use context::CallContext;
pub use handle::HostHandle;
pub use host::Host;
pub use sys::JsHost;

/// The error of a capability, its details a JavaScript value.
pub type Error = crate::call::Error<JsValue>;

/// An error as JavaScript knows it. Without `retryable` it follows from the code; a time of NaN is
/// none, and undefined are no details.
fn error_from(
    code: String,
    message: String,
    retryable: Option<bool>,
    retry_after: f64,
    details: JsValue,
) -> Error {
    let mut error = Error::new(code, message);
    if let Some(retryable) = retryable {
        error.retryable = retryable;
    }
    error.retry_after = Some(retry_after).filter(|it| !it.is_nan());
    error.details = some(details);
    error
}

fn some(value: JsValue) -> Option<JsValue> {
    (!value.is_undefined()).then_some(value)
}
