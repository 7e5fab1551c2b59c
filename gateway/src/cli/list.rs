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
/// Opens a session with the app, so what is listed can be called. Of several apps, lists the manifest of each.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct List {
    /// Prints `{ app, capabilities }`, with the schemas of parameters and results. Of several apps, `{ apps }` with one such object for each.
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
        let (app, capabilities) = match offered(&self.gateway, self.timeout).await {
            Err(failure) if self.gateway.app.is_none() && names_several(&failure) => {
                return self.all().await;
            }
            offered => offered?,
        };
        if self.json {
            print_json(&json!({ "app": app, "capabilities": capabilities }))?;
        } else {
            print(&shown(&app, &capabilities))?;
        }
        Ok(Exit::Done)
    }
}

impl List {
    /// Lists what each of several apps offers, as its manifest says. That opens no sessions.
    async fn all(self) -> Result<Exit, Failure> {
        let access = &self.gateway.access;
        let api = Api::new(access);
        let connected = api.get(access.http_url("api/apps")).await?;
        let apps = connected["apps"].as_array().into_iter().flatten();
        let (mut texts, mut documents) = (Vec::new(), Vec::new());
        for id in apps.filter_map(|app| app["id"].as_str()) {
            let mut url = access.http_url("abp.json");
            url.query_pairs_mut().append_pair("app", id);
            let mut manifest = match api.get(url).await {
                Ok(manifest) => manifest,
                // The app has left meanwhile.
                Err(failure) if failure.code() == "DISCONNECTED" => continue,
                Err(failure) => return Err(failure),
            };
            let (app, capabilities) = (manifest["app"].take(), manifest["capabilities"].take());
            let capabilities = capabilities.as_array().cloned().unwrap_or_default();
            texts.push(shown(&app, &capabilities));
            documents.push(json!({ "app": app, "capabilities": capabilities }));
        }
        match self.json {
            true => print_json(&json!({ "apps": documents }))?,
            false => print(&texts.join("\n\n"))?,
        }
        Ok(Exit::Done)
    }
}

/// Whether the gateway could not choose among several apps.
fn names_several(failure: &Failure) -> bool {
    failure.code() == "INVALID_PARAMS" && !failure.detail_list("apps").is_empty()
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
        (capability["confirm"].is_string(), "a person must allow it"),
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
            { "name": "b", "title": "Bee", "annotations": { "destructiveHint": true }, "confirm": "always" },
            { "name": "gone", "description": "not offered" },
        ] });
        let listed = described(&offered, &manifest);
        assert_eq!(
            json!(listed),
            json!([
                { "name": "a", "available": false, "description": "does\n\u{1b}a", "inputSchema": { "type": "object" } },
                { "name": "b", "title": "Bee", "annotations": { "destructiveHint": true }, "confirm": "always", "available": true },
            ])
        );
        let app = json!({ "id": "demo", "name": "Demo", "version": "1" });
        let text = shown(&app, &listed);
        let text = console::strip_ansi_codes(&text);
        assert_eq!(
            text,
            "Demo 1 (demo)\n\na  does \u{fffd}a (unavailable now)\nb  Bee (may delete or overwrite) (a person must allow it)"
        );
        assert!(shown(&app, &[]).ends_with("It offers nothing."));
    }
}
