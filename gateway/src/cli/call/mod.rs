//! `caphost call`

mod binary;
mod display;
mod output;
mod params;
mod report;
mod result;
mod watch;

use std::time::{Duration, Instant};

use clap::Args;
use clap::error::ErrorKind;

use super::client::{Connection, Exit, Failure};
use super::gateway_args::GatewayArgs;
use super::signals::Signals;
use crate::cli::agent::Patience;
use crate::gateway::calls::NewCall;
use crate::options::duration;
use caphost::call::CallId;
use display::Display;
use output::Output;
use params::Params;
use report::Report;
use watch::{End, watch};

const EXAMPLES: &str = "\
Examples:
  caphost call ai.summarize --params '{\"text\": \"…\"}'
  caphost call export.pdf --params @document.json --output document.pdf
  jq -n '{markdown: \"# Hello\"}' | caphost call export.pdf --params - --output - > hello.pdf
  caphost call export.archive --timeout 30s --json

Ctrl-C cancels the call, and waits for the app to confirm it; a second one leaves at once.

Exit status: 0 done; 1 failed, or the outcome is unknown; 2 wrong usage, nothing was called;
130 cancelled, by Ctrl-C, by the timeout or by someone else, and that is confirmed. What is printed
then says whether the work was seen to stop: where it was not, it may still go on.";

/// Calls a capability of an app, and prints what it returns as JSON.
///
/// Progress goes to standard error: a bar on a terminal, plain lines elsewhere.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Call {
    /// The capability's name, as `caphost list` shows it.
    #[arg(value_name = "CAPABILITY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    capability: String,
    /// Its parameters, a JSON object: as such, in a file, or - for standard input.
    #[arg(short, long, value_name = "JSON|@FILE|-", allow_hyphen_values = true, value_parser = Params::parse)]
    params: Option<Params>,
    /// Time after which the call is cancelled, such as 500ms, 15s or 2m.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Where to write the file in the result, or the result as JSON if there is none; - is standard output.
    ///
    /// A file appears complete or not at all. If it cannot be written, the result is printed, and the status is 1.
    #[arg(short, long, value_name = "FILE", value_parser = Output::parse)]
    output: Option<Output>,
    /// Prints one document `{ callId, success, data?, error?, cancelled?, metadata?, confirmation?, output? }`, whatever happens.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(short, long)]
    quiet: bool,
    /// An id for the call, to cancel it by from elsewhere; a fresh UUID if there is none.
    #[arg(long, value_name = "ID", value_parser = call_id)]
    call_id: Option<CallId>,
    /// Time the app has to confirm a cancel.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    grace: Duration,
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl Call {
    /// Reads the parameters, and sees whether the result could be written.
    pub(super) fn check(&mut self) -> Result<(), (ErrorKind, String)> {
        if self.json && self.output == Some(Output::StandardOutput) {
            let message = "--json and --output - both want standard output";
            return Err((ErrorKind::ArgumentConflict, message.into()));
        }
        let invalid = |message| (ErrorKind::ValueValidation, message);
        if let Some(output) = &self.output {
            output.check().map_err(invalid)?;
        }
        if let Some(params) = self.params.take() {
            self.params = Some(Params::Inline(params.read().map_err(invalid)?));
        }
        Ok(())
    }

    pub(super) async fn run(mut self) -> Exit {
        let mut signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => return super::fail(&format!("cannot wait for signals: {error}")),
        };
        let call = self.new_call();
        let mut report = Report {
            made: Instant::now(),
            call_id: call
                .call_id
                .as_ref()
                .map_or_else(String::new, |it| it.as_str().into()),
            timeout: self.timeout,
            output: self.output.clone(),
            json: self.json,
            offered: Vec::new(),
        };
        let mut display = Display::new(&self.capability, self.quiet, !self.json);
        display.waiting("connecting");
        let patience = Patience {
            grace: self.grace,
            ..Patience::default()
        };
        let opened = tokio::select! {
            opened = Connection::open(&self.gateway, patience) => opened,
            () = signals.first() => {
                display.clear();
                return report.tell(End::NeverMade, &mut signals).await;
            }
        };
        let connection = match opened {
            Ok(connection) => connection,
            Err(failure) => {
                display.clear();
                return report.tell(End::Failed(failure), &mut signals).await;
            }
        };
        report.offered = connection.capabilities().map(String::from).collect();
        report.made = Instant::now();
        display.waiting("");
        let agent = &connection.agent;
        let end = watch(agent, call, &mut display, &mut signals, self.grace).await;
        display.clear();
        let left = matches!(end, End::Left(_));
        let exit = report.tell(end, &mut signals).await;
        if !left {
            connection.close().await;
        }
        exit
    }

    fn new_call(&mut self) -> NewCall {
        let params = self.params.take();
        let params = params.and_then(|it| match it {
            Params::Inline(value) => Some(value),
            // Read by `check`.
            Params::File(_) | Params::StandardInput => None,
        });
        NewCall {
            capability: self.capability.clone(),
            params,
            timeout: self.timeout,
            call_id: Some(self.call_id.take().unwrap_or_else(CallId::random)),
            progress: true,
            ..NewCall::default()
        }
    }
}

fn call_id(text: &str) -> Result<CallId, String> {
    CallId::parse(text).map_err(|_| "expected 1 to 128 printable characters".into())
}
