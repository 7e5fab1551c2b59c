//! Reports how a call ended: to a person, or as one document to a script.

use std::io::{IsTerminal, stdout};
use std::time::Instant;

use console::style;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::download::{Downloaded, address, download};
use super::output::LAST_BYTES;
use super::result::{Contents, abridged};
use super::{Call, End, Exit, Failure, Output, Signals};
use crate::cli::terminal::{json, one_line, print, say};
use crate::wire::stops::{self, ALREADY_COMPLETED, Grade};
use caphost::call::{CallId, Code, Stop};

/// How many names are listed at most. More names do not help.
const MAX_LISTED: usize = 12;

/// What is known of the call besides its end.
pub(super) struct Report<'a> {
    pub options: &'a Call,
    pub call_id: CallId,
    /// When the call was made.
    pub made: Instant,
    /// The names of the app's capabilities.
    pub offered: Vec<String>,
}

impl Report<'_> {
    /// Reports the end. Returns the exit status.
    pub async fn tell(&self, end: End, signals: &mut Signals) -> Result<Exit, Failure> {
        let mut document = json!({ "callId": self.call_id.as_str(), "success": false });
        if let End::Settled(_, Some(confirmation)) | End::Failed(_, Some(confirmation)) = &end {
            document["confirmation"] = confirmation.clone();
            if confirmation["cancelled"] == false {
                let has_completed =
                    matches!(&end, End::Settled(response, _) if response["success"] == true);
                warn(self.not_cancelled(confirmation, has_completed));
            }
        }
        let exit = match end {
            End::Settled(mut response, _) if response["success"] == true => {
                document["success"] = true.into();
                if let Some(metadata) = response.get("metadata") {
                    document["metadata"] = metadata.clone();
                }
                let data = response["data"].take();
                let (output, as_json) = (self.options.output.clone(), self.options.json);
                let access = &self.options.gateway.access;
                if let (Some(output), Some(url)) = (&output, address(&data, access)) {
                    let downloaded = download(access, url, output, data.clone(), signals).await;
                    let output = output.clone();
                    let telling =
                        move || tell_download(&output, downloaded, data, document, as_json);
                    finish(telling, signals).await?;
                    return Ok(Exit::Done);
                }
                let delivering = move || match output {
                    None => show(data, document, as_json),
                    Some(output) => write(&output, data, document, as_json),
                };
                finish(delivering, signals).await?;
                return Ok(Exit::Done);
            }
            End::Settled(response, confirmation) if response["cancelled"] == true => {
                document["cancelled"] = true.into();
                document["metadata"] = response["metadata"].clone();
                let late_end = confirmation
                    .as_ref()
                    .and_then(|it| stops::read(&it["metadata"]).late_end);
                let grade = Grade {
                    late_end,
                    ..stops::read(&response["metadata"])
                };
                let is_confirmed = confirmation.is_some_and(|it| it["cancelled"] == true);
                warn(self.who(is_confirmed) + &stops::clause(grade));
                Exit::Cancelled
            }
            End::NeverMade => {
                document["cancelled"] = true.into();
                document["metadata"] = stops::metadata(Stop::NeverStarted.into());
                warn("Cancelled before the call was made".into());
                Exit::Cancelled
            }
            End::Settled(mut response, _) => {
                let failure = Failure::of_app(response["error"].take());
                self.failed(failure, &mut document)
            }
            End::Failed(failure, _) => self.failed(failure, &mut document),
        };
        if self.options.json {
            finish(move || print(&json(&document)), signals).await?;
        }
        Ok(exit)
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
    fn not_cancelled(&self, confirmation: &Value, has_completed: bool) -> String {
        let error = &confirmation["error"];
        let is_late = error["code"] == Code::TIMEOUT.as_str();
        match (is_late, has_completed) {
            (true, true) => format!("Not cancelled: {ALREADY_COMPLETED}"),
            (true, false) => format!(
                "Not confirmed within {:?}: the app was asked, and may still cancel it. \
                 caphost runs shows what becomes of it (callId {})",
                self.options.grace,
                self.call_id.as_str()
            ),
            _ => {
                let reason = confirmation["reason"].as_str();
                let reason = reason.or(error["message"].as_str());
                let reason = one_line(reason.unwrap_or("no reason given"));
                format!("Not cancelled: {reason}")
            }
        }
    }

    fn who(&self, is_confirmed: bool) -> String {
        let timeout = self.options.timeout;
        let passed = timeout.filter(|it| self.made.elapsed() >= *it);
        match (is_confirmed, passed) {
            (true, _) => "Cancelled, and confirmed by the app".into(),
            (false, Some(timeout)) => format!("Cancelled: its timeout of {timeout:?} has passed"),
            (false, None) => "Cancelled by the app, or by someone else through the gateway".into(),
        }
    }
}

fn warn(what: String) {
    say(&style(what).for_stderr().yellow().to_string());
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
    let written = Contents::of(&data, output).and_then(|contents| {
        output.write(&contents.bytes)?;
        Ok(contents)
    });
    let contents = match written {
        Ok(contents) => contents,
        Err(message) => {
            // The call has been made, so its result must be printed even if writing fails.
            document["output"] = json!({ "path": output.shown(), "error": message });
            show(data, document, as_json)?;
            return Err(message);
        }
    };
    let line = contents.line(output);
    if as_json {
        document["output"] = contents.document(output);
        if let Some(rest) = contents.rest {
            document["data"] = rest;
        }
        return print(&json(&document));
    }
    if *output == Output::StandardOutput {
        say(&line);
        return Ok(());
    }
    print(&line)
}

/// Prints what became of the file that the data refers to. Blocks.
fn tell_download(
    output: &Output,
    downloaded: Result<Downloaded, String>,
    data: Value,
    mut document: Value,
    as_json: bool,
) -> Result<(), String> {
    let file = match downloaded {
        Ok(file) => file,
        Err(message) => {
            document["output"] = json!({ "path": output.shown(), "error": message });
            show(data, document, as_json)?;
            return Err(message);
        }
    };
    if as_json {
        document["output"] = file.document(output);
        document["data"] = file.rest;
        return print(&json(&document));
    }
    let line = file.line(output);
    if *output == Output::StandardOutput {
        say(&line);
        return Ok(());
    }
    print(&line)
}

/// Runs a blocking function, unless an interrupt comes: the reader of a pipe may never read.
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
