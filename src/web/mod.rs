//! The browser: JavaScript API, AbortSignal bridge, page transports.
//!
//! Rust decides, JavaScript carries: `js/` holds thin glue around browser objects, and no file in
//! there has rules of its own. JavaScript also reads and writes the messages, as their values are
//! JavaScript's: the parts of a message come to Rust flat, as arguments. Every call from JavaScript
//! into Rust goes through one guard, so that a trap settles everything pending instead of leaving
//! it forever. Some code enters wasm without the guard, such as a task of the app. For a panic in
//! such code, a panic hook does the same.

use std::time::Duration;

use wasm_bindgen::JsValue;

use crate::call::Millis;

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

/// An error of the core, with details that are a JavaScript value. Hosts and agents use this type.
type Failure = crate::call::Error<JsValue>;

/// A time as JavaScript has it: milliseconds.
fn millis(time: Duration) -> Millis {
    time.as_secs_f64() * 1_000.0
}

fn some(value: JsValue) -> Option<JsValue> {
    (!value.is_undefined()).then_some(value)
}
