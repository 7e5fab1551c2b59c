//! What has happened to runs, for metrics, logs and listeners.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Dialect, EarlyCancel, Run, RunId, RunState};
use crate::tokens::Identity;
use caphost::call::{LateEnd, Stop, StoppedBy};

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
    Ended(Ended),
    /// It was cancelled as abandoned, and its handler has ended since.
    EndedLate(RunId, Dialect, LateEnd),
    /// A cancel that had come before its run has met it.
    EarlyTaken(Box<EarlyCancel>),
    /// It is not remembered any more.
    Forgotten(RunId),
}

/// How a run ended, without whatever takes time to copy. Times are Unix milliseconds.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Which run.
    pub id: RunId,
    /// See [`Run::dialect`].
    pub dialect: Dialect,
    /// In which state.
    pub state: RunState,
    /// See [`Run::registered_at`].
    pub registered_at: u64,
    /// See [`Run::ended_at`].
    pub ended_at: u64,
    /// See [`Run::cancel_requested_at`].
    pub cancel_requested_at: Option<u64>,
    /// See [`Run::cancelled_at`].
    pub cancelled_at: Option<u64>,
    /// See [`Run::stop`].
    pub stop: Option<Stop>,
    /// See [`Run::by`].
    pub by: Option<StoppedBy>,
    /// The name of its owner.
    pub owner: Arc<str>,
    /// See [`Run::agent`].
    pub agent: Option<Arc<str>>,
    /// See [`Run::call_id`].
    pub call_id: Arc<str>,
    /// See [`Run::app`].
    pub app: Option<Arc<str>>,
    /// See [`Run::capability`].
    pub capability: Arc<str>,
    /// See [`Run::error`].
    pub error: Option<String>,
}

impl From<&Run> for Ended {
    fn from(run: &Run) -> Self {
        Ended {
            id: run.id,
            dialect: run.dialect,
            state: run.state,
            registered_at: run.registered_at,
            ended_at: run.ended_at.unwrap_or(run.registered_at),
            cancel_requested_at: run.cancel_requested_at,
            cancelled_at: run.cancelled_at,
            stop: run.stop(),
            by: run.by,
            owner: run.owner.name.clone(),
            agent: run.agent.clone(),
            call_id: run.call_id.clone(),
            app: run.app.clone(),
            capability: run.capability.clone(),
            error: run.error.clone(),
        }
    }
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
