//! What one worker tells all others.

use rmcp::model::RequestId;
use serde::{Deserialize, Serialize};

use super::{Cluster, WorkerId, early};
use crate::broker::runs::EarlyCancel;
use crate::fronts::rap::names::Identifier;
use crate::gateway::router::CancelNotice;
use crate::tokens::Identity;

/// What everybody should know.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Notice {
    /// Somebody cancels a run that nobody knows yet.
    CancelEarly(EarlyCancel),
    /// That cancel has met its run.
    EarlyTaken(EarlyCancel),
    /// Sessions that listen are to hear of a cancel.
    Cancelled(CancelNotice),
    /// A RAP runtime cancels a tool call.
    CancelToolCall {
        /// Its thread.
        thread_id: Identifier,
        /// The call.
        tool_call_id: Identifier,
        /// The app whose tools are addressed, if one is.
        app: Option<String>,
        /// Who.
        by: Identity,
    },
    /// A RAP runtime closes a thread.
    CloseThread {
        /// Which one.
        thread_id: Identifier,
        /// The app whose tools are addressed, if one is.
        app: Option<String>,
        /// Who.
        by: Identity,
    },
    /// An MCP client cancels a request that is not in flight where the cancel came.
    CancelRequest {
        /// The session's id.
        session: String,
        /// The request, as the client calls it.
        request_id: RequestId,
        /// Why.
        reason: Option<String>,
    },
    /// An MCP client ends its session.
    EndSession {
        /// The session's id.
        session: String,
    },
}

/// Another worker tells.
pub(super) fn obey(cluster: &Cluster, from: WorkerId, notice: Notice) {
    tracing::debug!(worker = %from, ?notice, "another worker tells");
    let hub = &cluster.hub;
    match notice {
        Notice::Cancelled(notice) => {
            hub.announce_cancelled(notice);
        }
        Notice::CancelEarly(early) => early::heard(cluster, early),
        Notice::EarlyTaken(early) => hub.forget_early(&early),
        notice => hub.pass_on(notice),
    }
}
