//! The browser: JavaScript API, AbortSignal bridge, page transports.
//!
//! Rust decides, JavaScript carries: `js/` holds thin glue around browser objects, each file with
//! no rule of its own. Every call out of JavaScript into Rust goes through one guard, so that a
//! trap settles what is pending instead of leaving it for ever.

mod agent;
#[cfg(feature = "npm")]
mod bare;
#[cfg(feature = "std")]
mod builder;
#[cfg(feature = "std")]
mod checkpoint;
#[cfg(feature = "std")]
mod context;
#[cfg_attr(not(feature = "std"), path = "no_executor.rs")]
mod executor;
mod files;
mod handle;
#[cfg(feature = "std")]
mod host;
mod inner;
mod inspect;
mod perform;
mod random;
mod receive;
mod sys;
mod value;

pub use agent::AgentHandle;
#[cfg(feature = "std")]
pub use builder::{App, Capability, Progress};
#[cfg(feature = "std")]
pub use context::CallContext;
pub use handle::HostHandle;
#[cfg(feature = "std")]
pub use host::Host;
pub use sys::JsHost;

/// The error of a capability, its details a JavaScript value.
pub type Error = crate::call::Error<wasm_bindgen::JsValue>;
