//! The browser: JavaScript API, AbortSignal bridge, page transports.
//!
//! Rust decides, JavaScript carries: `js/` holds thin glue around browser objects, each file with
//! no rule of its own. It also reads and writes the messages, whose values are its own: what stands
//! in them comes to Rust flat, as arguments. Every call out of JavaScript into Rust goes through one
//! guard, so that a trap settles what is pending instead of leaving it for ever. A panic of what enters
//! wasm past it, such as a task of the app's own, does the same by a panic hook.

use wasm_bindgen::JsValue;

mod agent;
mod ask;
#[cfg(feature = "macros")]
#[allow(missing_debug_implementations)]
pub mod attribute;
mod builder;
mod caller;
mod checkpoint;
mod child;
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
mod names;
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
pub use child::ChildCall;
pub use context::CallContext;
pub use error::Error;
pub use handle::HostHandle;
pub use host::Host;
pub use signals::{Abortable, Aborted, abortable};
pub use sys::JsHost;
pub use watch::{Observer, Stats};
pub use worker_module::WorkerModule;

/// An error as the core has it, its details a JavaScript value: what a host and an agent work with.
type Failure = crate::call::Error<JsValue>;

fn some(value: JsValue) -> Option<JsValue> {
    (!value.is_undefined()).then_some(value)
}
