use caphost_gateway::Config;

use crate::support::*;

const ALLOWED: &str = "https://app.example";

async fn gateway() -> Gateway {
    Gateway::with(Config {
        allow_origins: vec![ALLOWED.into()],
        ..config()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_foreign_origin_may_have_files_and_nothing_else() {
    let gateway = gateway().await;
    let own = format!("http://127.0.0.1:{}", gateway.address.port());
    let foreign = [
        "https://evil.example",
        "null",
        "http://localhost:1",
        "nonsense",
    ];
    // The interfaces that a page may call, with the status of a request without an Origin.
    for (method, path) in [
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
        ("GET", "/abp"),
        ("POST", "/abp"),
        ("GET", "/abp/app"),
        ("OPTIONS", "/readyz"),
        ("DELETE", "/readyz"),
        ("GET", "/api/runs"),
        ("POST", "/cancellation/cancel"),
        ("GET", "/jsonrpc"),
        ("POST", "/mcp"),
        ("DELETE", "/mcp"),
        ("GET", "/.well-known/rap-toolset"),
        ("POST", "/close_thread"),
        ("POST", "/rap/demo/cancel_tool_call"),
    ] {
        let plain = gateway.ask(method, path, "", "").await.status;
        assert_ne!(plain, 403, "{method} {path}");
        for origin in foreign {
            let answer = gateway
                .ask(method, path, &format!("Origin: {origin}\r\n"), "")
                .await;
            assert_eq!(answer.status, 403, "{origin} {method} {path}");
            assert!(answer.body.contains("may not connect"), "{}", answer.body);
            let allowed = answer.header("access-control-allow-origin");
            assert_eq!(allowed, None, "{origin} {method} {path}");
        }
        for origin in [&*own, ALLOWED] {
            let answer = gateway
                .ask(method, path, &format!("Origin: {origin}\r\n"), "")
                .await;
            assert_eq!(answer.status, plain, "{origin} {method} {path}");
            let allowed = answer.header("access-control-allow-origin");
            assert_eq!(allowed, Some(origin), "{method} {path}");
        }
    }
    for path in ["/", "/caphost/index.js", "/abp.json"] {
        for origin in foreign {
            let answer = gateway.get(path, &format!("Origin: {origin}\r\n")).await;
            assert_eq!(answer.status, 200, "{origin} {path}");
            // A script of another origin may not read the answer.
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
        let answer = gateway.get(path, &format!("Origin: {ALLOWED}\r\n")).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(ALLOWED));
        assert!(
            answer
                .header("vary")
                .is_some_and(|vary| vary.contains("origin"))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_allowed_origin_is_told_what_it_may_send_and_read() {
    let gateway = gateway().await;
    let asked = format!(
        "Origin: {ALLOWED}\r\nAccess-Control-Request-Method: POST\r\n\
         Access-Control-Request-Headers: authorization,mcp-session-id\r\n\
         Access-Control-Request-Private-Network: true\r\n"
    );
    let preflight = gateway.ask("OPTIONS", "/metrics", &asked, "").await;
    assert_eq!(preflight.status, 200);
    let lists = |name: &str, expected: &[&str]| {
        let listed: Vec<_> = preflight.header(name).unwrap().split(',').collect();
        for item in expected {
            assert!(listed.contains(item), "{name}: {listed:?}");
        }
    };
    lists("access-control-allow-origin", &[ALLOWED]);
    lists("access-control-allow-methods", &["get", "post", "delete"]);
    lists(
        "access-control-allow-headers",
        &[
            "authorization",
            "content-type",
            "mcp-session-id",
            "mcp-protocol-version",
            "mcp-method",
            "mcp-name",
            "last-event-id",
        ],
    );
    lists("access-control-allow-private-network", &["true"]);
    // The gateway uses no cookies.
    assert_eq!(preflight.header("access-control-allow-credentials"), None);
    let answer = gateway
        .get("/readyz", &format!("Origin: {ALLOWED}\r\n"))
        .await;
    let exposed = answer.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("mcp-session-id"), "{exposed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_can_be_read_in_two_ways_is_refused_on_every_route() {
    let gateway = gateway().await;
    let own = format!("127.0.0.1:{}", gateway.address.port());
    let origin = format!("Origin: http://{own}\r\n");
    let twice = [
        format!("Host: {own}\r\n"),
        "Host: evil.example\r\n".into(),
        format!("{origin}{origin}"),
        format!("{origin}Origin: https://evil.example\r\n"),
    ];
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/caphost/index.js"),
        ("GET", "/nothing"),
        ("GET", "/healthz"),
        ("GET", "/metrics"),
        ("GET", "/abp"),
        ("OPTIONS", "/abp/app"),
        ("GET", "/api/runs"),
        ("POST", "/cancellation/cancel"),
        ("GET", "/jsonrpc"),
        ("POST", "/mcp"),
        ("OPTIONS", "/mcp"),
        ("GET", "/.well-known/rap-toolset"),
        ("POST", "/rap/demo/cancel_tool_call"),
    ] {
        let plain = gateway.ask(method, path, "", "").await.status;
        assert_ne!(plain, 400, "{method} {path}");
        for headers in &twice {
            let answer = gateway.ask(method, path, headers, "").await;
            assert_eq!(answer.status, 400, "{headers} {method} {path}");
            assert!(answer.body.contains("more than one"), "{}", answer.body);
        }
        for other in [
            "evil.example",
            "127.0.0.1:1",
            "localhost",
            &*format!("a@{own}"),
        ] {
            let target = format!("http://{other}{path}");
            let answer = gateway.ask(method, &target, "", "").await;
            assert_eq!(answer.status, 400, "{method} {target}");
            assert!(answer.body.contains("target"), "{}", answer.body);
        }
        let target = format!("http://{own}{path}");
        let answer = gateway.ask(method, &target, "", "").await;
        assert_eq!(answer.status, plain, "{method} {target}");
    }
    let answer = gateway
        .ask(
            "POST",
            "/mcp",
            &twice[0],
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
        )
        .await;
    assert!(answer.json()["error"]["code"].is_i64(), "{}", answer.body);
}
