use super::*;

#[test]
fn a_host_is_a_name_or_an_address_with_a_port_or_without() {
    for host in [
        "localhost",
        "LocalHost:80",
        "a_b.example.:8080",
        "127.0.0.1",
        "[::1]",
        "[::1]:8787",
        "a:",
        "",
    ] {
        assert!(is_host(host), "{host}");
    }
    for host in [
        "localhost:80, evil",
        "localhost, evil",
        "localhost:80,evil",
        "localhost:80@evil",
        "me@localhost",
        "localhost:evil",
        "localhost:1:2",
        "localhost:80/x",
        "localhost:99999",
        "[::1]evil",
        "[::1",
        "local host",
    ] {
        assert!(!is_host(host), "{host}");
    }
}

#[test]
fn framing_is_part_of_whatever_policy_there_is() {
    let own = FrameAncestors::default();
    let with = |ancestors: &FrameAncestors, policy: Option<&'static str>| {
        let policy = ancestors.in_policy(policy.map(HeaderValue::from_static));
        policy.unwrap().map(|it| it.to_str().unwrap().to_string())
    };
    let said = with(&own, Some("default-src 'self'"));
    assert_eq!(
        said.as_deref(),
        Some("default-src 'self'; frame-ancestors 'self'")
    );
    assert_eq!(with(&own, None).as_deref(), Some("frame-ancestors 'self'"));
    let theirs = Some("frame-ancestors https://a.example");
    assert_eq!(with(&own, theirs).as_deref(), theirs);
    let anybody = FrameAncestors::new("").unwrap();
    assert_eq!(with(&anybody, None), None);
    assert_eq!(
        (own.in_header().unwrap(), anybody.in_header()),
        ("SAMEORIGIN".parse().unwrap(), None)
    );
    assert!(FrameAncestors::new("'self'; script-src *").is_err());
}
