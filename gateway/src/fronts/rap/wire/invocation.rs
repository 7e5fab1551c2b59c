//! What a runtime says to tool servers: a tool is called, a call is cancelled, a thread is closed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::{http_url, or_default};
use crate::fronts::rap::names::Identifier;

/// `POST <endpoint>`: a tool is called. Answered 200 at once; the result goes to `callback_url`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Invocation {
    /// The tool's name.
    pub operation: String,
    /// Its parameters.
    #[serde(default, deserialize_with = "or_default")]
    pub arguments: Map<String, Value>,
    /// The tool call.
    pub id: Identifier,
    /// A second id, given by the model's provider: it is echoed and has no other meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Where the result goes. Its form has no meaning here.
    #[serde(with = "http_url")]
    pub callback_url: Url,
    /// The thread.
    pub group_id: Identifier,
    /// The threads above it, the root first.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub thread_ancestors: Vec<Identifier>,
    /// The person on whose behalf the tool is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// Where a tool server takes a [`CancelToolCall`], under its base URL.
pub const CANCEL_TOOL_CALL_PATH: &str = "/cancel_tool_call";
/// Where a tool server takes a [`CloseThread`], under its base URL.
pub const CLOSE_THREAD_PATH: &str = "/close_thread";

/// `POST {base}/cancel_tool_call`, best effort: never retried, its answer never read.
///
/// It goes to every tool server, so a server reads its ids as [`AnyServersId`].
///
/// [`AnyServersId`]: crate::fronts::rap::names::AnyServersId
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CancelToolCall<Id = Identifier> {
    /// See [`Invocation::group_id`].
    pub thread_id: Id,
    /// See [`Invocation::id`].
    pub tool_call_id: Id,
}

/// `POST {base}/close_thread`, best effort like [`CancelToolCall`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CloseThread<Id = Identifier> {
    /// See [`Invocation::group_id`].
    pub thread_id: Id,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fronts::rap::names::AnyServersId;

    #[test]
    fn an_invocation_as_a_runtime_writes_it() {
        let written = json!({
            "operation": "export_pdf", "arguments": { "title": "t" }, "id": "call_1", "call_id": null,
            "callback_url": "http://127.0.0.1:9/callback?x=1", "group_id": "thread", "thread_ancestors": null,
            "user_id": "u", "toolset_version": "7",
        });
        let read: Invocation = serde_json::from_value(written).unwrap();
        assert_eq!(
            (read.id.as_str(), read.group_id.as_str()),
            ("call_1", "thread")
        );
        assert_eq!(read.arguments["title"], "t");
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            json!({
                "operation": "export_pdf", "arguments": { "title": "t" }, "id": "call_1",
                "callback_url": "http://127.0.0.1:9/callback?x=1", "group_id": "thread", "user_id": "u",
            })
        );
        let least =
            r#"{"operation":"o","id":"i","group_id":"g","callback_url":"https://a.example"}"#;
        assert!(
            serde_json::from_str::<Invocation>(least)
                .unwrap()
                .arguments
                .is_empty()
        );
    }

    #[test]
    fn a_callback_url_is_absolute_and_http() {
        let read = |url: &str| {
            let written =
                json!({ "operation": "o", "id": "i", "group_id": "g", "callback_url": url });
            serde_json::from_value::<Invocation>(written)
        };
        assert!(
            read("http://127.0.0.1:1/c?token=a%20b").is_ok() && read("HTTPS://a.example").is_ok()
        );
        for bad in [
            "",
            "/callback",
            "a.example/c",
            "ftp://a.example",
            "file:///etc/passwd",
            "http://",
            "javascript:1",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

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
