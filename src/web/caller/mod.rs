//! An agent in Rust: it calls the capabilities of another page, of a worker, of a gateway's apps, or
//! of a host in the same page.
//!
//! The rules are those of [`crate::agent`], and the transports those of the agent in JavaScript: here
//! are futures and types.

mod agent;
mod answer;
mod call;
mod connect;
mod sys;

pub use agent::{Agent, SessionEnd};
pub use answer::{CallError, CancelResponse, HandlerEnd};
pub use call::{Call, ProgressInfo, RunningCall};
pub use connect::Connect;
