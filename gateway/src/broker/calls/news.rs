//! Events of runs, for metrics, logs and listeners.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Dialect, EarlyCancel, Run, RunId};
use crate::tokens::Identity;
use caphost::call::LateEnd;

/// One event in the life of a run.
#[derive(Clone, Debug)]
pub enum News {
    /// The call of the run has come.
    Registered(RunId, Dialect),
    /// The first request to cancel the run has come.
    CancelRequested(RunId),
    /// The run was not cancelled, and goes on.
    CancelRefused(RunId, Dialect),
    /// The run is over.
    Ended(Arc<Run>),
    /// The outcome of the run was unknown, and its app has told it now.
    Settled(Arc<Run>),
    /// The run was cancelled as abandoned, and its handler has now ended.
    EndedLate(RunId, Dialect, LateEnd),
    /// An early cancel, which came before its run, has met the run.
    EarlyTaken(Box<EarlyCancel>),
}

/// Somebody has cancelled a run through the cancellation API. Sessions that understand
/// `notifications/cancelled` are told.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CancelNotice {
    /// The id of the request, as given.
    pub request_id: String,
    /// The reason.
    pub reason: Option<String>,
    /// The run with that id, if known.
    pub run: Option<NoticedRun>,
}

/// The run of a [`CancelNotice`], which may be on another worker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct NoticedRun {
    /// The id of the run.
    pub id: RunId,
    /// The owner of the call.
    pub owner: Identity,
    /// The id of the app, if known.
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
    /// Whether `viewer` may see the run. An unknown run is no secret.
    pub fn concerns(&self, viewer: &Identity) -> bool {
        let run = self.run.as_ref();
        run.is_none_or(|run| viewer.may_see(&run.owner, run.app.as_deref()))
    }
}
