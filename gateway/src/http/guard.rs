//! Who may reach the gateway from a browser, by `Host` and `Origin`.

use std::net::IpAddr;

/// The names and origins accepted.
#[derive(Clone, Debug)]
pub struct Guard {
    port: u16,
    loopback: bool,
    tls: bool,
    names: Vec<String>,
    /// As browsers send them.
    origins: Vec<String>,
}

impl Guard {
    /// The guard of a gateway on `port`, bound to a loopback address or not, with TLS or not. Besides the
    /// gateway's own, `origins` may connect, and their hosts count as names of the gateway.
    pub fn new(port: u16, loopback: bool, tls: bool, host: &str, origins: &[String]) -> Self {
        let origins: Vec<_> = origins
            .iter()
            .map(|origin| without_default_port(&origin.to_ascii_lowercase()).to_string())
            .collect();
        let hosts = origins
            .iter()
            .filter_map(|origin| Some(name_of(origin.split_once("://")?.1)));
        let mut names: Vec<_> = hosts.map(str::to_string).collect();
        names.push(host.to_ascii_lowercase());
        Guard {
            port,
            loopback,
            tls,
            names,
            origins,
        }
    }

    /// Whether a request's `Host` is a name of the gateway. A page whose own name was rebound to the
    /// gateway's address sends that name.
    pub fn accepts_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let name = name_of(&host);
        if let Some(address) = address_of(name) {
            // An address cannot be rebound.
            return !self.loopback || address.is_loopback() || self.is_named(name);
        }
        is_localhost(name) || self.is_named(name)
    }

    /// The scheme of the gateway's own origins.
    pub fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    /// Whether a page of `origin` may connect, in a request to `host`. A gateway with TLS has
    /// only https origins of its own; one without may have https origins too, through a proxy.
    pub fn accepts_origin(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        let sent = without_default_port(&origin);
        if self.origins.iter().any(|known| known == sent) {
            return true;
        }
        let plain = origin.strip_prefix("http://").filter(|_| !self.tls);
        let Some(authority) = plain.or_else(|| origin.strip_prefix("https://")) else {
            return false;
        };
        if authority == host.to_ascii_lowercase() {
            return true;
        }
        let name = name_of(authority);
        let default_port = if origin.starts_with("https:") {
            443
        } else {
            80
        };
        let port = match &authority[name.len()..] {
            "" => Some(default_port),
            port => port.strip_prefix(':').and_then(|port| port.parse().ok()),
        };
        let loopback = is_localhost(name) || address_of(name).is_some_and(|it| it.is_loopback());
        loopback && port == Some(self.port)
    }

    fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// Checks a value of `--allow-origin`.
pub fn parse_origin(text: &str) -> Result<String, String> {
    let origin = text.strip_suffix('/').unwrap_or(text);
    let named = origin.split_once("://").is_some_and(|(scheme, host)| {
        !scheme.is_empty() && !host.is_empty() && !host.contains(['/', '*', ' '])
    });
    if named || origin == "null" {
        return Ok(origin.to_string());
    }
    Err("expected an origin such as https://example.com:8443".into())
}

/// The origin in small letters, without the default port of its scheme, as browsers send it.
fn without_default_port(origin: &str) -> &str {
    let port = match origin.split_once("://") {
        Some(("http", _)) => ":80",
        Some(("https", _)) => ":443",
        _ => return origin,
    };
    origin.strip_suffix(port).unwrap_or(origin)
}

/// `host` without its port.
pub(super) fn name_of(host: &str) -> &str {
    if host.starts_with('[') {
        return host.find(']').map_or(host, |end| &host[..=end]);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

fn address_of(name: &str) -> Option<IpAddr> {
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    match bare {
        Some(v6) => v6.parse().ok().map(IpAddr::V6),
        None => name.parse().ok().map(IpAddr::V4),
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests;
