//! What a runtime says to every tool server, whoever it may concern.

use serde::{Deserialize, Serialize};

use crate::gateway::rap::names::Identifier;

/// Where a tool server takes a [`CancelToolCall`], under its base URL.
pub const CANCEL_TOOL_CALL_PATH: &str = "/cancel_tool_call";
/// Where a tool server takes a [`CloseThread`], under its base URL.
pub const CLOSE_THREAD_PATH: &str = "/close_thread";

/// `POST {base}/cancel_tool_call`, best effort: never retried, its answer never read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CancelToolCall {
    /// [`Invocation::group_id`](super::Invocation::group_id).
    pub thread_id: Identifier,
    /// [`Invocation::id`](super::Invocation::id).
    pub tool_call_id: Identifier,
}

/// `POST {base}/close_thread`, best effort like [`CancelToolCall`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CloseThread {
    /// [`Invocation::group_id`](super::Invocation::group_id).
    pub thread_id: Identifier,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_need_their_ids() {
        let read = |text: &str| {
            serde_json::from_str::<CancelToolCall>(text).map_err(|error| error.to_string())
        };
        assert!(read(r#"{"thread_id":"t","tool_call_id":"c","more":1}"#).is_ok());
        for bad in [
            r#"{"thread_id":"t"}"#,
            r#"{"thread_id":"t","tool_call_id":7}"#,
            r#"{"thread_id":"t","tool_call_id":""}"#,
            r#"{"thread_id":"../t","tool_call_id":"c"}"#,
            "[]",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
