//! What a tool server offers: looking for it again and again, and as an app's capabilities.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use super::client::ToolServerClient;
use super::options::RuntimeLimits;
use crate::fronts::rap::names::is_tool_name;
use crate::fronts::rap::pauses::Pauses;
use crate::fronts::rap::wire::{Tool, Toolset};
use crate::wire::mended_bytes;

/// The least time between two looks, however often somebody asks for one.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// Characters of a toolset's name.
const MAX_NAME_CHARS: usize = 128;

/// What is known of a tool server: its toolset, while there is a valid one.
pub(super) type Known = Option<Arc<Toolset>>;

/// Keeps `known` up to date until nobody reads it any more. A server that fails keeps its toolset
/// for [`RuntimeLimits::gone_after`]. `look` asks for a look ahead of time.
pub(super) async fn discover(
    client: Arc<ToolServerClient>,
    limits: Arc<RuntimeLimits>,
    look: Arc<Notify>,
    known: watch::Sender<Known>,
) {
    let mut pauses = Pauses::new(limits.first_pause, limits.longest_pause);
    let mut text = Vec::new();
    let mut failing: Option<Instant> = None;
    loop {
        let found = tokio::select! {
            found = client.toolset() => found,
            () = known.closed() => return,
        };
        let pause = match found {
            Ok((read, toolset)) => {
                if failing.take().is_some() {
                    tracing::info!(server = ?client.server, "tool server is back");
                }
                pauses.reset();
                if read != text || known.borrow().is_none() {
                    text = read;
                    known.send_replace(Some(Arc::new(toolset)));
                }
                limits.refresh_interval
            }
            Err(error) => {
                if failing.is_none() {
                    tracing::warn!(server = ?client.server, error, "no toolset");
                }
                let since = *failing.get_or_insert_with(Instant::now);
                if since.elapsed() >= limits.gone_after {
                    known.send_if_modified(|known| known.take().is_some());
                }
                pauses.next()
            }
        };
        let asked = async {
            look.notified().await;
            sleep(LEAST_PAUSE.min(pause)).await;
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = asked => {}
            () = known.closed() => return,
        }
    }
}

/// Reads a toolset. One bad tool makes all of it unusable, as RAP demands.
pub(super) fn read(text: &[u8]) -> Result<Toolset, String> {
    let toolset: Toolset = serde_json::from_slice(&mended_bytes(text))
        .map_err(|error| format!("not a toolset: {error}"))?;
    let length = toolset.name.chars().count();
    if !(1..=MAX_NAME_CHARS).contains(&length) {
        return Err(format!("a name of {length} characters"));
    }
    if toolset.endpoint.host_str().is_none_or(str::is_empty) {
        return Err("an endpoint without a host".into());
    }
    if toolset.tools.is_empty() {
        return Err("no tools".into());
    }
    let mut names = BTreeSet::new();
    for Tool { name, .. } in &toolset.tools {
        if !is_tool_name(name) {
            return Err(format!("a bad tool name: {name:?}"));
        }
        if !names.insert(name) {
            return Err(format!("two tools {name:?}"));
        }
    }
    Ok(toolset)
}

/// An app id made of a toolset's name: what is not a letter, a digit or one of `._-` becomes `-`.
/// Where `is_taken`, a number follows: `tools-2`, `tools-3`, …
pub(super) fn app_id(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let plain = |letter: char| {
        let kept = letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        if kept { letter } else { '-' }
    };
    // Room for the number within the 128 characters of an app id.
    let plain: String = name.chars().take(100).map(plain).collect();
    let numbered = (2_u64..).map(|number| format!("{plain}-{number}"));
    std::iter::once(plain.clone())
        .chain(numbered)
        .find(|id| !is_taken(id))
        .unwrap_or(plain)
}

/// The `Capability` documents, by name.
pub(super) fn capabilities(toolset: &Toolset) -> BTreeMap<String, Value> {
    let document = |tool: &Tool| {
        let document = json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": {},
            "available": true,
            "requirements": [],
            "features": {},
        });
        (tool.name.clone(), document)
    };
    toolset.tools.iter().map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolset(change: impl FnOnce(&mut Value)) -> Result<Toolset, String> {
        let mut value = json!({
            "name": "demo tools", "endpoint": "http://127.0.0.1:1/invoke",
            "tools": [
                { "name": "b", "description": "B", "inputSchema": { "type": "object" } },
                { "name": "a-1_Z", "description": "A", "inputSchema": {} },
            ],
        });
        change(&mut value);
        read(value.to_string().as_bytes())
    }

    #[test]
    fn a_toolset_becomes_capabilities() {
        let toolset = toolset(|_| {}).unwrap();
        let found = capabilities(&toolset);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["a-1_Z", "b"]);
        assert_eq!(found["b"]["inputSchema"], json!({ "type": "object" }));
        assert_eq!(found["b"]["available"], true);
    }

    #[test]
    fn one_bad_part_makes_all_of_it_bad() {
        type Change = fn(&mut Value);
        let changes: [Change; 9] = [
            |it| it["name"] = "".into(),
            |it| it["name"] = "x".repeat(129).into(),
            |it| it["endpoint"] = "/invoke".into(),
            |it| it["endpoint"] = "ftp://a/invoke".into(),
            |it| it["tools"] = json!([]),
            |it| it["tools"][1]["name"] = "b".into(),
            |it| it["tools"][1]["name"] = "a b".into(),
            |it| it["tools"][1]["inputSchema"] = "none".into(),
            |it| *it = json!([]),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            assert!(toolset(change).is_err(), "{index}");
        }
        assert!(read(b"<html>").is_err());
    }

    #[test]
    fn an_app_id_is_plain_and_unique() {
        assert_eq!(app_id("demo tools/é", |_| false), "demo-tools--");
        let taken = ["a", "a-2"];
        assert_eq!(app_id("a", |id| taken.contains(&id)), "a-3");
        assert_eq!(app_id(&"x".repeat(128), |_| false).len(), 100);
    }
}
