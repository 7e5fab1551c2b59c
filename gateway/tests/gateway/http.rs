use caphost_gateway::{Config, Tokens};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::http::HeaderValue;

use crate::request::bearer;
use crate::support::*;

/// Sends one request. Returns the head of the response in lower case, and the body.
async fn get(gateway: &Gateway, path: &str, headers: &str) -> (String, String) {
    let host = gateway.address;
    let host = if headers.contains("Host:") {
        String::new()
    } else {
        format!("Host: {host}\r\n")
    };
    let request = format!("GET {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n");
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    soon("a response", stream.read_to_end(&mut response))
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&response).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_and_the_package_are_served_safely() {
    let gateway = Gateway::start().await;
    let (head, body) = get(&gateway, "/", "").await;
    assert!(
        head.starts_with("http/1.1 200") && head.contains("content-type: text/html"),
        "{head}"
    );
    assert!(body.contains(r#"<link rel="abp-manifest" href="/abp.json" />"#));
    assert!(
        head.contains("x-content-type-options: nosniff") && head.contains("'wasm-unsafe-eval'")
    );
    assert!(head.contains("cache-control: no-cache"));
    let (head, _) = get(&gateway, "/caphost/index.js", "").await;
    assert!(head.contains("content-type: text/javascript"), "{head}");
    let (head, _) = get(&gateway, "/caphost/host.wasm", "").await;
    assert!(head.contains("content-type: application/wasm"), "{head}");
    for missing in [
        "/nothing",
        "/caphost/nothing",
        "/../Cargo.toml",
        "/..%2f..%2f..%2fCargo.toml",
        "/caphost/../../support.rs",
    ] {
        let (head, _) = get(&gateway, missing, "").await;
        assert!(!head.starts_with("http/1.1 200"), "{missing}: {head}");
    }
    for socket in ["/abp", "/abp/app"] {
        let (head, body) = get(&gateway, socket, "").await;
        assert!(head.starts_with("http/1.1 426"), "{head}");
        assert!(body.contains("INVALID_PARAMS"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_manifest_is_generated_from_what_is_registered() {
    let gateway = Gateway::start().await;
    let manifest = async |path: &str| {
        let (head, body) = get(&gateway, path, "").await;
        assert!(head.contains("content-type: application/json"));
        (
            head[9..12].to_string(),
            serde_json::from_str::<Value>(&body).unwrap(),
        )
    };
    assert_eq!(manifest("/abp.json").await.1["app"]["id"], "static");
    assert_eq!(
        manifest("/abp.json?app=static").await.1["app"]["id"],
        "static"
    );
    assert_eq!(manifest("/abp.json?app=other").await.0, "404");
    let _app = gateway.app("other").await;
    let (status, shown) = manifest("/abp.json").await;
    assert_eq!(status, "200");
    assert_eq!(
        shown,
        json!({
            "abp": "0.1",
            "app": { "id": "other", "name": "Demo", "version": "1.0.0" },
            "capabilities": [{ "name": "a.b", "description": "d", "inputSchema": {}, "outputSchema": {} }],
        })
    );
    let _third = gateway.app("third").await;
    assert_eq!(
        manifest("/abp.json?app=third").await.1["app"]["id"],
        "third"
    );
    assert_eq!(manifest("/abp.json").await.1["app"]["id"], "static");
    let _demo = gateway.app("caphost-demo").await;
    assert_eq!(manifest("/abp.json").await.1["app"]["id"], "caphost-demo");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_manifest_it_is_told_whether_an_app_is_missing_or_has_to_be_named() {
    let gateway = Gateway::with(Config {
        www: Config::default().www,
        ..config()
    })
    .await;
    let refused = async |path: &str, status: u16, code: &str, message: &str| {
        let answer = gateway.get(path, "").await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        let mut error = answer.json()["error"].take();
        assert_eq!(error["code"], code, "{path}");
        let said = error["message"].as_str().unwrap();
        assert!(said.starts_with(message), "{path}: {said}");
        error["details"].take()
    };
    refused("/abp.json", 404, "DISCONNECTED", "No app is connected").await;
    let _one = gateway.app("one").await;
    let _two = gateway.app("two").await;
    let none = "No app with id \"three\" is connected";
    refused("/abp.json?app=three", 404, "DISCONNECTED", none).await;
    let several = "Several apps are connected: name one with `?app=<id>`";
    let details = refused("/abp.json", 409, "INVALID_PARAMS", several).await;
    assert_eq!(details, json!({ "apps": ["one", "two"] }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_page_it_says_what_it_serves() {
    let gateway = Gateway::with(Config {
        www: Config::default().www,
        ..config()
    })
    .await;
    let page = gateway.get("/", "").await;
    assert_eq!(page.status, 404);
    for part in ["www/dist", "--www", "/abp/app", "/mcp", "/runs"] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let file = gateway.get("/file.js", "").await;
    assert_eq!(file.body, "Not found: there is no directory www/dist\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_name_that_is_refused_comes_with_the_option_that_allows_it() {
    let host = "Host: host.docker.internal:8787\r\n";
    let refused = get(&Gateway::start().await, "/healthz", host).await;
    assert!(refused.0.starts_with("http/1.1 403"), "{}", refused.0);
    let origin = "http://host.docker.internal";
    let option = format!("allow it with --allow-origin {origin}");
    assert!(refused.1.contains(&option), "{}", refused.1);
    let gateway = Gateway::with(Config {
        allow_origins: vec![origin.into()],
        ..config()
    })
    .await;
    let (head, _) = get(&gateway, "/healthz", host).await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_manifest_is_not_public_by_another_spelling() {
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(vec!["agent=secret".parse().unwrap()]),
        ..config()
    })
    .await;
    let (head, _) = get(&gateway, "/abp.json", "").await;
    assert!(head.starts_with("http/1.1 401"), "{head}");
    let (head, _) = get(&gateway, "/abp.json?token=secret", "").await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
    for spelling in [
        "/abp%2ejson",
        "/%61bp.json",
        "/%61bp%2E%6a%73on?app=x",
        "//abp.json",
        "/./abp.json",
        "/%2e/abp.json",
        "/abp.json/",
        "/ABP.json",
    ] {
        let (head, body) = get(&gateway, spelling, "").await;
        assert!(head.starts_with("http/1.1 404"), "{spelling}: {head}");
        assert!(!body.contains("static"), "{spelling}: {body}");
    }
    let (head, _) = get(&gateway, "/%69ndex.html", "").await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_token_is_shown_for_is_not_kept_by_anybody() {
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(vec!["agent=secret".parse().unwrap()]),
        ..config()
    })
    .await;
    for path in ["/api/runs", "/api/apps", "/abp.json", "/mcp/none"] {
        for token in ["", "Authorization: Bearer secret\r\n"] {
            let (head, _) = get(&gateway, path, token).await;
            assert!(head.contains("cache-control: no-store"), "{path}: {head}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_is_not_ours_is_refused() {
    let gateway = Gateway::start().await;
    let port = gateway.address.port();
    for (host, status) in [
        ("localhost", "200"),
        ("127.0.0.1", "200"),
        ("evil.example", "403"),
        ("10.0.0.1", "403"),
    ] {
        let (head, _) = get(&gateway, "/", &format!("Host: {host}:{port}\r\n")).await;
        assert_eq!(&head[9..12], status, "{host}");
    }
    let mut request = gateway.request("/abp");
    request
        .headers_mut()
        .insert("host", HeaderValue::from_static("evil.example"));
    assert_eq!(refused(request).await, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_connects_to_the_wrong_path_is_told_the_right_one() {
    let gateway = Gateway::start().await;
    let mut app = gateway.peer("/abp").await;
    app.send(register("demo")).await;
    let told = app.next().await["payload"]["error"]["message"].take();
    assert!(told.as_str().unwrap().contains("/abp/app"), "{told}");
    let mut agent = gateway.peer("/abp/app").await;
    let hello = json!({ "agent": { "name": "a", "version": "1" }, "protocolVersion": "0.1" });
    agent
        .send(json!({ "type": "initialize", "id": "1", "timestamp": 1, "payload": hello }))
        .await;
    let told = agent.next().await["payload"]["error"].take();
    let message = told["message"].as_str().unwrap();
    assert!(message.ends_with("/abp"), "{told}");
    assert_eq!(told["retryable"], false, "{told}");
}

async fn refused(request: tokio_tungstenite::tungstenite::handshake::client::Request) -> u16 {
    match Peer::open(request).await {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
        Ok(_) => 101,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_other_origins_may_not_connect_unless_allowed() {
    let gateway = Gateway::with(Config {
        allow_origins: vec!["https://app.example".into()],
        ..config()
    })
    .await;
    let port = gateway.address.port();
    let own = format!("http://127.0.0.1:{port}");
    let alias = format!("http://localhost:{port}");
    for (origin, status) in [
        (&*own, 101),
        (&*alias, 101),
        ("https://app.example", 101),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost:1", 403),
    ] {
        for path in ["/abp", "/abp/app"] {
            let mut request = gateway.request(path);
            request
                .headers_mut()
                .insert("origin", origin.parse().unwrap());
            assert_eq!(refused(request).await, status, "{origin} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_taken_wherever_a_client_can_put_them() {
    let tokens = ["app=for-apps", "agent=for-agents"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        ..config()
    })
    .await;
    let with = |path: &str, header: &'static str, value: &'static str| {
        let mut request = gateway.request(path);
        if !header.is_empty() {
            request
                .headers_mut()
                .insert(header, HeaderValue::from_static(value));
        }
        request
    };
    let protocol = "sec-websocket-protocol";
    assert_eq!(refused(with("/abp", "", "")).await, 401);
    assert_eq!(refused(with("/abp?token=for-apps", "", "")).await, 403);
    assert_eq!(refused(with("/abp?token=wrong", "", "")).await, 401);
    assert_eq!(
        refused(with("/abp", "authorization", "Basic for-agents")).await,
        401
    );
    assert_eq!(refused(with("/abp?token=for-agents", "", "")).await, 101);
    assert_eq!(
        refused(with("/abp", "authorization", "Bearer for-agents")).await,
        101
    );
    // The client insists on one of the protocols that it offered.
    assert_eq!(
        refused(with("/abp", protocol, "caphost.token.for-agents")).await,
        101
    );
    assert_eq!(
        refused(with("/abp", protocol, "abp, caphost.token.for-agents")).await,
        101
    );
    assert_eq!(
        refused(with("/abp/app?token=for-agents", "", "")).await,
        403
    );

    let mut late = gateway.peer("/abp/app").await;
    let mut message = register("demo");
    message["payload"]["token"] = json!("for-apps");
    late.send(message).await;
    assert_eq!(late.next().await["type"], "app/registered");
    let mut early = gateway.peer("/abp/app?token=for-apps").await;
    early.send(register("demo")).await;
    assert_eq!(early.next().await["type"], "app/registered");
    let mut none = gateway.peer("/abp/app").await;
    none.send(register("demo")).await;
    assert_eq!(code(&none.next().await), "PERMISSION_DENIED");
    assert_eq!(none.closed().await, 1008);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_which_sees_no_status_is_told_over_the_socket_that_its_token_is_refused() {
    let tokens = ["app=for-apps", "agent=for-agents"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        ..config()
    })
    .await;
    let opened = async |path: &str, name: &'static str, value: &'static str| {
        let mut request = gateway.request(path);
        let value = HeaderValue::from_static(value);
        request.headers_mut().insert(name, value);
        Peer::open(request).await.unwrap()
    };
    let peer = async |path: &str| opened(path, "user-agent", "Mozilla/5.0 (X11)").await;
    for (path, why) in [
        ("/abp", "No token was given"),
        ("/abp?token=wrong", "The gateway does not know this token"),
        ("/abp?token=for-apps", "This token has another role"),
    ] {
        let mut agent = peer(path).await;
        agent.send(request("initialize", "i", json!({}))).await;
        let answer = agent.next().await;
        assert_eq!(answer["type"], "initialize-result");
        assert_eq!(answer["id"], "i");
        let error = &answer["payload"]["error"];
        assert_eq!(error["code"], "PERMISSION_DENIED");
        assert_eq!(error["retryable"], false);
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(why), "{message}");
        assert!(message.contains("--token agent=…"), "{message}");
        assert_eq!(agent.closed().await, 1008);
    }
    let mut app = peer("/abp/app?token=wrong").await;
    app.send(register("demo")).await;
    let answer = app.next().await;
    assert_eq!(answer["type"], "app/refused");
    assert_eq!(code(&answer), "PERMISSION_DENIED");
    assert_eq!(app.closed().await, 1008);
    let mut node = opened("/abp", "sec-fetch-mode", "websocket").await;
    node.send(request("initialize", "i", json!({}))).await;
    assert_eq!(code(&node.next().await), "PERMISSION_DENIED");
    // A frame that is not a message gets no answer.
    let mut odd = peer("/abp").await;
    odd.text("no JSON").await;
    assert_eq!(odd.closed().await, 1008);
    let mut good = peer("/abp?token=for-agents").await;
    good.send(request("initialize", "i", json!({}))).await;
    assert_eq!(code(&good.next().await), "DISCONNECTED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_are_tokens_the_manifest_needs_one() {
    let tokens = ["app=app", "agent=agent", "agent@other=other"];
    let tokens: Vec<_> = tokens.iter().map(|it| it.parse().unwrap()).collect();
    for public_manifest in [false, true] {
        let gateway = Gateway::with(Config {
            tokens: Tokens::new(tokens.clone()),
            public_manifest,
            ..config()
        })
        .await;
        let mut app = gateway.peer("/abp/app").await;
        let mut message = register("demo");
        message["payload"]["token"] = json!("app");
        app.send(message).await;
        assert_eq!(app.next().await["type"], "app/registered");
        for (token, alone) in [
            ("", 401),
            ("wrong", 401),
            ("agent", 200),
            ("app", 200),
            ("other", 403),
        ] {
            let header = format!("Authorization: Bearer {token}\r\n");
            let answer = gateway.get("/abp.json?app=demo", &header).await;
            let expected = if public_manifest { 200 } else { alone };
            assert_eq!(answer.status, expected, "{token:?} {}", answer.body);
            assert_eq!(
                answer.body.contains("a.b"),
                expected == 200,
                "{}",
                answer.body
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_or_origin_that_is_not_ascii_is_refused_as_such() {
    let gateway = Gateway::start().await;
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (path, headers) in [
        ("/api/runs", ""),
        ("/mcp", ""),
        ("/rap/invoke", ""),
        ("/cancellation/status/x", ""),
        ("/", ""),
        ("/abp", upgrade),
        ("/jsonrpc", upgrade),
    ] {
        for (name, value) in [
            ("Origin", "http://\u{e9}vil.example"),
            ("Origin", "\u{e9}"),
            ("Host", "\u{e9}vil.example"),
        ] {
            let headers = format!("{headers}{name}: {value}\r\n");
            let (head, body) = get(&gateway, path, &headers).await;
            let why = format!("{path} {name}: {value}: {head} {body}");
            assert!(head.starts_with("http/1.1 400"), "{why}");
            assert!(body.contains(&format!("`{name}` is not ASCII")), "{why}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_that_cannot_be_read_is_not_taken_for_a_missing_one() {
    let tokens = ["admin=s\u{e9}cret", "app=p"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        ..config()
    })
    .await;
    let told = gateway.get("/api/runs", &bearer("wr\u{f6}ng")).await;
    assert_eq!(told.status, 401);
    let known = bearer("s\u{e9}cret");
    assert_eq!(gateway.get("/api/runs", &known).await.status, 200);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    for accept in ["\u{e9}", "text/\u{e9}, image/png"] {
        let headers = format!("{known}Accept: {accept}\r\n");
        let told = gateway.post("/mcp", &headers, &ping).await;
        assert_eq!(told.status, 406, "{accept}: {}", told.body);
    }
    let headers = format!("{known}Accept: text/\u{e9}, application/json\r\n");
    let told = gateway.post("/mcp", &headers, &ping).await;
    assert_ne!(told.status, 406, "{}", told.body);
}
