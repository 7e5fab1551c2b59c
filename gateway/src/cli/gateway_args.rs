//! The options that all clients of a gateway share: which gateway a subcommand talks to, and with which
//! token.

use std::fmt;

use clap::Args;
use url::Url;

/// A gateway and the app behind it, for subcommands that reach an app.
#[derive(Args, Clone, Debug)]
pub(super) struct GatewayArgs {
    #[command(flatten)]
    pub access: Access,
    /// The id of the app. Not needed while only one app is connected. Without it `caphost mcp` serves the tools of all apps.
    #[arg(
        long,
        env = "CAPHOST_APP",
        value_name = "ID",
        help_heading = "Connection"
    )]
    pub app: Option<String>,
}

/// A gateway, for subcommands that talk to it alone.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Connection")]
pub(super) struct Access {
    /// The gateway's URL, http or https.
    #[arg(long, env = "CAPHOST_GATEWAY", hide_env_values = true, default_value = "http://127.0.0.1:8787", value_name = "URL", value_parser = gateway_url)]
    pub gateway: Url,
    /// A bearer token for it. Other users of this machine can see command lines: prefer the environment.
    #[arg(long, env = "CAPHOST_TOKEN", hide_env_values = true, value_name = "SECRET", value_parser = Secret::parse)]
    pub token: Option<Secret>,
}

impl Access {
    /// The gateway's URL for messages to people.
    pub fn shown(&self) -> &str {
        self.gateway.as_str().trim_end_matches('/')
    }

    /// The HTTP URL of a path of the gateway, such as `abp.json`.
    pub fn http_url(&self, path: &str) -> Url {
        let mut url = self.gateway.clone();
        let base = url.path().trim_end_matches('/');
        url.set_path(&format!("{base}/{path}"));
        url
    }

    /// The WebSocket URL of a path of the gateway.
    pub fn web_socket_url(&self, path: &str) -> Url {
        let mut url = self.http_url(path);
        let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
        // The URL standard allows this change, because both schemes are special.
        let _ = url.set_scheme(scheme);
        url
    }

    /// The value of the `Authorization` header, if there is a token.
    pub fn authorization(&self) -> Option<String> {
        self.token.as_ref().map(|it| format!("Bearer {}", it.0))
    }
}

impl GatewayArgs {
    /// The WebSocket URL for agents of the app.
    pub fn agent_url(&self) -> Url {
        self.with_app(self.access.web_socket_url("abp"))
    }

    /// Adds the app to the URL, if an app is named.
    pub fn with_app(&self, mut url: Url) -> Url {
        if let Some(app) = &self.app {
            url.query_pairs_mut().append_pair("app", app);
        }
        url
    }
}

/// A token that never appears in a log.
#[derive(Clone)]
pub(super) struct Secret(String);

impl Secret {
    /// Accepts only characters that a header can carry. Refuses an empty token instead of treating it as no
    /// token.
    fn parse(text: &str) -> Result<Self, String> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Secret(text.to_string()))
        } else {
            Err("expected a token of printable ASCII without spaces".into())
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// `http://host:port`, with a path where the gateway is mounted below one; `ws` and `wss` mean the same.
pub(super) fn gateway_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| {
        format!("{error}; expected a URL such as http://127.0.0.1:8787 or https://gateway.example")
    })?;
    let scheme = match url.scheme() {
        "http" | "ws" => "http",
        "https" | "wss" => "https",
        other => {
            return Err(format!(
                "`{other}` is not a gateway's scheme; expected http or https"
            ));
        }
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a name or password in the URL is not used; give a --token".into());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("expected a URL without a query".into());
    }
    let _ = url.set_scheme(scheme);
    Ok(url)
}

#[cfg(test)]
mod tests;
