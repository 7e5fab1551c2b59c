//! The host's half: the functions that its JavaScript calls, and the host as an app in Rust has it.

mod ask;
#[cfg(feature = "macros")]
#[allow(missing_debug_implementations)]
pub mod attribute;
mod builder;
mod checkpoint;
mod child;
mod context;
mod delivery;
mod descriptor;
mod end;
mod executor;
mod files;
mod handle;
mod in_rust;
mod inner;
mod inspect;
mod numbers;
mod params;
mod perform;
mod receive;
mod requests;
mod rust_calls;
mod sys;
mod watch;
pub mod worker;
mod worker_call;
mod worker_module;

pub use builder::{Amount, App, Capability, Confirm, Progress};
pub use child::ChildCall;
pub use handle::HostHandle;
pub use in_rust::Host;
pub use inner::CallContext;
pub use sys::JsHost;
pub use watch::{Observer, Stats};
pub use worker_module::WorkerModule;
