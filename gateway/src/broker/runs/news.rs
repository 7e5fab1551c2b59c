//! What has happened to runs, for metrics, logs and listeners.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Dialect, EarlyCancel, Run, RunId};
use crate::tokens::Identity;
use caphost::call::LateEnd;

/// One event in the life of a run.
#[derive(Clone, Debug)]
pub enum News {
    /// Its call has come.
    Registered(RunId, Dialect),
    /// Somebody has asked, for the first time, that it be cancelled.
    CancelRequested(RunId),
    /// It was not cancelled after all, and goes on.
    CancelRefused(RunId, Dialect),
    /// It is over.
    Ended(Arc<Run>),
    /// It was cancelled as abandoned, and its handler has ended since.
    EndedLate(RunId, Dialect, LateEnd),
    /// A cancel that had come before its run has met it.
    EarlyTaken(Box<EarlyCancel>),
    /// It is not remembered any more.
    Forgotten(RunId),
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
