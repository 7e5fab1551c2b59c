use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn egress(allow: &[&str], others: Others) -> Egress {
    let allow = allow.iter().map(|it| it.parse().unwrap());
    Egress::new(allow.collect(), others)
}

const INTERNAL: &[&str] = &[
    // Loopback in all its spellings.
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
    // A host behind a Teredo server, even if the server is public.
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
    // Link-local addresses, for example a cloud's metadata.
    "http://169.254.169.254/latest/meta-data",
    "http://0xa9fea9fe/",
    "http://[fe80::1]/",
    "http://[::ffff:a9fe:a9fe]/",
    // Addresses that belong to nobody in particular.
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
    let strict = egress(&[], Others::Public);
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
    let local = egress(&[], Others::PublicAndLoopback);
    for internal in INTERNAL {
        let address = literal(&url(internal)).unwrap();
        let is_here = address.is_loopback();
        assert_eq!(local.admits(&url(internal)), is_here, "{internal}");
    }
}

#[test]
fn what_is_named_is_allowed_and_nothing_else() {
    let named = egress(
        &["runtime.internal", "10.1.0.0/16"],
        Others::PublicAndLoopback,
    );
    for (text, expected) in [
        ("http://runtime.internal/", true),
        ("http://10.1.2.3/", true),
        ("http://10.2.2.3/", false),
        ("http://127.0.0.1/", false),
        ("http://93.184.216.34/", false),
        // The address decides.
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
        // The address decides.
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
        Others::Public,
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

/// Anybody could point the name `localhost` at this machine.
#[tokio::test]
async fn a_name_that_resolves_to_an_internal_address_is_not_connected_to() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = url(&format!("http://localhost:{port}/"));
    let strict = egress(&[], Others::Public);
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

    let clients = Clients::new(
        egress(&["localhost"], Others::Public),
        Duration::from_millis(500),
    );
    let client = clients.to(&url);
    let (sent, accepted) = tokio::join!(client.get(url).send(), listener.accept());
    assert!(accepted.is_ok() && !is_forbidden(&sent.unwrap_err()));
}
