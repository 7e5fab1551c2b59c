//! The command line.

mod agent;
mod apps;
mod call;
mod client;
mod config_file;
#[cfg(test)]
mod configuration_page;
mod connection;
mod gateway_args;
mod list;
mod runs;
mod serve;
mod signals;
mod stdio;
mod terminal;
mod types;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

use apps::Apps;
use call::Call;
use client::Exit;
use list::List;
use runs::{Cancel, Runs};
use serve::{Serve, Unserved};
use stdio::{Mcp, Stdio};
use types::Types;

/// A gateway between browser apps and agents.
#[derive(Debug, Parser)]
#[command(name = "caphost", version, arg_required_else_help = true)]
struct Arguments {
    #[command(flatten, next_help_heading = "Logging")]
    logging: Logging,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the demo page, and relays between apps (/abp/app) and agents (/abp).
    Serve(Box<Serve>),
    Apps(Apps),
    List(List),
    Types(Types),
    Call(Box<Call>),
    Runs(Runs),
    Cancel(Cancel),
    Stdio(Stdio),
    Mcp(Mcp),
}

impl Command {
    /// Finds what parsing does not. The error names the subcommand and what is wrong with it.
    fn check(&mut self) -> Result<(), (&'static str, ErrorKind, String)> {
        let (name, checked) = match self {
            Command::Serve(serve) => ("serve", serve.check()),
            Command::Call(call) => ("call", call.check()),
            Command::Apps(_)
            | Command::List(_)
            | Command::Types(_)
            | Command::Runs(_)
            | Command::Cancel(_)
            | Command::Stdio(_)
            | Command::Mcp(_) => return Ok(()),
        };
        checked.map_err(|(kind, message)| (name, kind, message))
    }

    async fn run(self) -> Exit {
        match self {
            Command::Serve(serve) => match serve.run().await {
                Ok(()) => Exit::Done,
                Err(Unserved::Failed(message)) => fail(&message),
                Err(Unserved::Usage(message)) => {
                    fail(&message);
                    Exit::Usage
                }
            },
            Command::Apps(apps) => apps.run().await,
            Command::List(list) => list.run().await,
            Command::Types(types) => types.run().await,
            Command::Call(call) => call.run().await,
            Command::Runs(runs) => runs.run().await,
            Command::Cancel(cancel) => cancel.run().await,
            Command::Stdio(stdio) => stdio.run().await,
            Command::Mcp(mcp) => mcp.run().await,
        }
    }
}

/// Runs the command line given to the process.
///
/// Exit status 0: done, 1: failed, 2: wrong usage, 130: the call was cancelled.
pub fn main() -> ExitCode {
    let given: Vec<_> = std::env::args_os().collect();
    let configured = match config_file::apply(Arguments::command(), &given) {
        Ok(command) => command,
        Err(message) => {
            eprintln!("caphost: {message}");
            return ExitCode::from(2);
        }
    };
    let matches = configured.get_matches_from(given);
    let Arguments {
        logging,
        mut command,
    } = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    logging.start();
    if let Err((name, kind, message)) = command.check() {
        let mut arguments = Arguments::command();
        arguments.build();
        if let Some(subcommand) = arguments.find_subcommand_mut(name) {
            subcommand.error(kind, message).exit();
        }
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string()).into(),
    };
    let exit = runtime.block_on(command.run());
    runtime.shutdown_background();
    exit.into()
}

fn fail(message: &str) -> Exit {
    terminal::say(&format!("caphost: {message}"));
    Exit::Failed
}

/// The options of the log, which every subcommand takes.
#[derive(Args, Debug)]
struct Logging {
    /// What to log on standard error: a level, or a filter such as `caphost=debug`.
    #[arg(long, global = true, env = "CAPHOST_LOG", default_value = "warn", value_name = "FILTER", value_parser = parse_filter)]
    log: String,
    /// The format of the log.
    #[arg(
        long,
        global = true,
        env = "CAPHOST_LOG_FORMAT",
        default_value = "text",
        value_name = "FORMAT"
    )]
    log_format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON object a line: `timestamp`, `level`, `target`, `message` and the fields.
    Json,
}

impl Logging {
    /// Logs from now on.
    fn start(self) {
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(&self.log))
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr);
        match self.log_format {
            Format::Text => log.init(),
            Format::Json => log.json().flatten_event(true).init(),
        }
    }
}

fn parse_filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_string())
        .map_err(|error| error.to_string())
}
