//! `caphost call`

mod display;
mod download;
mod output;
mod params;
mod report;
mod result;

use std::pin::pin;
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::future::{Fuse, FutureExt};
use serde_json::Value;
use tokio::time::sleep;

use super::agent::Event;
use super::connection::{Connection, OPEN_TIMEOUT};
use super::failure::{Exit, Failure};
use super::gateway_args::GatewayArgs;
use super::signals::Signals;
use crate::options::duration;
use caphost::agent::Outgoing;
use caphost::call::{CallId, Code};
use display::Display;
use output::Output;
use params::Params;
use report::Report;

/// The reason for the app why an interrupted call is cancelled.
const REASON: &str = "Interrupted at the command line";

const USAGE: &str = "caphost call <CAPABILITY> [--params <JSON|@FILE|->] [OPTIONS]";

const EXAMPLES: &str = "\
Examples:
  caphost call ai.summarize --params '{\"text\": \"…\"}'
  caphost call export.pdf --params @document.json --output document.pdf
  jq -n '{markdown: \"# Hello\"}' | caphost call export.pdf --params - --output - > hello.pdf
  caphost call ai.summarize --params @text.json --timeout 30s --json

Ctrl-C cancels the call and waits for the app to confirm. A second one leaves at once.

Exit status: 0 done; 1 failed, or the outcome is unknown; 2 wrong usage, nothing was called;
130 cancelled by Ctrl-C, by the timeout or by someone else, and confirmed. The output
then says whether the work was seen to stop. If it was not, it may still go on.";

/// Calls a capability of an app, and prints what it returns as JSON.
///
/// Progress goes to standard error: a bar on a terminal, plain lines elsewhere.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Call {
    /// The capability's name, as `caphost list` shows it.
    #[arg(value_name = "CAPABILITY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    capability: String,
    /// Its parameters, a JSON object: inline, from a file, or - for standard input.
    #[arg(short, long, value_name = "JSON|@FILE|-", allow_hyphen_values = true, value_parser = Params::parse)]
    params: Option<Params>,
    /// The parameters, after they are read.
    #[arg(skip)]
    read: Option<Value>,
    /// Cancels the call after this time, such as 500ms, 15s or 2m. Connecting to the app counts.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Where to write the file in the result, or the result as JSON if it has no file. - is standard output.
    ///
    /// A file appears complete or not at all. If it cannot be written, or the result names a blob: URL, and the app does not let the gateway read its files, the result is printed, and the status is 1.
    #[arg(short, long, value_name = "FILE", value_parser = Output::parse)]
    output: Option<Output>,
    /// Prints one document `{ callId, success, data?, error?, cancelled?, metadata?, confirmation?, output? }`, whatever happens.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(short, long)]
    quiet: bool,
    /// An id for the call, for cancelling it from elsewhere. Default: a new UUID.
    #[arg(long, value_name = "ID", value_parser = call_id)]
    call_id: Option<CallId>,
    /// How long the app may take to confirm a cancel.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    grace: Duration,
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl Call {
    /// Reads the parameters, and checks that the result could be written.
    pub(super) fn check(&mut self) -> Result<(), String> {
        if self.json && self.output == Some(Output::StandardOutput) {
            return Err("--json and --output - both want standard output".into());
        }
        if let Some(output) = &self.output {
            output.check()?;
        }
        self.read = self.params.take().map(Params::read).transpose()?;
        Ok(())
    }

    pub(super) async fn run(mut self) -> Result<Exit, Failure> {
        let mut signals = Signals::listen()?;
        let call = self.outgoing();
        let mut report = Report {
            options: &self,
            call_id: call.id.clone(),
            made: Instant::now(),
            offered: Vec::new(),
        };
        let (end, connection) = self.make(call, &mut report, &mut signals).await;
        let exit = report.tell(end, &mut signals).await;
        if let Some(connection) = connection {
            connection.close().await;
        }
        exit
    }

    /// Makes the call and waits for its end. Returns the connection if it must be closed properly.
    async fn make(
        &self,
        mut call: Outgoing<Value>,
        report: &mut Report<'_>,
        signals: &mut Signals,
    ) -> (End, Option<Connection>) {
        let mut display = Display::new(&self.capability, self.quiet, !self.json);
        display.waiting("connecting");
        let opened = tokio::select! {
            opened = Connection::open(&self.gateway, self.grace, self.patience()) => opened,
            () = signals.first() => return (End::NeverMade, None),
        };
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(failure) => return (End::Failed(failure, None), None),
        };
        report.offered = connection.capabilities().map(String::from).collect();
        if let Some(timeout) = self.timeout {
            let left = timeout.saturating_sub(report.made.elapsed());
            call.timeout = Some(left.as_secs_f64() * 1_000.0);
        }
        display.waiting("");
        connection.call(call);
        let id = report.call_id.clone();
        let end = self.watch(&mut connection, id, &mut display, signals).await;
        let has_ended = matches!(end, End::Settled(..));
        (end, has_ended.then_some(connection))
    }

    /// How long connecting may take.
    fn patience(&self) -> Duration {
        self.timeout.map_or(OPEN_TIMEOUT, |it| it.min(OPEN_TIMEOUT))
    }

    fn outgoing(&mut self) -> Outgoing<Value> {
        Outgoing {
            id: self.call_id.take().unwrap_or_else(CallId::random),
            capability: self.capability.clone(),
            params: self.read.take(),
            // Only after connecting it is known how much of the timeout is left.
            timeout: None,
            progress: true,
            transfer: false,
        }
    }

    /// Watches the call until it ends or an interrupt stops it.
    async fn watch(
        &self,
        connection: &mut Connection,
        id: CallId,
        display: &mut Display,
        signals: &mut Signals,
    ) -> End {
        loop {
            tokio::select! {
                event = connection.next() => match event {
                    Event::Progress(info) => display.progress(&info),
                    Event::Ended(response) => return End::Settled(response, None),
                    Event::Cancelled(_) => {}
                },
                () = signals.first() => break,
            }
        }
        display.cancelling();
        connection.cancel(id.clone(), REASON);
        // Waits for the confirmation and for the end. After a refused cancel, waits at most the grace for the
        // end. A second interrupt ends the wait.
        let (mut ended, mut confirmed) = (None, None);
        let mut second = pin!(signals.second());
        let mut patience = pin!(Fuse::terminated());
        while ended.is_none() || confirmed.is_none() {
            tokio::select! {
                event = connection.next() => match event {
                    Event::Progress(_) => {}
                    Event::Ended(response) => ended = ended.or(Some(response)),
                    Event::Cancelled(confirmation) => {
                        if confirmation["cancelled"] == false {
                            patience.set(sleep(self.grace).fuse());
                        }
                        confirmed = Some(confirmation);
                    }
                },
                () = &mut second => break,
                () = &mut patience => break,
            }
        }
        match ended {
            Some(response) => End::Settled(response, confirmed),
            None => {
                let message = "left before the end of the call: its outcome is unknown";
                let hint = format!("`caphost runs` may tell; its callId is {}", id.as_str());
                let left = Failure::new(Code::DISCONNECTED, message).hint(hint);
                End::Failed(left, confirmed)
            }
        }
    }
}

/// How a call ended for its caller, with the `CancelResponse` if the call was cancelled.
enum End {
    /// An interrupt came before anything was sent.
    NeverMade,
    /// No call could be made, or nobody waits for its end any longer.
    Failed(Failure, Option<Value>),
    /// The call has ended with that `ABPResponse`.
    Settled(Value, Option<Value>),
}

fn call_id(text: &str) -> Result<CallId, String> {
    CallId::parse(text).map_err(|_| "expected 1 to 128 printable characters".into())
}
