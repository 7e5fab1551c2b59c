//! What a tool server offers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::{http_url, is_false, or_default};

/// Where a toolset is found, under a tool server's base URL.
pub const TOOLSET_PATH: &str = "/.well-known/rap-toolset";

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
    /// See [`is_tool_name`](crate::fronts::rap::names::is_tool_name).
    pub name: String,
    /// For the model that chooses a tool.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// A JSON Schema of [`Invocation::arguments`](super::Invocation::arguments).
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
