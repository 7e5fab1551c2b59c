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
pub mod worker;

pub use agent::AgentHandle;
pub use builder::{App, Capability, Progress};
pub use context::CallContext;
pub use handle::HostHandle;
pub use host::{Host, WorkerModule};
pub use sys::JsHost;

/// The error of a capability, its details a JavaScript value.
pub type Error = crate::call::Error<JsValue>;

fn some(value: JsValue) -> Option<JsValue> {
    (!value.is_undefined()).then_some(value)
}
