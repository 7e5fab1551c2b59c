//! An agent in Rust: it calls the capabilities of another page, of a worker, of apps behind a
//! gateway, or of a host in the same page.
//!
//! The rules are in [`crate::agent`]. The transports are those of the JavaScript agent. This module
//! adds futures and types.

mod agent;
mod call;
mod connect;
mod sys;

pub use agent::{Agent, SessionEnd};
pub use call::{Call, ProgressInfo, RunningCall};
pub use connect::Connect;
