//! The command line.

#[allow(dead_code)]
mod gateway_args;
mod serve;
mod units;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use serve::Serve;

/// A gateway between browser apps and agents.
#[derive(Debug, Parser)]
#[command(name = "caphost", version, arg_required_else_help = true)]
struct Arguments {
    /// What to log on standard error: a level, or a filter such as `caphost=debug`.
    #[arg(long, global = true, env = "CAPHOST_LOG", default_value = "warn", value_name = "FILTER", value_parser = parse_filter)]
    log: String,
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
    let Arguments { log, command } = Arguments::parse();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(log))
        .with_writer(std::io::stderr)
        .init();
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

fn parse_filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_string())
        .map_err(|error| error.to_string())
}
