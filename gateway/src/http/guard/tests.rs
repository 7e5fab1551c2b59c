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
