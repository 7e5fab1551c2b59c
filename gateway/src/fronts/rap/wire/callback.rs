//! What a tool says to the runtime.

use serde::{Deserialize, Serialize};

use super::{is_false, or_default};
use crate::fronts::rap::names::Identifier;

/// How the text of a failed call's result begins: there is no other sign of an error.
pub const ERROR_PREFIX: &str = "Error: ";

/// `POST <callback_url>`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Callback {
    /// The end of an invocation; exactly one each.
    ToolResult(ToolResult),
    /// News of a subscription that an invocation has begun.
    SubscriptionEvent(SubscriptionEvent),
}

/// The result of an invocation: `text` or `content`. Where both are there, `content` counts.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ToolResult {
    /// The thread.
    pub group_id: Identifier,
    /// The tool call.
    pub id: Identifier,
    /// See [`Invocation::call_id`](super::Invocation::call_id).
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
