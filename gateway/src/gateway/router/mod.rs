//! Calls of the gateway's own dialects: each is a run, made by an agent inside the gateway.
//!
//! A dialect opens a [`Session`] for each of its clients and makes its calls there. The session is
//! an agent on the relay like any other, so the rules of a call hold as they do over a WebSocket.

mod call;
mod local;
mod session;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::agent::{AbpError, Confirmation};
use crate::broker::runs::{Dialect, Run, RunId};
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

/// Somebody cancelled a run through the cancellation API: for sessions that understand
/// `notifications/cancelled`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CancelNotice {
    /// The id as it was given.
    pub request_id: String,
    /// Why.
    pub reason: Option<String>,
    /// The run it means, if that is known.
    pub run: Option<NoticedRun>,
}

/// The run of a [`CancelNotice`], which may be on another worker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct NoticedRun {
    /// Its own id.
    pub id: RunId,
    /// Whose call it is.
    pub owner: Identity,
    /// The app's id, if that is known.
    pub app: Option<Arc<str>>,
}

impl From<&Run> for NoticedRun {
    fn from(run: &Run) -> Self {
        NoticedRun {
            id: run.id,
            owner: run.owner.clone(),
            app: run.app.clone(),
        }
    }
}

impl CancelNotice {
    /// Whether `viewer` may see the run; one that is not known is nobody's secret.
    pub fn concerns(&self, viewer: &Identity) -> bool {
        let run = self.run.as_ref();
        run.is_none_or(|run| viewer.may_see(&run.owner, run.app.as_deref()))
    }
}
