//! What a runtime says to every tool server, whoever it may concern.

use serde::{Deserialize, Serialize};

use crate::fronts::rap::names::Identifier;

/// Where a tool server takes a [`CancelToolCall`], under its base URL.
pub const CANCEL_TOOL_CALL_PATH: &str = "/cancel_tool_call";
/// Where a tool server takes a [`CloseThread`], under its base URL.
pub const CLOSE_THREAD_PATH: &str = "/close_thread";

/// `POST {base}/cancel_tool_call`, best effort: never retried, its answer never read.
///
/// It goes to every tool server: whoever takes one reads its ids as an [`AnyServersId`].
///
/// [`AnyServersId`]: crate::fronts::rap::names::AnyServersId
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CancelToolCall<Id = Identifier> {
    /// [`Invocation::group_id`](super::Invocation::group_id).
    pub thread_id: Id,
    /// [`Invocation::id`](super::Invocation::id).
    pub tool_call_id: Id,
}

/// `POST {base}/close_thread`, best effort like [`CancelToolCall`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CloseThread<Id = Identifier> {
    /// [`Invocation::group_id`](super::Invocation::group_id).
    pub thread_id: Id,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fronts::rap::names::AnyServersId;

    #[test]
    fn notifications_need_their_ids() {
        let read = |text: &str| serde_json::from_str::<CancelToolCall<AnyServersId>>(text);
        assert!(read(r#"{"thread_id":"t","tool_call_id":"c","more":1}"#).is_ok());
        assert!(read(r#"{"thread_id":"../t","tool_call_id":""}"#).is_ok());
        for bad in [
            r#"{"thread_id":"t"}"#,
            r#"{"thread_id":"t","tool_call_id":7}"#,
            r#"{"thread_id":null,"tool_call_id":"c"}"#,
            "[]",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
