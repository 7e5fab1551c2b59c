//! The options of MCP.

use std::time::Duration;

use clap::Args;

use crate::gateway::command::units::{count, duration};

/// Bounds of MCP, with their defaults.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "MCP")]
pub struct McpOptions {
    /// MCP sessions at once.
    #[arg(long, env = "CAPHOST_MCP_MAX_SESSIONS", default_value = "1000", value_parser = count, value_name = "N")]
    pub mcp_max_sessions: usize,
    /// Without a request or an open stream, after which an MCP session ends.
    #[arg(long, env = "CAPHOST_MCP_SESSION_IDLE", default_value = "30m", value_parser = duration, value_name = "TIME")]
    pub mcp_session_idle: Duration,
    /// Tools in one page of tools/list.
    #[arg(long, env = "CAPHOST_MCP_PAGE_SIZE", default_value = "100", value_parser = count, value_name = "N")]
    pub mcp_page_size: usize,
}

impl Default for McpOptions {
    fn default() -> Self {
        McpOptions {
            mcp_max_sessions: 1_000,
            mcp_session_idle: Duration::from_secs(30 * 60),
            mcp_page_size: 100,
        }
    }
}
