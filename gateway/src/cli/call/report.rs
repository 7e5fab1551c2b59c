//! How a call ended: for a person, or as one document for a script.

use std::io::{IsTerminal, stdout};
use std::time::{Duration, Instant};

use console::style;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::result::{self, abridged};
use super::{End, Exit, Failure, Output, Signals};
use crate::cli::terminal::{json, one_line, print, say};
use crate::gateway::{Confirmation, Outcome};
use crate::wire::stops::{self, Grade};
use caphost::call::{Code, Stop};

/// How long a file that is nearly written may take when an interrupt comes.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// More names than that are no help.
const MAX_LISTED: usize = 12;

/// What is known of the call beside its end.
pub(super) struct Report {
    pub call_id: String,
    pub timeout: Option<Duration>,
    /// How long the app may take to confirm a cancel.
    pub grace: Duration,
    /// When the call was made.
    pub made: Instant,
    pub output: Option<Output>,
    pub json: bool,
    /// Names of what the app offers.
    pub offered: Vec<String>,
}

impl Report {
    /// Tells the end, and what it means for the exit status.
    pub async fn tell(&self, end: End, signals: &mut Signals) -> Result<Exit, Failure> {
        let mut document = json!({ "callId": self.call_id, "success": false });
        let confirmation = match &end {
            End::Settled(_, confirmation) | End::Left(confirmation) => confirmation.clone(),
            End::NeverMade | End::Failed(_) => None,
        };
        if let Some(confirmation) = &confirmation {
            document["confirmation"] = self.confirmation(confirmation);
            if !confirmation.cancelled() {
                let has_completed = matches!(end, End::Settled(Outcome::Done { .. }, _));
                let said = self.not_cancelled(confirmation, has_completed);
                say(&style(said).for_stderr().yellow().to_string());
            }
        }
        let exit = match end {
            End::Settled(Outcome::Done { data, metadata }, _) => {
                document["success"] = true.into();
                if let Some(metadata) = metadata {
                    document["metadata"] = metadata;
                }
                let data = data.map(|data| data.value()).transpose();
                let data = data.map_err(|error| format!("the result cannot be read: {error}"))?;
                self.deliver(data.unwrap_or_default(), document, signals)
                    .await?;
                return Ok(Exit::Done);
            }
            End::Settled(Outcome::Cancelled { stop, by, .. }, confirmation) => {
                document["cancelled"] = true.into();
                document["metadata"] = stops::metadata(Grade { by, ..stop.into() });
                let ended = confirmation.as_ref().and_then(|it| it.ended);
                let grade = Grade { stop, by, ended };
                let who = self.who(confirmation.as_ref());
                self.say_cancelled(who + &stops::clause(grade));
                Exit::Cancelled
            }
            End::NeverMade => {
                document["cancelled"] = true.into();
                document["metadata"] = stops::metadata(Stop::NeverStarted.into());
                self.say_cancelled("Cancelled before the call was made".into());
                Exit::Cancelled
            }
            End::Settled(Outcome::Failed(error), _) => self.failed(error.into(), &mut document),
            End::Failed(failure) => self.failed(failure, &mut document),
            End::Left(_) => {
                let message = "left before the end of the call: its outcome is unknown";
                let hint = format!("`caphost runs` may tell; its callId is {}", self.call_id);
                let failure = Failure::new(Code::DISCONNECTED, message).hint(hint);
                self.failed(failure, &mut document)
            }
        };
        if self.json {
            finish(move || print(&json(&document)), signals).await?;
        }
        Ok(exit)
    }

    /// Prints or writes what the call returned.
    async fn deliver(
        &self,
        data: Value,
        document: Value,
        signals: &mut Signals,
    ) -> Result<(), String> {
        let (output, as_json) = (self.output.clone(), self.json);
        let delivering = move || match output {
            None => show(data, document, as_json),
            Some(output) => write(&output, data, document, as_json),
        };
        finish(delivering, signals).await
    }

    fn failed(&self, mut failure: Failure, document: &mut Value) -> Exit {
        let unknown = failure.code() == Code::UNKNOWN_CAPABILITY.as_str();
        if unknown && failure.alternatives().is_empty() {
            failure = if self.offered.is_empty() || self.offered.len() > MAX_LISTED {
                failure.hint("`caphost list` shows what the app offers")
            } else {
                failure.hint(format!("the app offers: {}", self.offered.join(", ")))
            };
        }
        document["error"] = failure.body().clone();
        say(&failure.explain("call"));
        Exit::Failed
    }

    /// What is known of a cancel that the app has not confirmed.
    fn not_cancelled(&self, confirmation: &Confirmation, has_completed: bool) -> String {
        let error = confirmation.error.as_ref();
        let is_late = error.is_some_and(|it| it.code == Code::TIMEOUT.as_str());
        match (is_late, has_completed) {
            (true, true) => "Not cancelled: Operation already completed".into(),
            (true, false) => format!(
                "Not confirmed within {:?}: the app was asked, and may still cancel it. \
                 caphost runs shows what becomes of it (callId {})",
                self.grace, self.call_id
            ),
            _ => {
                let reason = confirmation.reason.as_deref();
                let reason = reason.or(error.map(|it| &*it.message));
                format!(
                    "Not cancelled: {}",
                    one_line(reason.unwrap_or("no reason given"))
                )
            }
        }
    }

    fn say_cancelled(&self, what: String) {
        say(&style(what).for_stderr().yellow().to_string());
    }

    fn who(&self, confirmation: Option<&Confirmation>) -> String {
        let passed = self.timeout.filter(|it| self.made.elapsed() >= *it);
        match (confirmation, passed) {
            (Some(_), _) => "Cancelled, and confirmed by the app".into(),
            (None, Some(timeout)) => format!("Cancelled: its timeout of {timeout:?} has passed"),
            (None, None) => "Cancelled by the app, or by someone else through the gateway".into(),
        }
    }

    /// ABP's `CancelResponse`.
    fn confirmation(&self, confirmation: &Confirmation) -> Value {
        let mut response = json!({ "callId": self.call_id, "cancelled": confirmation.cancelled() });
        if let Some(reason) = &confirmation.reason {
            response["reason"] = reason.as_str().into();
        }
        if let Some(error) = &confirmation.error {
            response["error"] = error.body.clone();
        }
        if let Some(stop) = confirmation.stop {
            let (by, ended) = (confirmation.by, confirmation.ended);
            response["metadata"] = stops::metadata(Grade { stop, by, ended });
        }
        response
    }
}

/// Prints the data. Blocks.
fn show(data: Value, mut document: Value, as_json: bool) -> Result<(), String> {
    if as_json {
        document["data"] = data;
        return print(&json(&document));
    }
    let data = if stdout().is_terminal() {
        abridged(&data)
    } else {
        data
    };
    print(&json(&data))
}

/// Writes the data, and prints what was written. Blocks.
fn write(output: &Output, data: Value, mut document: Value, as_json: bool) -> Result<(), String> {
    match result::write(&data, output) {
        Ok(written) => {
            document["output"] = written.document(output);
            if let Some(rest) = &written.rest {
                document["data"] = rest.clone();
            }
            let line = written.line(output);
            match output {
                _ if as_json => print(&json(&document)),
                Output::StandardOutput => {
                    say(&line);
                    Ok(())
                }
                Output::File(_) => print(&line),
            }
        }
        Err(message) => {
            // The call has been made: what it returned must not be lost as well.
            document["output"] = json!({ "path": output.shown(), "error": message });
            show(data, document, as_json)?;
            Err(message)
        }
    }
}

/// Does what blocks, unless an interrupt comes: the reader of a pipe may never read.
async fn finish(
    work: impl FnOnce() -> Result<(), String> + Send + 'static,
    signals: &mut Signals,
) -> Result<(), String> {
    let mut work = spawn_blocking(work);
    let done = tokio::select! {
        done = &mut work => Some(done),
        () = signals.first() => timeout(LAST_BYTES, &mut work).await.ok(),
    };
    match done {
        Some(done) => done.unwrap_or_else(|error| Err(error.to_string())),
        None => Err("interrupted before the result was written".into()),
    }
}
