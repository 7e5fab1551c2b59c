//! `caphost list`

use std::time::Duration;

use clap::Args;
use console::style;
use serde_json::{Map, Value, json};

use super::api::Api;
use super::connection::Connection;
use super::failure::{Exit, Failure};
use super::gateway_args::GatewayArgs;
use super::terminal::{one_line, print, print_json, table};
use crate::options::duration;

/// The agent makes no call, so there is little to wait for.
const GRACE: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  caphost list
  caphost list --app caphost-demo
  caphost list --json | jq '.capabilities[] | select(.name == \"export.pdf\").inputSchema'";

/// Lists what an app offers: the names and descriptions of its capabilities.
///
/// Opens a session with the app, so what is listed can be called.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct List {
    /// Prints `{ app, capabilities }`, with the schemas of parameters and results.
    #[arg(long)]
    json: bool,
    /// How long connecting to the gateway and to the app's page may take in all.
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    timeout: Duration,
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl List {
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        let (app, capabilities) = offered(&self.gateway, self.timeout).await?;
        if self.json {
            print_json(&json!({ "app": app, "capabilities": capabilities }))?;
        } else {
            print(&shown(&app, &capabilities))?;
        }
        Ok(Exit::Done)
    }
}

/// The app, and its capabilities with their descriptions. Connecting may take `timeout`.
///
/// The session contains only names. Descriptions and schemas are in the manifest.
pub(super) async fn offered(
    gateway: &GatewayArgs,
    timeout: Duration,
) -> Result<(Value, Vec<Value>), Failure> {
    let connection = Connection::open(gateway, GRACE, timeout).await?;
    let app = connection.session()["app"].clone();
    let offered = connection.session()["capabilities"].clone();
    let mut url = gateway.access.http_url("abp.json");
    // If an instance is named, the manifest is that instance's.
    if let Some(id) = gateway.app.as_deref().or(app["id"].as_str()) {
        url.query_pairs_mut().append_pair("app", id);
    }
    let manifest = Api::new(&gateway.access).get(url).await;
    connection.close().await;
    let capabilities = described(&offered, &manifest?);
    Ok((app, capabilities))
}

/// The capabilities of the session, with their descriptions from the manifest.
fn described(offered: &Value, manifest: &Value) -> Vec<Value> {
    let describe = |offer: &Value| {
        let of_same_name = |it: &&Value| it["name"] == offer["name"];
        let known = manifest["capabilities"].as_array();
        let known = known.and_then(|known| known.iter().find(of_same_name));
        let mut fields = Map::new();
        for source in [known, Some(offer)].into_iter().flatten() {
            fields.extend(source.as_object().cloned().unwrap_or_default());
        }
        Value::Object(fields)
    };
    let offered = offered.as_array().into_iter().flatten();
    offered.map(describe).collect()
}

fn shown(app: &Value, capabilities: &[Value]) -> String {
    let text = |field: &str| one_line(app[field].as_str().unwrap_or_default());
    let mut head = format!("{} {}", style(text("name")).bold(), text("version"));
    head.push_str(&style(format!(" ({})", text("id"))).dim().to_string());
    if capabilities.is_empty() {
        return format!("{head}\nIt offers nothing.");
    }
    let rows: Vec<_> = capabilities.iter().map(row).collect();
    format!("{head}\n\n{}", table(&rows))
}

fn row(capability: &Value) -> Vec<String> {
    let text = |field: &str| one_line(capability[field].as_str().unwrap_or_default());
    let said = [text("title"), text("description")];
    let said: Vec<_> = said.into_iter().filter(|it| !it.is_empty()).collect();
    let mut description = said.join(": ");
    let hints = &capability["annotations"];
    let only_reads = hints["readOnlyHint"] == true;
    for (said, note) in [
        (only_reads, "only reads"),
        (
            hints["destructiveHint"] == true && !only_reads,
            "may delete or overwrite",
        ),
        (capability["available"] == false, "unavailable now"),
        (capability["deprecated"] == true, "deprecated"),
        (capability["experimental"] == true, "experimental"),
    ] {
        if said {
            description.push_str(&format!(" ({note})"));
        }
    }
    let name = style(text("name")).cyan().to_string();
    vec![name, description.trim_start().to_string()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_says_what_there_is_and_the_manifest_what_it_does() {
        let offered =
            json!([{ "name": "a", "available": false }, { "name": "b", "available": true }]);
        let manifest = json!({ "capabilities": [
            { "name": "a", "description": "does\n\u{1b}a", "inputSchema": { "type": "object" } },
            { "name": "b", "title": "Bee", "annotations": { "destructiveHint": true } },
            { "name": "gone", "description": "not offered" },
        ] });
        let listed = described(&offered, &manifest);
        assert_eq!(
            json!(listed),
            json!([
                { "name": "a", "available": false, "description": "does\n\u{1b}a", "inputSchema": { "type": "object" } },
                { "name": "b", "title": "Bee", "annotations": { "destructiveHint": true }, "available": true },
            ])
        );
        let app = json!({ "id": "demo", "name": "Demo", "version": "1" });
        let text = shown(&app, &listed);
        let text = console::strip_ansi_codes(&text);
        assert_eq!(
            text,
            "Demo 1 (demo)\n\na  does \u{fffd}a (unavailable now)\nb  Bee (may delete or overwrite)"
        );
        assert!(shown(&app, &[]).ends_with("It offers nothing."));
    }
}
