//! Calls that fronts make: each is a run.
//!
//! A front opens a [`Session`] for each of its clients and makes its calls there. To the app the
//! session is an agent like any other, so the rules of a call hold as they do over a WebSocket; the
//! calls go to the broker, and what becomes of them comes from it, without being text in between.

mod call;
mod session;
mod steps;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use crate::broker::runs::CancelNotice;
use crate::broker::runs::Dialect;
use crate::tokens::Identity;
use crate::wire::Json;
pub use call::{Call, Canceller};
use caphost::call::CallId;
pub use session::Session;
pub(crate) use steps::Sink;

/// Whom a session is for.
#[derive(Clone, Debug)]
pub struct Client {
    /// What its calls come in.
    pub dialect: Dialect,
    /// Whose they are.
    pub owner: Identity,
    /// The app id it wants; the only app connected if there is none.
    pub app: Option<String>,
    /// What the app is told that the agent is called.
    pub name: String,
    /// And its version.
    pub version: String,
}

/// A call to make.
#[derive(Clone, Debug, Default)]
pub struct NewCall {
    /// The capability's name.
    pub capability: String,
    /// What its handler gets.
    pub params: Option<Json>,
    /// How long it may take before the app cancels it.
    pub timeout: Option<Duration>,
    /// The id the dialect gives it, as plain text.
    pub dialect_id: Option<String>,
    /// The conversation it is part of.
    pub thread: Option<String>,
    /// The callId on the app's side; the run's id if there is none.
    pub call_id: Option<CallId>,
    /// Whether progress is wanted.
    pub progress: bool,
}
