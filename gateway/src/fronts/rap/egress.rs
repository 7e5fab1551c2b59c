//! Where requests may go whose URL a stranger has chosen: callback URLs, and endpoints that a tool
//! server names.
//!
//! Such a URL must not lead to what only this machine or its network can reach: a cloud's metadata, a
//! database, this gateway itself. What counts is the address a name stands for when the connection is
//! made, not before: whoever owns the name can change it in between (DNS rebinding). Redirects are not
//! followed, so nothing else has to be looked at.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;
use url::{Host, Url};

use crate::http_client;

/// Where results may be sent: a host, a network, or an origin.
///
/// A host is `NAME`, `*.NAME` for every name below it, or an address; it may have a port, and without
/// one stands for all ports. A network is an address with the length of its prefix. An origin is a
/// scheme with a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(Place);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Host {
        scheme: Option<&'static str>,
        name: String,
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
        // The URL drops a port that is the default, so the text says whether there is one.
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
    /// Whether it stands for the host of `url`, as far as that is known without asking for its name.
    fn covers(&self, url: &Url) -> bool {
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

    fn has(&self, address: IpAddr) -> bool {
        matches!(&self.0, Place::Network(network) if network.contains(&address))
    }

    fn is_network(&self) -> bool {
        matches!(self.0, Place::Network(_))
    }
}

/// Which of the URLs that strangers choose may be called.
#[derive(Clone, Debug)]
pub(super) struct Egress {
    allow: Vec<AllowedHost>,
    /// Whether all but internal addresses may be reached as well.
    public: bool,
    /// Whether this machine may be reached, too.
    loopback: bool,
}

impl Egress {
    /// Allows what `allow` names. If that names nothing, allows all but internal addresses; with
    /// `loopback`, also this machine.
    pub fn new(allow: Vec<AllowedHost>, loopback: bool) -> Self {
        let public = allow.is_empty();
        Egress {
            allow,
            public,
            loopback: public && loopback,
        }
    }

    /// Allows the host of `url`, and all but internal addresses.
    pub fn besides(url: &Url) -> Self {
        let host = Place::Host {
            scheme: None,
            name: url.host_str().unwrap_or_default().into(),
            below: false,
            port: None,
        };
        Egress {
            allow: vec![AllowedHost(host)],
            public: true,
            loopback: false,
        }
    }

    /// Whether `url` may be called, as far as that is known before its name is resolved.
    pub fn admits(&self, url: &Url) -> bool {
        let is_named = self.names(url);
        match literal(url) {
            Some(address) => is_named || self.takes(address),
            // A network is known by the addresses of the name.
            None => is_named || self.public || self.allow.iter().any(AllowedHost::is_network),
        }
    }

    /// Whether `url` is named, with its port and its scheme: its addresses do not matter then.
    fn names(&self, url: &Url) -> bool {
        self.allow.iter().any(|it| it.covers(url))
    }

    /// Whether a connection may be made to `address`, which the host of a URL stands for that is not
    /// named.
    fn reaches(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.takes(address) || self.allow.iter().any(|it| it.has(address))
    }

    fn takes(&self, address: IpAddr) -> bool {
        (self.public && !is_internal(address))
            || (self.loopback && address.to_canonical().is_loopback())
    }
}

/// Clients for URLs that have been admitted. There are two, as whoever resolves a name does not know
/// for which port and scheme.
#[derive(Debug)]
pub(super) struct Clients {
    pub egress: Arc<Egress>,
    named: Client,
    /// For those of which the addresses decide.
    others: Client,
}

impl Clients {
    /// With a timeout for a whole request.
    pub fn new(egress: Egress, timeout: Duration) -> Self {
        let egress = Arc::new(egress);
        let others = http_client::with(|builder| {
            let resolver = Arc::new(Resolver(egress.clone()));
            builder.timeout(timeout).dns_resolver(resolver)
        });
        Clients {
            named: http_client::client(timeout),
            others,
            egress,
        }
    }

    /// The client for that URL.
    pub fn to(&self, url: &Url) -> &Client {
        match self.egress.names(url) {
            true => &self.named,
            false => &self.others,
        }
    }
}

/// The address that stands in a URL in place of a name, however it is spelt there.
fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(IpAddr::from(address).to_canonical()),
    }
}

/// Whether an address is no public one: it belongs to this machine or its network, or to nobody.
fn is_internal(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_internal_v4(address),
        IpAddr::V6(address) => {
            is_internal_v6(address) || embedded(address).is_some_and(is_internal_v4)
        }
    }
}

fn is_internal_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        // This network (RFC 791), and what is reserved, with the address of broadcasts.
        || a == 0
        || a >= 240
        // Shared by a provider's customers (RFC 6598), protocol assignments (RFC 6890), and
        // measurements (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (18..20).contains(&b))
}

fn is_internal_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // What unique-local addresses have replaced (RFC 3879), and translation within one network
        // (RFC 8215).
        || address.segments()[0] & 0xffc0 == 0xfec0
        || address.segments()[..3] == [0x64, 0xff9b, 1]
        // Tunnels through NAT (Teredo, RFC 4380): who is at the other end is hidden in it.
        || address.segments()[..2] == [0x2001, 0]
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated (RFC 6052, and
/// before it RFC 2765), or tunnelled by 6to4 (RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(of(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(of(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

/// Resolves names to the addresses that may be connected to.
struct Resolver(Arc<Egress>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let egress = self.0.clone();
        Box::pin(async move {
            // The port is that of the URL.
            let found = lookup_host((name.as_str(), 0)).await?;
            let reached = found.filter(|it| egress.reaches(it.ip()));
            let reached: Vec<SocketAddr> = reached.collect();
            if reached.is_empty() {
                return Err(Forbidden.into());
            }
            Ok(Box::new(reached.into_iter()) as Addrs)
        })
    }
}

/// A name stands for no address that may be connected to.
#[derive(Debug)]
struct Forbidden;

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its name stands for an internal address")
    }
}

impl Error for Forbidden {}

/// Whether a request was not sent because of where its URL leads.
pub(super) fn is_forbidden(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(found) = cause {
        if found.is::<Forbidden>() {
            return true;
        }
        cause = found.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn egress(allow: &[&str], loopback: bool) -> Egress {
        let allow = allow.iter().map(|it| it.parse().unwrap());
        Egress::new(allow.collect(), loopback)
    }

    fn covers(allowed: &str, text: &str) -> bool {
        let allowed: AllowedHost = allowed.parse().unwrap();
        allowed.covers(&url(text))
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
        assert!(covers("https://a.example", "https://a.example:443/x"));
        assert!(covers("http://a.example:8080/", "http://a.example:8080/x"));
        assert!(covers("10.1.0.0/16", "http://10.1.2.3:9/"));
        assert!(covers("10.1.0.0/16", "http://[::ffff:10.1.2.3]/"));
        assert!(covers("fd00::/8", "http://[fd00::7]/"));
    }

    #[test]
    fn and_no_others() {
        assert!(!covers("a.example", "http://b.a.example/"));
        assert!(!covers("a.example", "http://a.example.evil/"));
        assert!(!covers("a.example:80", "https://a.example/"));
        assert!(!covers("*.example", "http://example/"));
        assert!(!covers("*.example", "http://badexample/"));
        assert!(!covers("a.example", "http://a.example@b.example/"));
        assert!(!covers("https://a.example", "http://a.example/"));
        assert!(!covers("https://a.example", "https://a.example:8443/"));
        assert!(!covers("10.1.0.0/16", "http://10.2.0.1/"));
        assert!(!covers("10.1.0.0/16", "http://a.example/"));
    }

    #[test]
    fn what_is_no_host() {
        for bad in [
            "",
            "*",
            "*.",
            "ftp://a",
            "http://a/b",
            "a/b",
            "a b",
            "u@a",
            "a:99999",
            "*.*.a",
            "10.0.0.0/33",
            "http://",
        ] {
            assert!(bad.parse::<AllowedHost>().is_err(), "{bad}");
        }
    }

    const INTERNAL: &[&str] = &[
        // Loopback, in all its spellings.
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://１２７.0.0.1/",
        "http://user@127.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[::ffff:0:127.0.0.1]/",
        "http://[2001:0:7f00:1::]/",
        // Whoever is behind a Teredo server, however public that is.
        "http://[2001::5db8:d822:0:0:80ff:fffe]/",
        // Private, shared and unique-local networks.
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://172.31.255.255/",
        "http://192.168.1.1/",
        "http://3232235777/",
        "http://100.64.0.1/",
        "http://198.18.0.1/",
        "http://[fc00::1]/",
        "http://[fd12:3456::1]/",
        "http://[fec0::1]/",
        "http://[::ffff:192.168.1.1]/",
        "http://[64:ff9b:1::1]/",
        // Link-local, such as a cloud's metadata.
        "http://169.254.169.254/latest/meta-data",
        "http://0xa9fea9fe/",
        "http://[fe80::1]/",
        "http://[::ffff:a9fe:a9fe]/",
        // Nobody in particular.
        "http://0.0.0.0/",
        "http://0/",
        "http://[::]/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://240.0.0.1/",
        "http://[ff02::1]/",
    ];

    #[test]
    fn internal_addresses_are_refused_however_they_are_spelt() {
        let strict = egress(&[], false);
        for internal in INTERNAL {
            assert!(!strict.admits(&url(internal)), "{internal}");
        }
        for public in [
            "http://93.184.216.34/",
            "https://runtime.example/callback",
            "http://172.32.0.1/",
            "http://100.128.0.1/",
            "http://[2606:2800:220:1::1]/",
            "http://[::ffff:93.184.216.34]/",
        ] {
            assert!(strict.admits(&url(public)), "{public}");
        }
    }

    #[test]
    fn a_gateway_for_this_machine_alone_reaches_this_machine_and_no_other_internal_address() {
        let local = egress(&[], true);
        for internal in INTERNAL {
            let address = literal(&url(internal)).unwrap();
            let is_here = address.is_loopback();
            assert_eq!(local.admits(&url(internal)), is_here, "{internal}");
        }
    }

    #[test]
    fn what_is_named_is_allowed_and_nothing_else() {
        let named = egress(&["runtime.internal", "10.1.0.0/16"], true);
        for (text, expected) in [
            ("http://runtime.internal/", true),
            ("http://10.1.2.3/", true),
            ("http://10.2.2.3/", false),
            ("http://127.0.0.1/", false),
            ("http://93.184.216.34/", false),
            // Its address decides.
            ("http://other.example/", true),
        ] {
            assert_eq!(named.admits(&url(text)), expected, "{text}");
        }
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(named.names(&url("http://runtime.internal/")));
        assert!(!named.names(&url("http://other.example/")));
        for (at, expected) in [
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("192.168.0.1", false),
            ("93.184.216.34", false),
        ] {
            assert_eq!(named.reaches(address(at)), expected, "{at}");
        }
    }

    #[test]
    fn the_host_of_a_server_may_be_internal_and_no_other() {
        let besides = Egress::besides(&url("http://127.0.0.1:2/rap"));
        for (text, expected) in [
            ("http://127.0.0.1:9/x", true),
            ("http://127.0.0.2/x", false),
            ("http://[::1]/x", false),
            ("http://10.0.0.1/", false),
            ("http://93.184.216.34/", true),
            // Its address decides.
            ("http://tools.example/", true),
        ] {
            assert_eq!(besides.admits(&url(text)), expected, "{text}");
        }
        assert!(besides.reaches("93.184.216.34".parse().unwrap()));
        assert!(!besides.reaches("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn a_port_and_a_scheme_count_although_a_network_is_allowed_too() {
        let named = egress(
            &["localhost:8080", "https://runtime.example", "10.1.0.0/16"],
            false,
        );
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        for (text, at, expected) in [
            ("http://localhost:8080/", "127.0.0.1", true),
            ("http://localhost:6379/", "127.0.0.1", false),
            ("http://localhost:6379/", "10.1.2.3", true),
            ("https://runtime.example/", "192.168.0.1", true),
            ("http://runtime.example/", "192.168.0.1", false),
            ("http://runtime.example/", "10.1.2.3", true),
        ] {
            let url = url(text);
            assert!(named.admits(&url), "a name says nothing yet");
            let reached = named.names(&url) || named.reaches(address(at));
            assert_eq!(reached, expected, "{text} {at}");
        }
    }

    /// `localhost` is a name that anybody could point at this machine.
    #[tokio::test]
    async fn a_name_that_resolves_to_an_internal_address_is_not_connected_to() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = url(&format!("http://localhost:{port}/"));
        let strict = egress(&[], false);
        assert!(strict.admits(&url), "a name says nothing yet");
        let server = Url::parse("http://127.0.0.1/").unwrap();
        for strict in [strict, Egress::besides(&server)] {
            let clients = Clients::new(strict, Duration::from_secs(5));
            let sent = clients.to(&url).get(url.clone()).send();
            let error = sent.await.unwrap_err();
            assert!(is_forbidden(&error), "{error:?}");
            let accepted = tokio::time::timeout(Duration::from_millis(50), listener.accept());
            assert!(accepted.await.is_err(), "it was connected to");
        }

        let clients = Clients::new(egress(&["localhost"], false), Duration::from_millis(500));
        let client = clients.to(&url);
        let (sent, accepted) = tokio::join!(client.get(url).send(), listener.accept());
        assert!(accepted.is_ok() && !is_forbidden(&sent.unwrap_err()));
    }
}
