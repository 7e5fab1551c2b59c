//! What is logged, and how it is written.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// The options of the log, which every subcommand takes.
#[derive(Args, Debug)]
pub(super) struct Logging {
    /// What to log on standard error: a level, or a filter such as `caphost=debug`.
    #[arg(long, global = true, env = "CAPHOST_LOG", default_value = "warn", value_name = "FILTER", value_parser = parse_filter)]
    log: String,
    /// How a line of the log is written.
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
    pub(super) fn start(self) {
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter(&self.log))
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr);
        match self.log_format {
            Format::Text => log.init(),
            Format::Json => log.json().flatten_event(true).init(),
        }
    }
}

/// The filter. The MCP SDK has much to say of every request: no more of it than warnings, unless the
/// filter names it.
fn filter(log: &str) -> EnvFilter {
    let filter = EnvFilter::new(log);
    let says_more = filter.max_level_hint() > Some(LevelFilter::WARN);
    match "rmcp=warn".parse() {
        Ok(directive) if says_more && !log.contains("rmcp") => filter.add_directive(directive),
        _ => filter,
    }
}

fn parse_filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_string())
        .map_err(|error| error.to_string())
}
