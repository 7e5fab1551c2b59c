//! The browser: JavaScript API, AbortSignal bridge, page transports.
//!
//! Rust decides, JavaScript carries: `js/` holds thin glue around browser objects, each file with
//! no rule of its own. Every call out of JavaScript into Rust goes through one guard, so that a
//! trap settles what is pending instead of leaving it for ever.

mod agent;
mod builder;
mod checkpoint;
mod context;
mod executor;
mod files;
mod handle;
mod host;
mod inspect;
mod perform;
mod random;
mod receive;
mod sys;
mod value;

pub use agent::AgentHandle;
pub use builder::{App, Capability, Progress};
pub use context::CallContext;
pub use handle::HostHandle;
pub use host::Host;
pub use sys::JsHost;

/// The error of a capability, its details a JavaScript value.
pub type Error = crate::call::Error<wasm_bindgen::JsValue>;
