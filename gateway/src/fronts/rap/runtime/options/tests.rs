use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: RuntimeConfig,
}

#[test]
fn defaults_are_those_of_the_limits() {
    let config = Line::parse_from(["serve"]).options;
    assert_eq!(config.limits, RuntimeLimits::default());
    assert!(config.servers.is_empty() && config.public.is_none());
}

#[test]
fn tool_servers_are_named_again_and_again_or_in_a_list() {
    let line = "serve --tool-server http://a/ --tool-server s@http://b,https://c";
    let config = Line::parse_from(line.split(' ')).options;
    let urls = config.servers.iter().map(|it| it.at("/x").to_string());
    assert_eq!(
        urls.collect::<Vec<_>>(),
        ["http://a/x", "http://b/x", "https://c/x"]
    );
}

#[test]
fn the_public_url_is_an_origin() {
    let config = RuntimeConfig {
        public: Some("https://Gateway.example:443/caphost/".parse().unwrap()),
        ..RuntimeConfig::default()
    };
    assert_eq!(
        config.public_origin().as_deref(),
        Some("https://gateway.example")
    );
}

fn server(text: &str) -> ToolServer {
    text.parse().unwrap()
}

#[test]
fn slashes_at_the_end_are_trimmed() {
    for base in ["http://a:1/rap", "http://a:1/rap/", "http://a:1/rap//"] {
        assert_eq!(server(base).at("/x").as_str(), "http://a:1/rap/x");
    }
    assert_eq!(server("https://a").at("/x").as_str(), "https://a/x");
}

#[test]
fn a_token_goes_to_its_own_server_only() {
    let server = server("s:e@c@http://a:1/rap");
    let to = |url: &str| {
        let url = Url::parse(url).unwrap();
        server.authorization(&url).cloned()
    };
    assert_eq!(to("http://a:1/invoke").unwrap(), "Bearer s:e@c");
    for other in ["http://a:2/invoke", "https://a:1/rap", "http://b:1/rap"] {
        assert_eq!(to(other), None, "{other}");
    }
    assert_eq!(format!("{server:?}"), r#""http://a:1/rap""#);
}

#[test]
fn a_url_may_hold_an_at_sign() {
    let server = server("http://a/@http://b");
    assert_eq!(server.authorization(server.base()), None);
    assert_eq!(server.at("/x").as_str(), "http://a/@http://b/x");
}

#[test]
fn what_is_no_tool_server() {
    for bad in [
        "",
        "a.example",
        "ftp://a",
        "@http://a",
        "http://user@a",
        "http://u:p@a",
        "http://a?x=1",
        "http://a#x",
        "a b@http://a",
        "é@http://a",
    ] {
        assert!(bad.parse::<ToolServer>().is_err(), "{bad}");
    }
}
