//! What one worker tells all others.

use serde::{Deserialize, Serialize};

use super::{Cluster, WorkerId};
use crate::gateway::router::CancelNotice;
use crate::gateway::runs::RunId;
use crate::gateway::tokens::Identity;

/// What everybody should know.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Notice {
    /// Somebody cancels a run that nobody knows yet.
    CancelEarly {
        /// A run's own id, or a dialect's.
        request_id: String,
        /// Why.
        reason: Option<String>,
        /// Who.
        by: Identity,
    },
    /// That cancel has met its run.
    EarlyTaken {
        /// See [`Notice::CancelEarly`].
        request_id: String,
        /// Who had cancelled.
        by: Identity,
    },
    /// Sessions that listen are to hear of a cancel.
    Cancelled {
        /// The id as it was given.
        request_id: String,
        /// Why.
        reason: Option<String>,
        /// The run it means, if that is known.
        run: Option<RunId>,
    },
    /// A RAP runtime cancels a tool call.
    CancelToolCall {
        /// Its thread.
        thread_id: String,
        /// The call.
        tool_call_id: String,
        /// The app whose tools are addressed, if one is.
        app: Option<String>,
        /// Who.
        by: Identity,
    },
    /// A RAP runtime closes a thread.
    CloseThread {
        /// Which one.
        thread_id: String,
        /// The app whose tools are addressed, if one is.
        app: Option<String>,
        /// Who.
        by: Identity,
    },
}

/// Another worker tells.
pub(super) fn obey(cluster: &Cluster, from: WorkerId, notice: Notice) {
    tracing::debug!(worker = %from, ?notice, "another worker tells");
    let hub = &cluster.hub;
    match notice {
        Notice::Cancelled {
            request_id,
            reason,
            run,
        } => {
            hub.announce_cancelled(CancelNotice {
                request_id,
                reason,
                run,
            });
        }
        notice => hub.pass_on(notice),
    }
}
