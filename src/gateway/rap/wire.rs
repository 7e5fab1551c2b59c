//! The messages: toolset, invocation, callbacks, notifications.
//!
//! What is read ignores members it does not know, and takes `null` for a member that is missing.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::names::Identifier;

/// Where a toolset is found, under a tool server's base URL.
pub const TOOLSET_PATH: &str = "/.well-known/rap-toolset";
/// Where a tool server takes a [`CancelToolCall`], under its base URL.
pub const CANCEL_TOOL_CALL_PATH: &str = "/cancel_tool_call";
/// Where a tool server takes a [`CloseThread`], under its base URL.
pub const CLOSE_THREAD_PATH: &str = "/close_thread";
/// How the text of a failed call's result begins: there is no other sign of an error.
pub const ERROR_PREFIX: &str = "Error: ";

/// A tool server's manifest.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Toolset {
    /// 1 to 128 characters.
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where invocations go.
    #[serde(with = "http_url")]
    pub endpoint: Url,
    /// Whether the server wants to be asked before a session moves to another runtime.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub needs_migration: bool,
    /// What can be called.
    pub tools: Vec<Tool>,
}

/// One tool of a [`Toolset`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// See [`is_tool_name`](super::names::is_tool_name).
    pub name: String,
    /// For the model that chooses a tool.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// A JSON Schema of [`Invocation::arguments`].
    pub input_schema: Map<String, Value>,
    /// What a runtime may want to know before it calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// Hints about a [`Tool`]; absent means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It takes longer than a caller would wait with nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_running: Option<bool>,
}

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
    /// A second id, of the model's provider: echoed, and of no other meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Where the result goes; to be treated as opaque.
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
    /// The person on whose behalf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// `POST <callback_url>`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Callback {
    /// The end of an invocation; exactly one each.
    ToolResult(ToolResult),
    /// News of a subscription that an invocation has begun.
    SubscriptionEvent(SubscriptionEvent),
}

/// The result of an invocation: `text`, or `content`, which goes before `text` where both are there.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ToolResult {
    /// The thread.
    pub group_id: Identifier,
    /// The tool call.
    pub id: Identifier,
    /// [`Invocation::call_id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// An error begins with [`ERROR_PREFIX`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Several parts, or others than text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ContentItem>>,
    /// Whether the tool goes on, and sends events.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub subscription: bool,
}

/// One part of a [`ToolResult`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentItem {
    /// Text.
    Text {
        /// Plain.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        media_type: String,
    },
    /// A type that is not known here.
    #[serde(other, skip_serializing)]
    Unknown,
}

/// One event of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SubscriptionEvent {
    /// The thread.
    pub group_id: Identifier,
    /// The tool call that subscribed.
    pub tool_call_id: Identifier,
    /// What has happened.
    pub text: String,
    /// Whether the order of events is of no importance.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub associative: bool,
    /// Whether it is the last.
    #[serde(
        default,
        rename = "final",
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub is_final: bool,
}

/// `POST {base}/cancel_tool_call`, best effort: never retried, its answer never read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CancelToolCall {
    /// [`Invocation::group_id`].
    pub thread_id: Identifier,
    /// [`Invocation::id`].
    pub tool_call_id: Identifier,
}

/// `POST {base}/close_thread`, best effort like [`CancelToolCall`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CloseThread {
    /// [`Invocation::group_id`].
    pub thread_id: Identifier,
}

impl ToolResult {
    /// Whether it says that the call has failed.
    pub fn is_error(&self) -> bool {
        self.content.is_none()
            && self
                .text
                .as_deref()
                .is_some_and(|text| text.starts_with(ERROR_PREFIX))
    }
}

/// An absolute `http:` or `https:` URL.
mod http_url {
    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serializer, de};
    use url::Url;

    pub fn serialize<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(url.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        match Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
            Ok(_) => Err(de::Error::custom("expected an http or https URL")),
            Err(error) => Err(de::Error::custom(format_args!(
                "not an absolute URL: {error}"
            ))),
        }
    }
}

fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
    fn results_are_written_with_their_type() {
        let id = |text| Identifier::new(text).unwrap();
        let result = ToolResult {
            group_id: id("g"),
            id: id("i"),
            call_id: Some("c".into()),
            text: None,
            content: Some(vec![ContentItem::Image {
                data: "AA==".into(),
                media_type: "image/png".into(),
            }]),
            subscription: false,
        };
        let written = json!({
            "type": "tool_result", "group_id": "g", "id": "i", "call_id": "c",
            "content": [{ "type": "image", "data": "AA==", "mediaType": "image/png" }],
        });
        let callback = Callback::ToolResult(result);
        assert_eq!(serde_json::to_value(&callback).unwrap(), written);
        assert_eq!(
            serde_json::from_value::<Callback>(written).unwrap(),
            callback
        );
    }

    #[test]
    fn what_others_add_is_no_error() {
        let read = |value| serde_json::from_value::<Callback>(value);
        let result = read(json!({
            "type": "tool_result", "group_id": "g", "id": "i", "call_id": null, "display_as": [],
            "content": [{ "type": "audio", "data": "" }, { "type": "text", "text": "t" }], "subscription": true,
        }));
        let Ok(Callback::ToolResult(result)) = result else {
            panic!("{result:?}")
        };
        assert!(result.subscription && !result.is_error());
        assert_eq!(result.content.unwrap()[0], ContentItem::Unknown);
        let event = read(json!({
            "type": "subscription_event", "group_id": "g", "tool_call_id": "i", "text": "t", "final": true,
        }));
        let Ok(Callback::SubscriptionEvent(event)) = event else {
            panic!("{event:?}")
        };
        assert!(event.is_final && !event.associative);
        assert!(read(json!({ "type": "oauth", "group_id": "g", "id": "i" })).is_err());
    }

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

    #[test]
    fn a_toolset_as_published() {
        let toolset: Toolset = serde_json::from_value(json!({
            "name": "demo", "endpoint": "https://tool.example/invoke", "needsMigration": null,
            "tools": [{ "name": "a", "description": "d", "inputSchema": { "type": "object" },
                        "annotations": { "longRunning": true, "subscription": true } }],
        }))
        .unwrap();
        let annotations = toolset.tools[0].annotations.clone().unwrap();
        assert_eq!(
            annotations,
            Annotations {
                long_running: Some(true),
                ..Annotations::default()
            }
        );
        let written = serde_json::to_value(&toolset).unwrap();
        assert_eq!(
            written["tools"][0]["annotations"],
            json!({ "longRunning": true })
        );
        assert_eq!(written["endpoint"], "https://tool.example/invoke");
        assert!(written.get("needsMigration").is_none());
    }
}
