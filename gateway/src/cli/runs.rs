//! `caphost runs`

use std::io::{IsTerminal, stdout};

use clap::Args;
use console::style;
use serde_json::Value;

use super::api::Api;
use super::failure::{Exit, Failure};
use super::gateway_args::Access;
use super::terminal::{one_line, print, print_json, say, table};
use crate::wire::clipped;
use crate::wire::stops::{self, span};
use caphost::call::{LateEnd, Stop};

const EXAMPLES: &str = "\
Examples:
  caphost runs
  caphost runs --limit 0          only those in flight
  caphost runs --json | jq -r '.runs[] | select(.state == \"running\").runId'
  caphost runs --json | jq -r '.runs[] | [.runId, .callId] | @tsv'     with the id of each call

The brackets after a state say how far a cancelled run was seen to stop.";

/// Lists the calls the gateway has carried, newest first.
///
/// All calls in flight are listed. A token of role agent shows its own calls, one of role admin all.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Runs {
    /// Ended runs to list, at most.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    limit: u32,
    /// Prints the gateway's own answer: `{ runs, omitted, incomplete?, now, viewer }`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

impl Runs {
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        let mut url = self.access.http_url("api/runs");
        url.query_pairs_mut()
            .append_pair("limit", &self.limit.to_string());
        let answer = Api::new(&self.access).get(url).await?;
        let Some(runs) = answer["runs"].as_array() else {
            return Err(Failure::not_a_gateway(&self.access, "no list of runs"));
        };
        if self.json {
            print_json(&answer)?;
        } else if runs.is_empty() {
            print(&with_doubt("No runs.".into(), &answer))?;
        } else {
            if stdout().is_terminal() {
                let hint = "`caphost runs --json` shows more of each run, such as its callId";
                say(&style(hint).for_stderr().dim().to_string());
            }
            print(&shown(runs, &answer))?;
        }
        Ok(Exit::Done)
    }
}

fn shown(runs: &[Value], answer: &Value) -> String {
    let now = answer["now"].as_f64().unwrap_or(0.0);
    let head = ["RUN", "APP", "CAPABILITY", "BY", "AGE", "STATE"];
    let mut rows = vec![head.map(|it| style(it).bold().to_string()).to_vec()];
    rows.extend(runs.iter().map(|run| row(run, now)));
    let mut text = table(&rows);
    if let Some(omitted) = answer["omitted"].as_u64().filter(|it| *it > 0) {
        text.push_str(&format!("\n… and {omitted} more that have ended"));
    }
    with_doubt(text, answer)
}

/// Adds the reason why there may be more runs, if there is a reason.
fn with_doubt(text: String, answer: &Value) -> String {
    match answer["incomplete"].as_str() {
        Some(why) => format!("{text}\n{}", one_line(why)),
        None => text,
    }
}

fn row(run: &Value, now: f64) -> Vec<String> {
    let text = |field: &str| one_line(run[field].as_str().unwrap_or("-"));
    let since = |from: &str, to: f64| span(to - run[from].as_f64().unwrap_or(to));
    let name = run["state"].as_str().unwrap_or("unknown");
    let painted = style(one_line(name));
    let mut state = match name {
        "running" | "queued" => painted.cyan(),
        "cancelling" | "cancelled" => painted.yellow(),
        "completed" => painted.green(),
        _ => painted.red(),
    }
    .to_string();
    if let Some(ended) = run["endedAt"].as_f64() {
        state.push_str(&format!(" after {}", since("registeredAt", ended)));
    } else if let Some(percentage) = run["progress"]["percentage"].as_f64() {
        state.push_str(&format!(" {percentage:.0} %"));
    }
    if run["stop"].is_string() {
        let grade = stops::read(run);
        state.push_str(&seen(grade.stop, grade.late_end));
    }
    let lost = run["lost"].as_str().and_then(gone);
    if let Some(lost) = lost {
        state.push_str(&format!(": {lost}"));
    } else if let Some(error) = run["error"].as_str() {
        state.push_str(&format!(": {}", one_line(error)));
    } else if let Some(reason) = run["cancelReason"].as_str() {
        state.push_str(&format!(": \"{}\"", shortened(&one_line(reason))));
    }
    let by = match (run["agent"].as_str(), run["owner"].as_str()) {
        // No tokens are configured.
        (Some(agent), Some("anyone")) => one_line(agent),
        (Some(agent), _) => format!("{}, {}", one_line(agent), text("owner")),
        (None, _) => text("owner"),
    };
    vec![
        text("runId"),
        text("app"),
        text("capability"),
        format!("{by} ({})", text("dialect")),
        since("registeredAt", now),
        state,
    ]
}

/// How far the work of a run was seen to stop, and how the work ended later.
fn seen(stop: Stop, ended: Option<LateEnd>) -> String {
    let later = match (stop, ended) {
        (Stop::Abandoned, Some(LateEnd { success: true, .. })) => ", ended later, successfully",
        (Stop::Abandoned, Some(_)) => ", ended later, with an error",
        _ => "",
    };
    let stop = match (stop, ended) {
        (Stop::NeverStarted, _) => "never started",
        (Stop::Abandoned, None) => "abandoned: not seen to stop",
        _ => stop.as_str(),
    };
    format!(" ({stop}){later}")
}

/// How many characters of a reason a line shows.
const REASON: usize = 60;

fn shortened(reason: &str) -> String {
    let kept = clipped(reason, REASON);
    let more = if kept.len() < reason.len() { "…" } else { "" };
    format!("{kept}{more}")
}

/// Which side went away before the end of a run was known.
fn gone(lost: &str) -> Option<&'static str> {
    match lost {
        "agent" => Some("its agent left, and the app did not say how it ended"),
        "app" => Some("the app went away"),
        "gateway" => Some("the gateway stopped"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
