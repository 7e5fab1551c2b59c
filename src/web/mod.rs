//! The browser: JavaScript API, AbortSignal bridge, page transports.
//!
//! Rust decides, JavaScript carries: `js/` holds thin glue around browser objects, and no file in
//! there has rules of its own. JavaScript also reads and writes the messages, as their values are
//! JavaScript's: the parts of a message come to Rust flat, as arguments. Every call from JavaScript
//! into Rust goes through one guard, so that a trap settles everything pending instead of leaving
//! it forever. Some code enters wasm without the guard, such as a task of the app. For a panic in
//! such code, a panic hook does the same; for a trap, the error events of the page.

use std::time::Duration;

use wasm_bindgen::JsValue;

use crate::call::Millis;

#[cfg(feature = "agent")]
mod agent;
mod answer;
#[cfg(feature = "agent")]
mod caller;
mod data;
mod error;
mod failure;
mod handles;
#[cfg(feature = "host")]
pub mod host;
mod ids;
mod names;
mod object;
mod panics;
mod signals;
mod sys;

#[cfg(feature = "agent")]
pub use agent::AgentHandle;
pub use answer::{CallError, CancelResponse, HandlerEnd};
#[cfg(feature = "agent")]
pub use caller::{Agent, Call, Connect, ProgressInfo, RunningCall, SessionEnd};
pub use error::Error;
use failure::Failure;
pub use signals::{Abortable, Aborted, abortable};

/// A time as JavaScript has it: milliseconds.
fn millis(time: Duration) -> Millis {
    time.as_secs_f64() * 1_000.0
}

fn some(value: JsValue) -> Option<JsValue> {
    (!value.is_undefined()).then_some(value)
}
