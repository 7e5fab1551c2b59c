//! The command line.

mod config_file;
#[allow(dead_code)]
mod gateway_args;
mod logging;
mod serve;
mod units;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use logging::Logging;
use serve::Serve;

/// A gateway between browser apps and agents.
#[derive(Debug, Parser)]
#[command(name = "caphost", version, arg_required_else_help = true)]
struct Arguments {
    #[command(flatten)]
    logging: Logging,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the demo page, and relays between apps (/abp/app) and agents (/abp).
    Serve(Box<Serve>),
}

/// Runs the command line given to the process. Exit status 0: done, 1: failed, 2: wrong usage.
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
    let Arguments { logging, command } =
        Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    logging.start();
    let Command::Serve(serve) = command;
    if let Err((kind, message)) = serve.check() {
        let mut command = Arguments::command();
        command.build();
        let serve = command.find_subcommand_mut("serve");
        if let Some(serve) = serve {
            serve.error(kind, message).exit();
        }
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string()),
    };
    let result = runtime.block_on(serve.run());
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("caphost: {message}");
    ExitCode::FAILURE
}
