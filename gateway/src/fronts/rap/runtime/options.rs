//! The options of the runtime: the command line, and the values without an option.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use axum::http::HeaderValue;
use clap::Args;
use url::{Position, Url};

use crate::options::{defaults, duration};

/// Which RAP tool servers are used, and how.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "RAP runtime")]
pub struct RuntimeConfig {
    /// The base URL of a RAP tool server, and its bearer token if it needs one. Its tools are offered as
    /// an app's capabilities. Repeatable; in the environment separated by commas.
    #[arg(
        long = "tool-server",
        env = "CAPHOST_TOOL_SERVERS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "[TOKEN@]URL"
    )]
    pub servers: Vec<ToolServer>,
    /// The URL at which tool servers reach this gateway. Default: the address it listens on.
    #[arg(long = "public-url", env = "CAPHOST_PUBLIC_URL", hide_env_values = true, value_name = "URL", value_parser = parse_base)]
    pub public: Option<Url>,
    /// The bounds.
    #[command(flatten)]
    pub limits: RuntimeLimits,
}

/// The bounds of the runtime. Those without an option are changed by tests only.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "RAP runtime")]
pub struct RuntimeLimits {
    /// How often to ask a tool server what it offers.
    #[arg(long = "tool-server-refresh", env = "CAPHOST_TOOL_SERVER_REFRESH", default_value = "30s", value_parser = duration, value_name = "TIME")]
    pub refresh_interval: Duration,
    /// How long a tool server may give no answer before it counts as gone.
    #[arg(long = "tool-server-gone-after", env = "CAPHOST_TOOL_SERVER_GONE_AFTER", default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub gone_after: Duration,
    /// How long a tool server may take to acknowledge an invocation.
    #[arg(long = "tool-server-invoke-timeout", env = "CAPHOST_TOOL_SERVER_INVOKE_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub invoke_timeout: Duration,
    /// How long a tool server may take to acknowledge that a call was cancelled or a thread closed.
    #[arg(long = "tool-server-notice-timeout", env = "CAPHOST_TOOL_SERVER_NOTICE_TIMEOUT", default_value = "2s", value_parser = duration, value_name = "TIME")]
    pub notice_timeout: Duration,
    /// The first pause before a request is repeated; it doubles each time, and varies by a quarter.
    #[arg(skip = Duration::from_millis(250))]
    pub first_pause: Duration,
    /// The longest such pause.
    #[arg(skip = Duration::from_secs(10))]
    pub longest_pause: Duration,
    /// How many invocations are sent to one tool server at once; the others wait.
    #[arg(skip = 64_usize)]
    pub invocations_at_once: usize,
}

impl Default for RuntimeLimits {
    fn default() -> Self {
        defaults()
    }
}

impl RuntimeConfig {
    /// The origin of the public URL. The gateway is known under it as well.
    pub fn public_origin(&self) -> Option<String> {
        let public = self.public.as_ref()?;
        Some(public.origin().ascii_serialization())
    }
}

/// One tool server: `[TOKEN@]URL`.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolServer {
    base: Url,
    authorization: Option<HeaderValue>,
}

impl ToolServer {
    /// The URL of `path` under the server's base. `path` starts with `/`.
    pub fn at(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        url
    }

    /// The `Authorization` header for a request to `url`. The token goes to its own server only, whatever the
    /// server's toolset says.
    pub fn authorization(&self, url: &Url) -> Option<&HeaderValue> {
        let own = url.origin() == self.base.origin();
        self.authorization.as_ref().filter(|_| own)
    }

    /// The base URL.
    pub fn base(&self) -> &Url {
        &self.base
    }
}

impl FromStr for ToolServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = ["@http://", "@https://"]
            .into_iter()
            .filter_map(|mark| text.find(mark));
        let named = ["http://", "https://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        let (token, url) = match at.min().filter(|_| !named) {
            Some(at) => (Some(&text[..at]), &text[at + 1..]),
            None => (None, text),
        };
        let authorization = token.map(|token| {
            let printable = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
            let value = HeaderValue::from_str(&format!("Bearer {token}")).ok();
            let mut value = value
                .filter(|_| printable)
                .ok_or("a token has at least one character, all of them printable ASCII")?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        Ok(ToolServer {
            base: parse_base(url)?,
            authorization: authorization.transpose()?,
        })
    }
}

impl fmt::Debug for ToolServer {
    /// Formats the server without its token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.base.as_str(), f)
    }
}

/// Reads an `http:` or `https:` URL that paths can be added to.
pub fn parse_base(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("expected an http or https URL".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL must have no user name: put a token before the URL, TOKEN@URL".into());
    }
    if !url[Position::AfterPath..].is_empty() {
        return Err("a base URL has no query and no fragment".into());
    }
    Ok(url)
}

#[cfg(test)]
mod tests;
