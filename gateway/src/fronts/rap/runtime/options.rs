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
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: RuntimeConfig,
    }

    #[test]
    fn defaults_are_those_of_the_limits() {
        let config = Line::parse_from(["serve"]).options;
        assert_eq!(config.limits, RuntimeLimits::default());
        assert!(config.servers.is_empty() && config.public.is_none());
    }

    #[test]
    fn tool_servers_are_named_again_and_again_or_in_a_list() {
        let line = "serve --tool-server http://a/ --tool-server s@http://b,https://c";
        let config = Line::parse_from(line.split(' ')).options;
        let urls = config.servers.iter().map(|it| it.at("/x").to_string());
        assert_eq!(
            urls.collect::<Vec<_>>(),
            ["http://a/x", "http://b/x", "https://c/x"]
        );
    }

    #[test]
    fn the_public_url_is_an_origin() {
        let config = RuntimeConfig {
            public: Some("https://Gateway.example:443/caphost/".parse().unwrap()),
            ..RuntimeConfig::default()
        };
        assert_eq!(
            config.public_origin().as_deref(),
            Some("https://gateway.example")
        );
    }

    fn server(text: &str) -> ToolServer {
        text.parse().unwrap()
    }

    #[test]
    fn slashes_at_the_end_are_trimmed() {
        for base in ["http://a:1/rap", "http://a:1/rap/", "http://a:1/rap//"] {
            assert_eq!(server(base).at("/x").as_str(), "http://a:1/rap/x");
        }
        assert_eq!(server("https://a").at("/x").as_str(), "https://a/x");
    }

    #[test]
    fn a_token_goes_to_its_own_server_only() {
        let server = server("s:e@c@http://a:1/rap");
        let to = |url: &str| {
            let url = Url::parse(url).unwrap();
            server.authorization(&url).cloned()
        };
        assert_eq!(to("http://a:1/invoke").unwrap(), "Bearer s:e@c");
        for other in ["http://a:2/invoke", "https://a:1/rap", "http://b:1/rap"] {
            assert_eq!(to(other), None, "{other}");
        }
        assert_eq!(format!("{server:?}"), r#""http://a:1/rap""#);
    }

    #[test]
    fn a_url_may_hold_an_at_sign() {
        let server = server("http://a/@http://b");
        assert_eq!(server.authorization(server.base()), None);
        assert_eq!(server.at("/x").as_str(), "http://a/@http://b/x");
    }

    #[test]
    fn what_is_no_tool_server() {
        for bad in [
            "",
            "a.example",
            "ftp://a",
            "@http://a",
            "http://user@a",
            "http://u:p@a",
            "http://a?x=1",
            "http://a#x",
            "a b@http://a",
            "é@http://a",
        ] {
            assert!(bad.parse::<ToolServer>().is_err(), "{bad}");
        }
    }
}
