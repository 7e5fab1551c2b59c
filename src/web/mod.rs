//! The browser: JavaScript API, AbortSignal bridge, page transports.
//!
//! Rust decides, JavaScript carries: `js/` holds thin glue around browser objects, each file with
//! no rule of its own. It also reads and writes the messages, whose values are its own: what stands
//! in them comes to Rust flat, as arguments. Every call out of JavaScript into Rust goes through one
//! guard, so that a trap settles what is pending instead of leaving it for ever. A panic of what enters
//! wasm past it, such as a task of the app's own, does the same by a panic hook.

use wasm_bindgen::JsValue;

mod agent;
#[cfg(feature = "macros")]
pub mod attribute;
mod builder;
mod caller;
mod checkpoint;
mod context;
mod data;
mod end;
mod error;
mod executor;
mod files;
mod handle;
mod handles;
mod host;
mod inner;
mod inspect;
mod object;
mod panics;
mod params;
mod perform;
mod receive;
mod signals;
mod sys;
mod watch;
pub mod worker;
mod worker_module;

pub use agent::AgentHandle;
pub use builder::{Amount, App, Capability, Progress};
pub use caller::{
    Agent, Call, CallError, CancelResponse, Connect, HandlerEnd, ProgressInfo, RunningCall,
    SessionEnd,
};
pub use context::CallContext;
pub use handle::HostHandle;
pub use host::Host;
pub use signals::{Abortable, Aborted, abortable};
pub use sys::JsHost;
pub use watch::{Observer, Stats};
pub use worker_module::WorkerModule;

/// The error of a capability, its details a JavaScript value. What it consists of are fields, such as
/// `error.code` and `error.message`. For what `?` makes one of see [`Error::other`].
///
/// ```no_run
/// use caphost::{Code, Error};
/// use std::time::Duration;
///
/// fn save(bytes: &[u8]) -> Result<(), Error> {
///     match bytes.len() {
///         0 => Err(Error::new(Code::INVALID_PARAMS, "There is nothing to be saved")),
///         // A code of the app's own.
///         1_000_000.. => Err(Error::new("TOO_LARGE", "At most a megabyte is saved")),
///         100_000.. => Err(Error::new(Code::RATE_LIMITED, "The disk is busy")
///             .with_retry_after(Duration::from_secs(2))),
///         _ => Ok(()),
///     }
/// }
/// ```
pub type Error = crate::call::Error<JsValue>;

fn some(value: JsValue) -> Option<JsValue> {
    (!value.is_undefined()).then_some(value)
}
