//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::dialects::jsonrpc::Manner;
use crate::requirement::Level;
use crate::wire::Target;
use crate::wire::frames::Frames;

/// A dialect that the suite speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dialect {
    /// Agentic Browser Protocol 0.1 over a WebSocket: a gateway, or an app itself
    Abp,
    /// Model Context Protocol 2025-11-25, over standard input and output or Streamable HTTP
    Mcp,
    /// ACP or LSP style, over a WebSocket or standard input and output
    Jsonrpc,
    /// A tool server of the Reactive Agent Protocol
    Rap,
    /// The ContextForge cancellation API, for calls over MCP
    Contextforge,
}

impl Dialect {
    pub fn word(self) -> &'static str {
        match self {
            Self::Abp => "abp",
            Self::Mcp => "mcp",
            Self::Jsonrpc => "jsonrpc",
            Self::Rap => "rap",
            Self::Contextforge => "contextforge",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Abp => "ABP",
            Self::Mcp => "MCP",
            Self::Jsonrpc => "JSON-RPC",
            Self::Rap => "RAP",
            Self::Contextforge => "the ContextForge API",
        }
    }
}

/// Looks whether a peer keeps the rules of cancelling.
///
/// The peer offers two tools, `conformance.count { key, steps, ms }` and `conformance.read { key }`, so that what the peer says
/// is compared with what happened. The exit status is 0 if all that is required holds, 1 if not, and 2 for a wrong command line.
#[derive(Clone, Debug, Parser)]
#[command(name = "caphost-conformance", version)]
pub struct Options {
    /// The protocol that the peer speaks
    pub dialect: Dialect,
    /// The address of the peer
    #[arg(long, value_name = "URL", conflicts_with = "command", required_unless_present_any = ["command", "list"])]
    pub url: Option<String>,
    /// A bearer token for the peer
    #[arg(
        long,
        value_name = "SECRET",
        env = "CAPHOST_TOKEN",
        hide_env_values = true,
        requires = "url"
    )]
    pub token: Option<String>,
    /// Connect an app with both tools to a gateway of caphost, at this address for apps
    #[arg(long, value_name = "URL", requires = "url")]
    pub bring: Option<String>,
    /// A bearer token for that app
    #[arg(
        long,
        value_name = "SECRET",
        env = "CAPHOST_APP_TOKEN",
        hide_env_values = true,
        requires = "bring"
    )]
    pub bring_token: Option<String>,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// Write a report for test runners
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a report for people
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Failures that are expected: one id in each line, and the reason after it. Such a requirement must be broken
    #[arg(long, value_name = "FILE")]
    pub expected: Option<PathBuf>,
    /// What is required for the exit status 0: all requirements of this level and of those before it
    #[arg(long, value_name = "LEVEL", default_value = "should")]
    pub require: Level,
    /// The calls that race with their cancels
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub races: u32,
    /// What chance begins with: the same seed draws the same races
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many milliseconds work may go on after its cancel
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = milliseconds)]
    pub grace: Duration,
    /// Run only the requirements whose ids contain one of these
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How `jsonrpc` cancels
    #[arg(long, value_name = "STYLE", default_value = "acp")]
    pub style: Manner,
    /// How messages of `jsonrpc` stand in the input and output of a program, if not as its style has them
    #[arg(long, value_name = "HOW")]
    pub frames: Option<Frames>,
    /// Where `contextforge` calls tools over MCP, if not at /mcp
    #[arg(long, value_name = "URL")]
    pub calls: Option<String>,
    /// Print the requirements, and run nothing
    #[arg(long)]
    pub list: bool,
    /// Show what the program writes to standard error
    #[arg(long)]
    pub verbose: bool,
    /// The program to start as the peer, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl Options {
    /// Where the peer is. A command line without either is refused before.
    pub fn target(&self) -> Target {
        match &self.url {
            Some(url) => Target::Url {
                url: url.clone(),
                token: self.token.clone(),
            },
            None => Target::Command {
                command: self.command.clone(),
                verbose: self.verbose,
            },
        }
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .map(Duration::from_millis)
        .map_err(|_| "not a number of milliseconds".into())
}
