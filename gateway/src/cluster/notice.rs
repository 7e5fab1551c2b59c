//! What one worker tells all others.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::broker::runs::{CancelNotice, EarlyCancel};
use crate::tokens::Identity;

/// What everybody should know. Ids are as their dialects write them: whoever obeys checks them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
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
    /// An MCP client cancels a request that is not in flight where the cancel came.
    CancelRequest {
        /// The session's id.
        session: String,
        /// The request, as the client calls it: a number or a string.
        request_id: Value,
        /// Why.
        reason: Option<String>,
    },
    /// An MCP client ends its session.
    EndSession {
        /// The session's id.
        session: String,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As workers of the second version write and read them.
    #[test]
    fn what_is_told_stays_the_same_on_the_wire() {
        let by = json!(Identity::anyone());
        let key = "00000000-0000-4000-8000-000000000001";
        let early = json!({ "key": key, "request_id": "7", "reason": null, "by": by, "at": 1 });
        let run = json!({ "id": key, "owner": by, "app": "demo" });
        for told in [
            json!({ "CancelEarly": early }),
            json!({ "EarlyTaken": early }),
            json!({ "Cancelled": { "request_id": "7", "reason": "why", "run": run } }),
            json!({ "CancelToolCall": {
                "thread_id": "t", "tool_call_id": "c", "app": null, "by": by,
            } }),
            json!({ "CloseThread": { "thread_id": "t", "app": "demo", "by": by } }),
            json!({ "CancelRequest": { "session": "s", "request_id": 7, "reason": null } }),
            json!({ "CancelRequest": { "session": "s", "request_id": "7", "reason": "why" } }),
            json!({ "EndSession": { "session": "s" } }),
        ] {
            let read: Notice = serde_json::from_value(told.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), told);
        }
    }
}
