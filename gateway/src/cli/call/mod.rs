//! `caphost call`

mod display;
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
use super::client::{Exit, Failure};
use super::connection::{Connection, OPEN_TIMEOUT};
use super::gateway_args::GatewayArgs;
use super::signals::Signals;
use crate::gateway::{Confirmation, Outcome};
use crate::options::duration;
use caphost::agent::Outgoing;
use caphost::call::CallId;
use display::Display;
use output::Output;
use params::Params;
use report::Report;

/// Why an interrupted call is cancelled, for the app.
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
    /// Cancels the call after this time, such as 500ms, 15s or 2m. Connecting to the app counts.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Where to write the file in the result, or the result as JSON if it has no file. - is standard output.
    ///
    /// A file appears complete or not at all. If it cannot be written, or the result names a blob: URL, which only the page can read, the result is printed, and the status is 1.
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
        if let Some(params) = self.params.take() {
            self.params = Some(Params::Inline(params.read()?));
        }
        Ok(())
    }

    pub(super) async fn run(mut self) -> Result<Exit, Failure> {
        let mut signals = Signals::listen()?;
        let began = Instant::now();
        let mut call = self.outgoing();
        let id = call.id.clone();
        let mut report = Report {
            made: began,
            call_id: id.as_str().into(),
            timeout: self.timeout,
            grace: self.grace,
            output: self.output.clone(),
            json: self.json,
            offered: Vec::new(),
        };
        let mut display = Display::new(&self.capability, self.quiet, !self.json);
        display.waiting("connecting");
        let opened = tokio::select! {
            opened = Connection::open(&self.gateway, self.grace, self.patience()) => opened,
            () = signals.first() => {
                display.clear();
                return report.tell(End::NeverMade, &mut signals).await;
            }
        };
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(failure) => {
                display.clear();
                return report.tell(End::Failed(failure), &mut signals).await;
            }
        };
        report.offered = connection.capabilities().map(String::from).collect();
        if let Some(timeout) = self.timeout {
            let left = timeout.saturating_sub(began.elapsed());
            call.timeout = Some(left.as_secs_f64() * 1_000.0);
        }
        display.waiting("");
        connection.call(call);
        let end = self
            .watch(&mut connection, id, &mut display, &mut signals)
            .await;
        display.clear();
        let left = matches!(end, End::Left(_));
        let exit = report.tell(end, &mut signals).await;
        if !left {
            connection.close().await;
        }
        exit
    }

    /// How long connecting may take.
    fn patience(&self) -> Duration {
        self.timeout.map_or(OPEN_TIMEOUT, |it| it.min(OPEN_TIMEOUT))
    }

    fn outgoing(&mut self) -> Outgoing<Value> {
        let params = self.params.take();
        let params = params.and_then(|it| match it {
            Params::Inline(value) => Some(value),
            // Read by `check`.
            Params::File(_) | Params::StandardInput => None,
        });
        Outgoing {
            id: self.call_id.take().unwrap_or_else(CallId::random),
            capability: self.capability.clone(),
            params,
            timeout: self.timeout.map(|it| it.as_secs_f64() * 1_000.0),
            progress: true,
            transfer: false,
        }
    }

    /// Watches the call until its end, or until an interrupt has cut it short.
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
                    Event::Ended(outcome) => return End::Settled(outcome, None),
                    Event::Cancelled(_) => {}
                },
                () = signals.first() => break,
            }
        }
        display.cancelling();
        connection.cancel(id, REASON);
        // Waits for the confirmation and for the end. When the cancel was refused, waits for the end no
        // longer than the grace; after a second interrupt, waits for nothing.
        let (mut ended, mut confirmed) = (None, None);
        let mut second = pin!(signals.second());
        let mut patience = pin!(Fuse::terminated());
        while ended.is_none() || confirmed.is_none() {
            tokio::select! {
                event = connection.next() => match event {
                    Event::Progress(_) => {}
                    Event::Ended(outcome) => ended = ended.or(Some(outcome)),
                    Event::Cancelled(confirmation) => {
                        if !confirmation.cancelled() {
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
            Some(outcome) => End::Settled(outcome, confirmed),
            None => End::Left(confirmed),
        }
    }
}

/// How a call ended for the person who made it.
enum End {
    /// Interrupted before anything was sent.
    NeverMade,
    /// No call could be made.
    Failed(Failure),
    /// The call has ended. With a confirmation, if it was asked for one.
    Settled(Outcome, Option<Confirmation>),
    /// Nobody waits for the end any longer.
    Left(Option<Confirmation>),
}

fn call_id(text: &str) -> Result<CallId, String> {
    CallId::parse(text).map_err(|_| "expected 1 to 128 printable characters".into())
}
