//! The options of a worker in a cluster.

use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;

use crate::options::{defaults, duration};

/// The options of a cluster.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "Several workers")]
pub struct ClusterOptions {
    /// The Redis through which the workers of a cluster find and reach each other: redis://, rediss:// or redis+unix://. Without it this gateway is alone.
    #[arg(
        long,
        env = "CAPHOST_REDIS",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub redis: Option<String>,
    /// The prefix of all keys in Redis: any text but an empty one, or one that begins with }. Workers with the same prefix are one cluster.
    #[arg(
        long,
        env = "CAPHOST_REDIS_PREFIX",
        default_value = "caphost",
        value_name = "TEXT"
    )]
    pub redis_prefix: String,
    /// The name of this worker in the logs of others. Default: host name and process id.
    #[arg(long, env = "CAPHOST_WORKER_NAME", value_name = "TEXT")]
    pub worker_name: Option<String>,
    /// How long a worker may give no sign of life before it counts as dead.
    #[arg(long, env = "CAPHOST_WORKER_LEASE", default_value = "2500ms", value_parser = duration, value_name = "TIME")]
    pub worker_lease: Duration,
    /// How long Redis may give no answer before calls to apps on other workers fail.
    #[arg(long, env = "CAPHOST_REDIS_PATIENCE", default_value = "4s", value_parser = duration, value_name = "TIME")]
    pub redis_patience: Duration,
    /// Obey a message on the channel cancellation:cancel only if it names its requester: true or false. Default: true where there are tokens.
    #[arg(long, env = "CAPHOST_REQUIRE_REQUESTER", num_args = 0..=1, default_missing_value = "true", value_parser = BoolishValueParser::new(), value_name = "BOOL")]
    pub require_requester: Option<bool>,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        defaults()
    }
}

impl ClusterOptions {
    /// Checks the prefix and the URL. The error does not repeat the URL, because it may contain a password.
    pub(crate) fn check(&self) -> Result<(), String> {
        // All keys are in one slot of a Redis Cluster as long as there is something between the braces.
        if self.redis_prefix.is_empty() || self.redis_prefix.starts_with('}') {
            return Err("--redis-prefix must not be empty, nor begin with }".into());
        }
        let url = self.redis.as_deref();
        match url.map(redis::IntoConnectionInfo::into_connection_info) {
            Some(Err(_)) => {
                Err("--redis must be a URL of Redis, such as redis://127.0.0.1:6379".into())
            }
            _ => Ok(()),
        }
    }

    /// The name of this worker.
    pub(super) fn name(&self) -> String {
        let host = || std::env::var("HOSTNAME").unwrap_or_else(|_| "worker".into());
        let name = self.worker_name.clone();
        name.unwrap_or_else(|| format!("{}-{}", host(), std::process::id()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_something_between_the_braces() {
        for (prefix, right) in [("caphost", true), ("a}b", true), ("", false), ("}a", false)] {
            let options = ClusterOptions {
                redis_prefix: prefix.into(),
                ..ClusterOptions::default()
            };
            assert_eq!(options.check().is_ok(), right, "{prefix:?}");
        }
    }
}
