//! The offer of a tool server: checking it again and again, and turning it into an app's capabilities.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use super::client::ToolServerClient;
use crate::fronts::rap::egress::Egress;
use crate::fronts::rap::names::is_tool_name;
use crate::fronts::rap::wire::{Tool, Toolset};
use crate::pauses::Pauses;
use crate::wire::{abp, clipped, mended_bytes};

/// The shortest time between two checks, even if somebody asks for a check.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// How many characters of an error in a toolset are logged.
const SHOWN_CHARS: usize = 300;

/// How many characters a toolset's name may have.
const MAX_NAME_CHARS: usize = 128;

/// The known toolset of a tool server, if there is a valid one.
pub(super) type Known = Option<Arc<Toolset>>;

/// Keeps `known` up to date until nobody reads it any more. A server that fails keeps its toolset for
/// [`gone_after`](super::RuntimeLimits::gone_after). `look` requests an early check.
pub(super) async fn discover(
    client: Arc<ToolServerClient>,
    look: Arc<Notify>,
    known: watch::Sender<Known>,
) {
    let limits = &client.limits;
    let mut pauses = Pauses::new(limits.first_pause, limits.longest_pause);
    let mut failing: Option<Instant> = None;
    loop {
        let text = tokio::select! {
            text = client.toolset() => text,
            () = known.closed() => return,
        };
        let pause = match text.and_then(|text| read(&text, &client.clients.egress)) {
            Ok(toolset) => {
                if failing.take().is_some() {
                    tracing::info!(server = ?client.server, "tool server is back");
                }
                pauses.reset();
                if known.borrow().as_deref() != Some(&toolset) {
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

/// Reads the toolset of a tool server. `egress` must allow its endpoint. As RAP demands, one invalid tool
/// makes the whole toolset invalid.
fn read(text: &[u8], egress: &Egress) -> Result<Toolset, String> {
    let toolset: Toolset = serde_json::from_slice(&mended_bytes(text)).map_err(|error| {
        // The error may quote the text.
        format!(
            "not a toolset: {}",
            clipped(&error.to_string(), SHOWN_CHARS)
        )
    })?;
    let length = toolset.name.chars().count();
    if !(1..=MAX_NAME_CHARS).contains(&length) {
        return Err(format!("a name of {length} characters"));
    }
    if toolset.endpoint.host_str().is_none_or(str::is_empty) {
        return Err("an endpoint without a host".into());
    }
    if !egress.admits(&toolset.endpoint) {
        let endpoint = clipped(toolset.endpoint.as_str(), SHOWN_CHARS);
        return Err(format!("an endpoint at an internal address: {endpoint}"));
    }
    if toolset.tools.is_empty() {
        return Err("no tools".into());
    }
    let mut names = BTreeSet::new();
    for Tool { name, .. } in &toolset.tools {
        if !is_tool_name(name) {
            let name = clipped(name, SHOWN_CHARS);
            return Err(format!("a bad tool name: {name:?}"));
        }
        if !names.insert(name) {
            return Err(format!("two tools {name:?}"));
        }
    }
    Ok(toolset)
}

/// An app id made of a toolset's name. Any character except letters, digits and `._-` becomes `-`. If the id
/// `is_taken`, a number is added: `tools-2`, `tools-3`, …
pub(super) fn app_id(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let plain = |letter: char| {
        let kept = letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        if kept { letter } else { '-' }
    };
    // This leaves room for the number within the length of an app id.
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
        let schema = Value::Object(tool.input_schema.clone());
        let document = abp::capability(&tool.name, tool.description.as_deref(), Some(schema), None);
        (tool.name.clone(), document)
    };
    toolset.tools.iter().map(document).collect()
}

#[cfg(test)]
mod tests;
