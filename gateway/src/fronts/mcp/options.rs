//! The options of MCP.

use std::time::Duration;

use clap::Args;

use crate::options::{count, duration};

/// Bounds of MCP, with their defaults.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "MCP")]
pub struct McpOptions {
    /// MCP sessions at once. When there are as many, the one that was not used for longest makes room for the next; one with an open request or stream never does.
    #[arg(long, env = "CAPHOST_MCP_MAX_SESSIONS", default_value = "1000", value_parser = count, value_name = "N")]
    pub mcp_max_sessions: usize,
    /// MCP sessions at once of one token, past which only sessions of its own make room.
    #[arg(long, env = "CAPHOST_MCP_MAX_SESSIONS_PER_TOKEN", default_value = "250", value_parser = count, value_name = "N")]
    pub mcp_max_sessions_per_token: usize,
    /// How long an MCP session lives without a request or an open stream. So long also lives the app's session that requests without a session (2026-07-28) share, for each token and app.
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
            mcp_max_sessions_per_token: 250,
            mcp_session_idle: Duration::from_secs(30 * 60),
            mcp_page_size: 100,
        }
    }
}
