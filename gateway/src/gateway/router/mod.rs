//! Calls of the gateway's own dialects: each is a run, made by an agent inside the gateway.
//!
//! A dialect opens a [`Session`] for each of its clients and makes its calls there. The session is
//! an agent on the relay like any other, so the rules of a call hold as they do over a WebSocket.

mod call;
mod local;
mod session;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::Value;

pub use crate::agent::{AbpError, Confirmation};
use crate::broker::runs::Dialect;
pub use crate::broker::runs::{CancelNotice, NoticedRun};
use crate::tokens::Identity;
pub use call::{Call, Canceller, Outcome, Step};
pub use session::Session;
pub(crate) use session::Shared;

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
    pub params: Option<Value>,
    /// After which the app cancels it.
    pub timeout: Option<Duration>,
    /// The id the dialect gives it, as plain text.
    pub dialect_id: Option<String>,
    /// The conversation it is part of.
    pub thread: Option<String>,
    /// The callId on the app's side; the run's id if there is none.
    pub call_id: Option<String>,
    /// Whether progress is wanted.
    pub progress: bool,
}
