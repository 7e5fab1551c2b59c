//! The messages: toolset, invocation, callbacks and notifications.
//!
//! Reading ignores unknown members, and treats `null` as a missing member.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::Url;

use super::names::Identifier;

/// The path of a toolset under a tool server's base URL.
pub const TOOLSET_PATH: &str = "/.well-known/rap-toolset";

/// A tool server's manifest.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Toolset {
    /// The name of the tool server: 1 to 128 characters.
    pub name: String,
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The URL for invocations.
    #[serde(deserialize_with = "http_url")]
    pub endpoint: Url,
    /// The tools that can be called.
    pub tools: Vec<Tool>,
}

/// One tool of a [`Toolset`].
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The tool's name. See [`is_tool_name`](crate::fronts::rap::names::is_tool_name).
    pub name: String,
    /// A description for the model that chooses a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A JSON Schema of [`Invocation::arguments`].
    pub input_schema: Map<String, Value>,
}

/// `POST <endpoint>` calls a tool. The answer is 200 at once, and the result goes to `callback_url`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Invocation {
    /// The tool's name.
    pub operation: String,
    /// The tool's parameters, an object. They may be large, and are passed on as they came.
    #[serde(default, deserialize_with = "object")]
    pub arguments: Option<Box<RawValue>>,
    /// The id of the tool call.
    pub id: Identifier,
    /// A second id, which the model's provider chooses. It is echoed and has no other meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The URL for the result. Its form has no meaning here.
    #[serde(deserialize_with = "http_url")]
    pub callback_url: Url,
    /// The id of the thread.
    pub group_id: Identifier,
    /// The ids of the thread's ancestors, the root first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_ancestors: Option<Vec<Identifier>>,
    /// The person on whose behalf the tool is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// An object as JSON, if there is one.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    let read = Option::<Box<RawValue>>::deserialize(deserializer)?;
    match &read {
        Some(text) if !text.get().starts_with('{') => {
            Err(de::Error::custom("`arguments` must be an object"))
        }
        _ => Ok(read),
    }
}

/// The path where a tool server accepts a [`CancelToolCall`], under its base URL.
pub const CANCEL_TOOL_CALL_PATH: &str = "/cancel_tool_call";
/// The path where a tool server accepts a [`CloseThread`], under its base URL.
pub const CLOSE_THREAD_PATH: &str = "/close_thread";

/// `POST {base}/cancel_tool_call`, best effort: it is never retried, and its answer is never read.
///
/// Every tool server gets it. So its ids usually belong to another server, and may be any strings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CancelToolCall {
    /// See [`Invocation::group_id`].
    pub thread_id: String,
    /// See [`Invocation::id`].
    pub tool_call_id: String,
}

/// `POST {base}/close_thread`, best effort like [`CancelToolCall`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CloseThread {
    /// See [`Invocation::group_id`].
    pub thread_id: String,
}

/// The beginning of a failed call's text. Nothing else marks an error.
pub const ERROR_PREFIX: &str = "Error: ";

/// `POST <callback_url>`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Callback {
    /// The end of an invocation. Each invocation has exactly one.
    #[serde(deserialize_with = "tool_result")]
    ToolResult(ToolResult),
    /// An event of a subscription that an invocation has begun.
    SubscriptionEvent(SubscriptionEvent),
}

/// The result of an invocation: `text` or `content`. If both are present, `content` counts.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ToolResult {
    /// The thread.
    pub group_id: Identifier,
    /// The tool call.
    pub id: Identifier,
    /// See [`Invocation::call_id`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The text. An error begins with [`ERROR_PREFIX`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The parts, if there are several or if they are not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ContentItem>>,
    /// Whether the tool goes on and sends events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription: Option<bool>,
}

/// A result that has `text` or `content`.
fn tool_result<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolResult, D::Error> {
    let result = ToolResult::deserialize(deserializer)?;
    match (&result.text, &result.content) {
        (None, None) => Err(de::Error::custom("`text` or `content` is missing")),
        _ => Ok(result),
    }
}

/// One part of a [`ToolResult`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[serde(expecting = "an item of `content` is not as its `type` says")]
pub enum ContentItem {
    /// Text.
    Text {
        /// The text.
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
    /// A part of unknown type, as it came.
    #[serde(untagged, deserialize_with = "other_item")]
    Other(Value),
}

fn other_item<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let item = Value::deserialize(deserializer)?;
    match item["type"].as_str() {
        None | Some("text" | "image") => Err(de::Error::custom("an item without its members")),
        Some(_) => Ok(item),
    }
}

/// One event of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SubscriptionEvent {
    /// The thread.
    pub group_id: Identifier,
    /// The tool call that subscribed.
    pub tool_call_id: Identifier,
    /// The text of the event.
    pub text: String,
    /// Whether the order of events does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub associative: Option<bool>,
    /// Whether the event is the last.
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    pub is_final: Option<bool>,
}

/// An absolute `http:` or `https:` URL.
fn http_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    let url = Url::deserialize(deserializer)?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(de::Error::custom("expected an http or https URL")),
    }
}
