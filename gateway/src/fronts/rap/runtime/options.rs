//! The command line.

use std::time::Duration;

use clap::Args;
use url::Url;

use super::RuntimeConfig;
use super::limits::RuntimeLimits;
use super::tool_server::{ToolServer, parse_base};
use crate::options::duration;

/// Which RAP tool servers are used, and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "RAP runtime")]
pub struct ToolServerOptions {
    /// The base URL of a RAP tool server whose tools are offered as an app's capabilities, with the
    /// bearer token it wants, if any. Repeatable; in the environment separated by commas.
    #[arg(
        long = "tool-server",
        env = "CAPHOST_TOOL_SERVERS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "[TOKEN@]URL"
    )]
    tool_servers: Vec<ToolServer>,
    /// Where tool servers reach this gateway, if not at the address it listens on.
    #[arg(long, env = "CAPHOST_PUBLIC_URL", value_name = "URL", value_parser = parse_base)]
    public_url: Option<Url>,
    /// How often to look at what a tool server offers.
    #[arg(long, env = "CAPHOST_TOOL_SERVER_REFRESH", default_value = "30s", value_parser = duration, value_name = "TIME")]
    tool_server_refresh: Duration,
    /// How long a tool server may give no answer before it counts as gone.
    #[arg(long, env = "CAPHOST_TOOL_SERVER_GONE_AFTER", default_value = "60s", value_parser = duration, value_name = "TIME")]
    tool_server_gone_after: Duration,
    /// How long a tool server may take to acknowledge an invocation.
    #[arg(long, env = "CAPHOST_TOOL_SERVER_INVOKE_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    tool_server_invoke_timeout: Duration,
    /// How long a tool server may take to acknowledge that a call was cancelled or a thread closed.
    #[arg(long, env = "CAPHOST_TOOL_SERVER_NOTICE_TIMEOUT", default_value = "2s", value_parser = duration, value_name = "TIME")]
    tool_server_notice_timeout: Duration,
}

impl From<ToolServerOptions> for RuntimeConfig {
    fn from(options: ToolServerOptions) -> Self {
        RuntimeConfig {
            servers: options.tool_servers,
            public: options.public_url,
            limits: RuntimeLimits {
                refresh_interval: options.tool_server_refresh,
                gone_after: options.tool_server_gone_after,
                invoke_timeout: options.tool_server_invoke_timeout,
                notice_timeout: options.tool_server_notice_timeout,
                ..RuntimeLimits::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: ToolServerOptions,
    }

    #[test]
    fn defaults_are_those_of_the_limits() {
        let config = RuntimeConfig::from(Line::parse_from(["serve"]).options);
        assert_eq!(config.limits, RuntimeLimits::default());
        assert!(config.servers.is_empty() && config.public.is_none());
    }

    #[test]
    fn tool_servers_are_named_again_and_again_or_in_a_list() {
        let line = "serve --tool-server http://a/ --tool-server s@http://b,https://c";
        let config = RuntimeConfig::from(Line::parse_from(line.split(' ')).options);
        let bases = config.servers.iter().map(|it| it.at(""));
        assert_eq!(
            bases.collect::<Vec<_>>(),
            ["http://a", "http://b", "https://c"]
        );
    }
}
