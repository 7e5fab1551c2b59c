//! `caphost apps`

use clap::Args;
use console::style;
use serde_json::Value;

use super::api::Api;
use super::failure::{Exit, Failure};
use super::gateway_args::Access;
use super::terminal::{one_line, print, print_json, table};
use crate::wire::stops::span;

const EXAMPLES: &str = "\
Examples:
  caphost apps
  caphost call export.pdf --app 'caphost-demo#1f0c9a3e'   that tab, not the newest
  caphost apps --json | jq -r '.apps[].instances[].app'";

/// Lists the connected apps, and the tabs or processes each one runs in.
///
/// Use APP with --app for the newest tab, or TAB for that one. TITLE is the page's title, or the app's
/// name.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Apps {
    /// Prints the gateway's own answer: `{ apps, now }`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

impl Apps {
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        let url = self.access.http_url("api/apps");
        let answer = Api::new(&self.access).get(url).await?;
        let Some(apps) = answer["apps"].as_array() else {
            return Err(Failure::not_a_gateway(&self.access, "no list of apps"));
        };
        if self.json {
            print_json(&answer)?;
        } else if apps.is_empty() {
            print("No app is connected.")?;
        } else {
            print(&shown(apps, &answer))?;
        }
        Ok(Exit::Done)
    }
}

fn shown(apps: &[Value], answer: &Value) -> String {
    let now = answer["now"].as_f64().unwrap_or(0.0);
    let head = ["APP", "TAB", "TITLE", "AGE", "AGENTS", "NEW SESSIONS"];
    let mut rows = vec![head.map(|it| style(it).bold().to_string()).to_vec()];
    for app in apps {
        let instances = app["instances"].as_array().into_iter().flatten();
        rows.extend(instances.map(|instance| row(app, instance, now)));
    }
    table(&rows)
}

fn row(app: &Value, instance: &Value, now: f64) -> Vec<String> {
    let text = |of: &Value, field: &str| one_line(of[field].as_str().unwrap_or("-"));
    let since = instance["since"].as_f64().unwrap_or(now);
    let state = match (&instance["suspended"], &instance["latest"]) {
        (Value::Bool(true), _) => style("lost its connection").yellow(),
        (_, Value::Bool(true)) => style("here").green(),
        _ => style("-").dim(),
    };
    let title = match &instance["title"] {
        Value::String(_) => text(instance, "title"),
        _ => text(app, "name"),
    };
    vec![
        text(app, "id"),
        style(text(instance, "app")).cyan().to_string(),
        title,
        span(now - since),
        instance["agents"].as_u64().unwrap_or(0).to_string(),
        state.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_tab_has_a_line() {
        let instance = |id: &str, title: Value, latest: bool| json!({ "app": format!("demo#{id}"), "title": title, "since": 1_000, "agents": 2, "latest": latest, "suspended": false });
        let mut lost = instance("c", json!("C"), false);
        lost["suspended"] = true.into();
        let instances = [
            instance("a", json!("A\u{1b}[2J"), true),
            instance("b", json!(null), false),
            lost,
        ];
        let apps = [json!({ "id": "demo", "name": "Demo", "instances": instances })];
        let text = shown(&apps, &json!({ "now": 4_000 }));
        let text = console::strip_ansi_codes(&text);
        let lines: Vec<Vec<_>> = text
            .lines()
            .map(|line| {
                line.split("  ")
                    .map(str::trim)
                    .filter(|it| !it.is_empty())
                    .collect()
            })
            .collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(
            lines[1],
            ["demo", "demo#a", "A\u{fffd}[2J", "3.0 s", "2", "here"]
        );
        assert_eq!(lines[2], ["demo", "demo#b", "Demo", "3.0 s", "2", "-"]);
        assert_eq!(lines[3][5], "lost its connection");
    }
}
