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
mod tests {
    use super::*;

    #[test]
    fn on_loopback_only_loopback_names_are_ours() {
        let guard = Guard::new(
            8787,
            true,
            false,
            "127.0.0.1",
            &["https://app.example".into()],
        );
        for ours in [
            "localhost:8787",
            "127.0.0.1:8787",
            "127.9.9.9",
            "[::1]:8787",
            "LOCALHOST",
            "demo.localhost:1",
            "app.example",
        ] {
            assert!(guard.accepts_host(ours), "{ours}");
        }
        for foreign in [
            "evil.example:8787",
            "192.168.1.2:8787",
            "localhost.evil.example",
            "",
            "127.0.0.1.evil.example",
            "[::2]:8787",
            "[::1",
            "evillocalhost",
        ] {
            assert!(!guard.accepts_host(foreign), "{foreign}");
        }
    }

    #[test]
    fn elsewhere_addresses_are_ours_and_names_must_be_known() {
        let guard = Guard::new(80, false, false, "gateway.example", &[]);
        assert!(guard.accepts_host("192.168.1.2") && guard.accepts_host("gateway.example:80"));
        assert!(!guard.accepts_host("evil.example"));
    }

    #[test]
    fn origins_are_our_own_loopback_of_our_port_or_allowed() {
        let guard = Guard::new(
            8787,
            true,
            false,
            "127.0.0.1",
            &["https://app.example".into(), "null".into()],
        );
        let host = "127.0.0.1:8787";
        for ours in [
            "http://127.0.0.1:8787",
            "http://localhost:8787",
            "http://[::1]:8787",
            "https://APP.example",
            "null",
        ] {
            assert!(guard.accepts_origin(ours, host), "{ours}");
        }
        for foreign in [
            "http://evil.example",
            "http://evil.example:8787",
            "http://localhost:9000",
            "http://localhost",
            "https://app.example.evil",
            "file://",
            "",
            "http://127.0.0.1:8787.evil.example",
        ] {
            assert!(!guard.accepts_origin(foreign, host), "{foreign}");
        }
        let plain = Guard::new(80, true, false, "localhost", &[]);
        assert!(plain.accepts_origin("http://localhost", "127.0.0.1"));
        assert!(!plain.accepts_origin("null", "127.0.0.1"));
    }

    #[test]
    fn an_allowed_origin_may_name_the_port_that_browsers_leave_out() {
        let allowed = [
            "https://A.example:443",
            "HTTP://b.example:80",
            "https://c.example:80",
            "http://[::4]:80",
        ];
        let guard = Guard::new(8787, true, false, "127.0.0.1", &allowed.map(Into::into));
        let accepts = |origin| guard.accepts_origin(origin, "127.0.0.1:8787");
        for ours in [
            "https://a.example",
            "https://a.example:443",
            "http://b.example",
            "https://c.example:80",
            "http://[::4]",
        ] {
            assert!(accepts(ours), "{ours}");
        }
        for foreign in ["http://a.example", "https://b.example", "https://c.example"] {
            assert!(!accepts(foreign), "{foreign}");
        }
        assert!(guard.accepts_host("a.example"));
    }

    #[test]
    fn with_tls_only_https_origins_are_our_own() {
        let allowed = ["http://app.example".into()];
        let guard = Guard::new(8443, false, true, "gateway.example", &allowed);
        let host = "gateway.example:8443";
        for ours in [
            "https://gateway.example:8443",
            "https://localhost:8443",
            "http://app.example",
        ] {
            assert!(guard.accepts_origin(ours, host), "{ours}");
        }
        for foreign in ["http://gateway.example:8443", "http://localhost:8443"] {
            assert!(!guard.accepts_origin(foreign, host), "{foreign}");
        }
        let standard = Guard::new(443, false, true, "gateway.example", &[]);
        assert!(standard.accepts_origin("https://gateway.example", "gateway.example"));
        let proxied = Guard::new(8787, false, false, "gateway.example", &[]);
        assert!(proxied.accepts_origin("https://gateway.example", "gateway.example"));
    }

    #[test]
    fn an_allowed_origin_is_a_scheme_and_a_host() {
        assert_eq!(
            parse_origin("https://a.example/").as_deref(),
            Ok("https://a.example")
        );
        assert!(parse_origin("chrome-extension://abc").is_ok() && parse_origin("null").is_ok());
        for bad in [
            "*",
            "a.example",
            "https://",
            "https://*.example",
            "https://a/b",
            "://a",
        ] {
            assert!(parse_origin(bad).is_err(), "{bad}");
        }
    }
}
