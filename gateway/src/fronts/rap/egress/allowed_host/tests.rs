use super::*;

fn covers(allowed: &str, text: &str) -> bool {
    let allowed: AllowedHost = allowed.parse().unwrap();
    allowed.covers(&Url::parse(text).unwrap())
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
