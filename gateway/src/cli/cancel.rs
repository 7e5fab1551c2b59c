//! `caphost cancel`

use clap::Args;
use console::style;
use serde_json::{Value, json};

use super::client::{Api, Exit, Failure};
use super::gateway_args::Access;
use super::terminal::{one_line, print, print_json};
use crate::wire::stops;
use caphost::call::Stop;

const EXAMPLES: &str = "\
Examples:
  caphost cancel 0b6f2f5e-6c0d-4a3b-9a2e-2f6f8d1c7a10
  caphost cancel 0b6f2f5e-6c0d-4a3b-9a2e-2f6f8d1c7a10 --reason 'wrong document'

Exit status: 0 when the app has confirmed that the run is cancelled, 1 when it is not. What is
printed says whether the work was seen to stop: where it was not, it may still go on.";

/// Cancels a run, whoever made the call, and prints the app's confirmation.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cancel {
    /// The run's id, as `caphost runs` lists it; or the caller's own id, if only one run has it.
    #[arg(value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    id: String,
    /// For logs and the app: why.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Prints the gateway's own answer: `{ runId, cancelled, reason?, error?, stop?, ended? }`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

impl Cancel {
    pub(super) async fn run(self) -> Exit {
        match self.cancel().await {
            Ok(exit) => exit,
            Err(failure) => {
                let several = failure.detail_list("runIds");
                let failure = several.iter().fold(failure, |it, id| it.hint(id.as_str()));
                failure.report("caphost cancel", self.json)
            }
        }
    }

    async fn cancel(&self) -> Result<Exit, Failure> {
        let mut url = self.access.http_url("api/runs");
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend([self.id.as_str(), "cancel"]);
        }
        let mut body = json!({});
        if let Some(reason) = &self.reason {
            body["reason"] = json!(reason);
        }
        let answer = Api::new(&self.access).post(url, &body).await?;
        let Some(cancelled) = answer["cancelled"].as_bool() else {
            return Err(Failure::no_gateway(&self.access, "no confirmation"));
        };
        let printed = if self.json {
            print_json(&answer)
        } else {
            print(&said(&answer, cancelled))
        };
        printed.map_err(Failure::unwritten)?;
        Ok(if cancelled { Exit::Done } else { Exit::Failed })
    }
}

fn said(answer: &Value, cancelled: bool) -> String {
    let run = one_line(answer["runId"].as_str().unwrap_or("the run"));
    if cancelled {
        let stop = Stop::of_peer(answer["stop"].as_str());
        let ended = stops::read_ended(answer["ended"].to_string().as_bytes());
        let said = style("Cancelled, and confirmed by the app");
        let said = match (stop, ended) {
            (Stop::Abandoned, None) => said.yellow(),
            _ => said.green(),
        };
        return format!("{said}: {run}{}", stops::clause(stop, ended));
    }
    let reason = answer["reason"].as_str();
    let reason = reason.or(answer["error"]["message"].as_str());
    let reason = one_line(reason.unwrap_or("no reason given"));
    format!("{}: {run}: {reason}", style("Not cancelled").red())
}
