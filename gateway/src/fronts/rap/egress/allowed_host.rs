//! The values of `--rap-callback-allow`.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;
use url::Url;

use super::addresses::literal;

/// An allowed target for results: a host, a network, or an origin.
///
/// A host is `NAME`, `*.NAME` for every name below it, or an address. A host may have a port. Without a port,
/// all ports are allowed. A network is an address with the length of its prefix. An origin is a scheme with a
/// host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(Place);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Host {
        scheme: Option<&'static str>,
        name: String,
        /// Whether this stands for every name below the host.
        below: bool,
        port: Option<u16>,
    },
    Network(IpNet),
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(network) = text.parse() {
            return Ok(AllowedHost(Place::Network(network)));
        }
        let expected = || {
            "expected a host, a network or an origin, such as runtime.example, *.example, \
             [::1]:8080, 10.1.0.0/16 or https://runtime.example"
                .to_string()
        };
        let (scheme, rest) = match text.split_once("://") {
            Some(("http", rest)) => (Some("http"), rest.trim_end_matches('/')),
            Some(("https", rest)) => (Some("https"), rest.trim_end_matches('/')),
            Some(_) => return Err(expected()),
            None => (None, text),
        };
        let (below, rest) = match rest.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        if rest.is_empty() || rest.contains(['/', '\\', '*', '@', '?', '#', ' ']) {
            return Err(expected());
        }
        let url = Url::parse(&format!("{}://{rest}/", scheme.unwrap_or("http")));
        let url = url.map_err(|_| expected())?;
        // The URL drops the default port, so the original text tells whether there is a port.
        let written = rest
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok() && !rest.ends_with(']'));
        Ok(AllowedHost(Place::Host {
            scheme,
            name: url.host_str().ok_or_else(expected)?.to_ascii_lowercase(),
            below,
            port: url
                .port_or_known_default()
                .filter(|_| written || scheme.is_some()),
        }))
    }
}

impl AllowedHost {
    /// The host of `url`, with every port.
    pub(super) fn of(url: &Url) -> Self {
        AllowedHost(Place::Host {
            scheme: None,
            name: url.host_str().unwrap_or_default().into(),
            below: false,
            port: None,
        })
    }

    /// Whether this allows the host of `url`. The host's name is not resolved.
    pub(super) fn covers(&self, url: &Url) -> bool {
        match &self.0 {
            Place::Network(network) => {
                literal(url).is_some_and(|address| network.contains(&address))
            }
            Place::Host {
                scheme,
                name,
                below,
                port,
            } => {
                scheme.is_none_or(|scheme| scheme == url.scheme())
                    && port.is_none_or(|port| Some(port) == url.port_or_known_default())
                    && url.host_str().is_some_and(|host| match below {
                        true => host
                            .strip_suffix(&**name)
                            .is_some_and(|prefix| prefix.len() > 1 && prefix.ends_with('.')),
                        false => host == name,
                    })
            }
        }
    }

    /// Whether this is a network that contains the address.
    pub(super) fn has(&self, address: IpAddr) -> bool {
        matches!(&self.0, Place::Network(network) if network.contains(&address))
    }

    /// Whether this is a network.
    pub(super) fn is_network(&self) -> bool {
        matches!(self.0, Place::Network(_))
    }
}

#[cfg(test)]
mod tests;
