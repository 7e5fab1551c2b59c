use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    gateway: GatewayArgs,
}

fn parse(arguments: &[&str]) -> Result<GatewayArgs, clap::Error> {
    Line::try_parse_from([&["x"], arguments].concat()).map(|line| line.gateway)
}

#[test]
fn urls_are_those_of_the_gateway() {
    for (given, http, agent) in [
        (
            "http://127.0.0.1:8787",
            "http://127.0.0.1:8787/api/runs",
            "ws://127.0.0.1:8787/abp?app=a+b",
        ),
        (
            "wss://example.com/below/",
            "https://example.com/below/api/runs",
            "wss://example.com/below/abp?app=a+b",
        ),
    ] {
        let args = parse(&["--gateway", given, "--app", "a b"]).unwrap();
        assert_eq!(args.access.http_url("api/runs").as_str(), http);
        assert_eq!(args.agent_url().as_str(), agent);
    }
}

#[test]
fn a_gateway_is_a_url_and_a_token_fits_a_header() {
    for bad in [
        "",
        "localhost",
        "localhost:8787",
        "ftp://a",
        "http://",
        "http://a:b@c",
        "http://a/?app=b",
    ] {
        assert!(parse(&["--gateway", bad]).is_err(), "{bad}");
    }
    for bad in ["", "a b", "ü", "a\n"] {
        assert!(parse(&["--token", bad]).is_err(), "{bad:?}");
    }
}

#[test]
fn a_token_is_not_shown() {
    let args = parse(&["--token", "hush"]).unwrap();
    assert!(!format!("{args:?}").contains("hush"));
    assert_eq!(args.access.authorization().as_deref(), Some("Bearer hush"));
}
