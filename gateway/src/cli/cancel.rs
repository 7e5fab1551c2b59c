//! `caphost cancel`

use std::time::{Duration, Instant};

use clap::Args;
use console::style;
use serde_json::{Value, json};

use super::api::Api;
use super::failure::{Exit, Failure};
use super::gateway_args::Access;
use super::terminal::{one_line, print, print_json};
use crate::wire::stops::{self, span};
use caphost::call::{Code, Stop};

const EXAMPLES: &str = "\
Examples:
  caphost cancel 0b6f2f5e-6c0d-4a3b-9a2e-2f6f8d1c7a10
  caphost cancel 0b6f2f5e-6c0d-4a3b-9a2e-2f6f8d1c7a10 --reason 'wrong document'

Exit status: 0 when the app has confirmed that the run is cancelled, 1 when it is not, or when
the app has not answered in time. The output says whether the work was seen to stop. If it was
not, it may still go on.";

/// Cancels a run, and prints the app's confirmation. A token of role `admin` may cancel any run, one
/// of role `agent` its own.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cancel {
    /// The run's id, as `caphost runs` lists it. Or the id its caller gave it: that names the run in flight with this id, or else the last that ended.
    #[arg(value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    id: String,
    /// The reason, for the app. The list of runs keeps it and shows it; the log does not have it.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Prints the gateway's own answer: `{ runId, cancelled, reason?, error?, stop?, step?, took?, ended? }`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

impl Cancel {
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        let mut url = self.access.http_url("api/runs");
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend([self.id.as_str(), "cancel"]);
        }
        let mut body = json!({});
        if let Some(reason) = &self.reason {
            body["reason"] = json!(reason);
        }
        let asked = Instant::now();
        let answer = Api::new(&self.access).post(url, &body).await;
        let waited = asked.elapsed();
        let answer = answer.map_err(|mut failure| {
            if failure.code() == Code::INVALID_PARAMS.as_str() {
                failure = failure.hint("`caphost runs` lists the runs that the gateway knows");
            }
            let several = failure.detail_list("runIds");
            several.into_iter().fold(failure, Failure::hint)
        })?;
        let Some(cancelled) = answer["cancelled"].as_bool() else {
            return Err(Failure::not_a_gateway(&self.access, "no confirmation"));
        };
        if self.json {
            print_json(&answer)?;
        } else {
            print(&said(&answer, cancelled, waited))?;
        }
        Ok(if cancelled { Exit::Done } else { Exit::Failed })
    }
}

fn said(answer: &Value, cancelled: bool, waited: Duration) -> String {
    let run = one_line(answer["runId"].as_str().unwrap_or("the run"));
    if cancelled {
        let grade = stops::read(answer);
        let said = style("Cancelled, and confirmed by the app");
        let said = match (grade.stop, grade.late_end) {
            (Stop::Abandoned, None) => said.yellow(),
            _ => said.green(),
        };
        return format!("{said}: {run}{}", stops::clause(grade));
    }
    // An error that is not retryable means that nobody was asked: the run had ended before.
    let error = &answer["error"];
    if error["code"] == Code::TIMEOUT.as_str() && error["retryable"] != false {
        let within = span(waited.as_secs_f64() * 1_000.0);
        let said = style(format!("Not confirmed within {within}")).yellow();
        return format!(
            "{said}: {run}: the app was asked, and may still cancel it. caphost runs shows what becomes of it"
        );
    }
    let reason = answer["reason"].as_str();
    let reason = reason.or(answer["error"]["message"].as_str());
    let reason = one_line(reason.unwrap_or("no reason given"));
    format!("{}: {run}: {reason}", style("Not cancelled").red())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_that_may_still_take_effect_is_not_said_to_have_failed() {
        let said = |answer: Value| {
            let said = said(&answer, false, Duration::from_millis(5_004));
            console::strip_ansi_codes(&said).into_owned()
        };
        let late = json!({ "runId": "r", "reason": "No confirmation from the app", "error": { "code": "TIMEOUT", "retryable": true } });
        assert_eq!(
            said(late),
            "Not confirmed within 5.0 s: r: the app was asked, and may still cancel it. caphost runs shows what becomes of it"
        );
        let over = json!({ "runId": "r", "reason": "Operation already completed" });
        assert_eq!(said(over), "Not cancelled: r: Operation already completed");
        let unknown = json!({ "runId": "r", "reason": "Its outcome is not known", "error": { "code": "TIMEOUT", "retryable": false } });
        assert_eq!(said(unknown), "Not cancelled: r: Its outcome is not known");
    }
}
