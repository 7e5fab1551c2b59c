//! Calls that fronts make. Each call is a run.
//!
//! A front opens a [`Session`] for each of its clients and makes the client's calls in that session. For the
//! app the session is an agent like any other, so a call follows the same rules as a call over a WebSocket.
//! The calls go to the broker directly, and their steps come back from the broker, without a detour through
//! text.
//!
//! A question of an app says to which agent it goes, and not of which call it is. So the calls of a client that
//! takes questions have sessions of their own ([`asked`]).

mod asked;
mod call;
mod session;
#[cfg(test)]
mod tests;
mod way;

use std::time::Duration;

pub use crate::broker::calls::CancelNotice;
use crate::broker::calls::Dialect;
use crate::tokens::Identity;
use crate::wire::Json;
pub use call::{Call, Canceller, Step};
use caphost::call::CallId;
pub use session::Session;

/// The client of a session.
#[derive(Clone, Debug)]
pub struct Client {
    /// The dialect of the client's calls.
    pub dialect: Dialect,
    /// The owner of the client's calls.
    pub owner: Identity,
    /// The id of the app that the client wants. `None` means the only app that is connected.
    pub app: Option<String>,
    /// The agent name that the app is told.
    pub name: String,
    /// The agent version that the app is told.
    pub version: String,
    /// Whether the client takes questions of the app.
    pub takes_questions: bool,
}

/// A new call.
#[derive(Clone, Debug, Default)]
pub struct NewCall {
    /// The capability's name.
    pub capability: String,
    /// The parameters for the handler.
    pub params: Option<Json>,
    /// The time after which the app cancels the call.
    pub timeout: Option<Duration>,
    /// The call's id in the dialect, as plain text.
    pub dialect_id: Option<String>,
    /// The conversation that the call is part of.
    pub thread: Option<String>,
    /// The callId on the app's side. `None` means the run's id.
    pub call_id: Option<CallId>,
    /// Whether the caller wants progress.
    pub progress: bool,
}
