//! The messages: toolset, invocation, callbacks, notifications.
//!
//! What is read ignores members it does not know, and takes `null` for a member that is missing.

mod callback;
mod invocation;
mod toolset;

use serde::{Deserialize, Deserializer};

pub use callback::{Callback, ContentItem, ERROR_PREFIX, SubscriptionEvent, ToolResult};
pub use invocation::{
    CANCEL_TOOL_CALL_PATH, CLOSE_THREAD_PATH, CancelToolCall, CloseThread, Invocation,
};
pub use toolset::{Annotations, TOOLSET_PATH, Tool, Toolset};

/// An absolute `http:` or `https:` URL.
mod http_url {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use url::Url;

    pub fn serialize<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(url.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
        let text = String::deserialize(deserializer)?;
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
