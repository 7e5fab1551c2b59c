//! Which callback URLs may be called.

use std::str::FromStr;

use url::Url;

/// A host that results may be sent to: `NAME`, `*.NAME` for every name below it, or an address. It
/// may have a port; without one it stands for all ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    name: String,
    below: bool,
    port: Option<u16>,
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected =
            || "expected a host such as runtime.example, *.example or [::1]:8080".to_string();
        let (below, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if rest.is_empty() || rest.contains(['/', '*', '@', '?', '#', ' ']) {
            return Err(expected());
        }
        // The URL drops a port that is the default, so the text says whether there is one.
        let url = Url::parse(&format!("http://{rest}/")).map_err(|_| expected())?;
        let written = rest
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok() && !rest.ends_with(']'));
        let name = url.host_str().ok_or_else(expected)?;
        Ok(AllowedHost {
            name: name.to_ascii_lowercase(),
            below,
            port: url.port_or_known_default().filter(|_| written),
        })
    }
}

impl AllowedHost {
    /// Whether it stands for the host of `url`.
    pub fn covers(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else {
            return false;
        };
        if self.port.is_some() && self.port != url.port_or_known_default() {
            return false;
        }
        if self.below {
            let prefix = host.strip_suffix(&*self.name);
            return prefix.is_some_and(|prefix| prefix.len() > 1 && prefix.ends_with('.'));
        }
        host == self.name
    }
}

/// What stands for a callback URL in logs: the rest of it may be a secret.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(allowed: &str, url: &str) -> bool {
        let allowed: AllowedHost = allowed.parse().unwrap();
        allowed.covers(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_host_covers_its_urls() {
        assert!(covers("a.example", "http://A.example/x?y"));
        assert!(covers("A.Example", "https://a.example:8443/"));
        assert!(covers("a.example:443", "https://a.example/"));
        assert!(covers("a.example:80", "http://a.example/"));
        assert!(covers("127.0.0.1:9", "http://127.0.0.1:9/"));
        assert!(covers("[::1]", "http://[::1]:9/") && covers("[::1]:9", "http://[::1]:9/"));
        assert!(covers("*.example", "http://a.b.example/"));
    }

    #[test]
    fn and_no_others() {
        assert!(!covers("a.example", "http://b.a.example/"));
        assert!(!covers("a.example", "http://a.example.evil/"));
        assert!(!covers("a.example:80", "https://a.example/"));
        assert!(!covers("*.example", "http://example/"));
        assert!(!covers("*.example", "http://badexample/"));
        assert!(!covers("a.example", "http://a.example@b.example/"));
    }

    #[test]
    fn what_is_no_host() {
        for bad in [
            "", "*", "*.", "http://a", "a/b", "a b", "u@a", "a:99999", "*.*.a",
        ] {
            assert!(bad.parse::<AllowedHost>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_log_shows_no_secret_of_a_url() {
        let url = Url::parse("https://user:pass@a.example:8443/secret?token=x").unwrap();
        assert_eq!(origin(&url), "https://a.example:8443");
    }
}
