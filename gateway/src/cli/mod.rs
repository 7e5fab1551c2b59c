//! The command line.

mod agent;
mod api;
mod apps;
mod call;
mod cancel;
mod config_file;
mod connection;
mod failure;
mod gateway_args;
mod list;
mod runs;
mod secrets;
mod serve;
mod signals;
mod stdio;
mod terminal;
mod types;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::thread;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

use apps::Apps;
use call::Call;
use cancel::Cancel;
use failure::{Exit, Failure};
use list::List;
use runs::Runs;
use secrets::without_secret;
use serve::Serve;
use stdio::{Mcp, Stdio};
use terminal::say;
use types::Types;

use crate::log::{LastLines, Log};

const AFTER: &str = "\
--gateway, --token and --app may stand before the command, too:
  caphost --gateway https://gateway.example apps";

/// The options that say which gateway and app a subcommand talks to.
const CONNECTION: [&str; 3] = ["--gateway", "--token", "--app"];

/// A gateway between browser apps and agents.
#[derive(Debug, Parser)]
#[command(name = "caphost", version, arg_required_else_help = true, after_help = AFTER)]
struct Arguments {
    #[command(flatten, next_help_heading = "Logging")]
    logging: Logging,
    #[command(subcommand)]
    command: Command,
}

const SERVE: &str = "Runs a gateway: agents call what apps in browsers offer, and operators watch and cancel the calls";

const MORE_OF_SERVE: &str = "\
  caphost serve                            for this machine, at http://127.0.0.1:8787
  caphost serve --host 0.0.0.0 --token app=SECRET1 --token agent=SECRET2 --token admin=SECRET3
                                           for others, each with a token of its role

Apps connect to /abp/app, and agents to /abp, /mcp, /jsonrpc or /rap. /runs is the page of calls.

A secret has 16 characters or more; `openssl rand -hex 16` makes one. CAPHOST_TOKENS, a list with
commas, keeps them off the command line.";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(about = SERVE, long_about = format!("{SERVE}.\n\n{MORE_OF_SERVE}"))]
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
    /// Checks the options for errors that parsing does not find.
    fn check(&mut self) -> Result<(), String> {
        match self {
            Command::Serve(serve) => serve.check(),
            Command::Call(call) => call.check(),
            Command::Types(types) => types.check(),
            _ => Ok(()),
        }
    }

    async fn run(self) -> Result<Exit, Failure> {
        match self {
            Command::Serve(serve) => serve.run().await,
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

/// Runs the command line with the arguments of the process.
///
/// Exit status 0: done, 1: failed, 2: wrong usage, 130: the call was cancelled.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(log_panic));
    let _written = LastLines;
    let given = connection_last(std::env::args_os().collect());
    let mut configured = match config_file::apply(Arguments::command(), &given) {
        Ok(command) => command,
        Err(message) => {
            say(&format!("caphost: {message}"));
            return ExitCode::from(2);
        }
    };
    let matches = configured
        .try_get_matches_from_mut(given)
        .unwrap_or_else(|error| without_secret(error, &mut configured).exit());
    let Arguments {
        logging,
        mut command,
    } = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    logging.start();
    let (name, options) = matches.subcommand().unwrap_or(("", &matches));
    if let Err(message) = command.check() {
        let mut arguments = Arguments::command();
        arguments.build();
        if let Some(subcommand) = arguments.find_subcommand_mut(name) {
            subcommand.error(ErrorKind::ValueValidation, message).exit();
        }
    }
    let ended = run(command);
    let ended = ended.unwrap_or_else(|failure| failure.report(name, wants_json(options)));
    ended.into()
}

/// How many threads may read files and do other work that takes milliseconds. On a busy machine each
/// requested file adds a thread, and a thread gives its memory back only after seconds of idling.
const MOST_BLOCKING: usize = 64;

fn run(command: Command) -> Result<Exit, Failure> {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    let threads = threads.max_blocking_threads(MOST_BLOCKING);
    let runtime = threads.enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let ended = runtime.block_on(command.run());
    runtime.shutdown_background();
    ended
}

fn wants_json(options: &ArgMatches) -> bool {
    let json = options.try_get_one("json").ok().flatten();
    json.copied().unwrap_or_default()
}

/// Moves the connection options from before the subcommand to behind it. These are options of the
/// subcommands, because `serve` has another `--token`.
fn connection_last(given: Vec<OsString>) -> Vec<OsString> {
    let is_option = |it: &OsString, names: &[&str]| names.iter().any(|name| *it == **name);
    let has_value = |it: &OsString| {
        let pair = it.to_str().and_then(|it| it.split_once('='));
        pair.is_some_and(|(name, _)| CONNECTION.contains(&name))
    };
    let (mut before, mut moved) = (Vec::new(), Vec::new());
    let mut rest = given.into_iter();
    before.extend(rest.next());
    while let Some(argument) = rest.next() {
        if is_option(&argument, &CONNECTION) {
            moved.push(argument);
            moved.extend(rest.next());
        } else if has_value(&argument) {
            moved.push(argument);
        } else if is_option(&argument, &["--log", "--log-format"]) {
            before.push(argument);
            before.extend(rest.next());
        } else {
            let is_command = !argument.as_encoded_bytes().starts_with(b"-");
            before.push(argument);
            if is_command {
                break;
            }
        }
    }
    before.into_iter().chain(moved).chain(rest).collect()
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
    /// Starts logging.
    fn start(self) {
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(&self.log))
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(|| Log);
        match self.log_format {
            Format::Text => log.init(),
            Format::Json => log.json().flatten_event(true).init(),
        }
    }
}

/// Logs a panic in the standard library's words. The standard library itself would wait for the reader of
/// standard error.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("\n{backtrace}"),
        _ => String::new(),
    };
    say(&format!("thread '{name}' {panic}{backtrace}"));
}

fn parse_filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_string())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_connection_may_stand_before_the_subcommand() {
        for (given, expected) in [
            (
                "caphost --gateway http://a apps",
                "caphost apps --gateway http://a",
            ),
            (
                "caphost --log info --token=x --app a call a.b --json",
                "caphost --log info call --token=x --app a a.b --json",
            ),
            (
                "caphost call --gateway http://a",
                "caphost call --gateway http://a",
            ),
            ("caphost serve --token app=x", "caphost serve --token app=x"),
            ("caphost --version", "caphost --version"),
            ("caphost --gateway", "caphost --gateway"),
        ] {
            let given = given.split_whitespace().map(OsString::from).collect();
            let ordered = connection_last(given);
            let expected: Vec<_> = expected.split_whitespace().map(OsString::from).collect();
            assert_eq!(ordered, expected);
        }
    }

    #[test]
    fn the_command_line_makes_sense() {
        Arguments::command().debug_assert();
    }
}
