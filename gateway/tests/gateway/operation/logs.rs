use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::Child;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::binary::{caphost, port_of, serve};
use crate::support::*;

async fn peer(port: u16, path: &str) -> Peer {
    let url = format!("ws://127.0.0.1:{port}{path}");
    Peer::open(url.into_client_request().unwrap())
        .await
        .unwrap()
}

/// Ends the process. Returns its output on standard error.
async fn said(mut child: Child) -> String {
    let pid = child.id().unwrap().to_string();
    let kill = std::process::Command::new("kill").arg(pid).status();
    assert!(kill.unwrap().success());
    let mut text = String::new();
    let mut stderr = child.stderr.take().unwrap();
    soon("the log", stderr.read_to_string(&mut text))
        .await
        .unwrap();
    child.wait().await.unwrap();
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_end_of_a_call_and_every_cancel_is_a_line_of_json_without_secrets() {
    let arguments = "serve --port 0 --log info --log-format json \
        --token app=hidden-app --token agent=hidden-agent --token admin=hidden-admin";
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let (child, ready) = serve(caphost(&arguments)).await;
    let port = port_of(&ready);
    let mut app = peer(port, "/abp/app?token=hidden-app").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut agent = peer(port, "/abp?token=hidden-agent").await;
    agent.initialize(&mut app).await;

    let with_params = |id: &str| {
        let mut call = call(id, id);
        call["payload"]["params"] = json!({ "password": "hidden-parameter" });
        call
    };
    agent.send(with_params("done")).await;
    let called = app.next().await;
    let response = json!({ "success": true, "data": "hidden-result" });
    app.send(answer(&called, "capabilities/call-result", response))
        .await;
    agent.next().await;
    agent.send(with_params("undone")).await;
    let called = app.next().await;
    let mut message = cancel("x", "undone");
    message["payload"]["reason"] = json!("hidden-reason");
    agent.send(message).await;
    let cancelled = app.next().await;
    let confirmation = json!({ "callId": "undone", "cancelled": true });
    app.send(answer(
        &cancelled,
        "capabilities/cancel-result",
        confirmation,
    ))
    .await;
    let response = json!({ "success": false, "cancelled": true });
    app.send(answer(&called, "capabilities/call-result", response))
        .await;
    agent.next().await;
    agent.next().await;

    let text = said(child).await;
    assert!(!text.contains("hidden"), "{text}");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")))
        .collect();
    let of = |message: &str| -> Vec<&Value> {
        lines
            .iter()
            .filter(|line| line["message"] == message)
            .collect()
    };
    let ends = of("run ended");
    assert_eq!(ends.len(), 2, "{text}");
    for (end, outcome, cancel) in [
        (ends[0], "completed", Value::Null),
        (ends[1], "cancelled", json!("confirmed")),
    ] {
        assert_eq!(end["level"], "INFO");
        assert_eq!(
            [
                &end["dialect"],
                &end["owner"],
                &end["app"],
                &end["capability"]
            ],
            ["abp", "agent-1", "demo", "a.b"]
        );
        assert_eq!(
            (&end["outcome"], &end["cancel"]),
            (&json!(outcome), &cancel)
        );
        assert!(end["agent"].is_string(), "{end}");
        assert!(
            end["duration_ms"].is_u64() && end["run"].is_string(),
            "{end}"
        );
    }
    assert_eq!(
        [&ends[0]["call_id"], &ends[1]["call_id"]],
        ["done", "undone"]
    );
    assert!(of("run started").is_empty(), "that is for debugging");
    let stopped = of("stopped");
    assert_eq!(stopped.len(), 1, "{text}");
    for counted in ["completed", "failed", "cancelled", "unknown", "refused"] {
        assert_eq!(stopped[0][counted], 0, "{text}");
    }
    assert_eq!(stopped[0]["closed_in_time"], true);
    let requests = of("cancel requested");
    assert_eq!(requests.len(), 1, "{text}");
    assert_eq!(requests[0]["run"], ends[1]["run"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_turned_away_is_logged_without_secrets() {
    let (child, ready) = serve(caphost(&["serve", "--port", "0", "--log", "info"])).await;
    let port = port_of(&ready);
    let client = http_within(Duration::from_secs(10));
    for path in [
        "/rap/callback/hidden-callback/id",
        "/abp?token=hidden-token",
    ] {
        let url = format!("http://127.0.0.1:{port}{path}");
        for (header, value) in [
            ("host", "elsewhere.test"),
            ("origin", "http://elsewhere.test"),
        ] {
            let sent = client.post(&url).header(header, value).send().await;
            assert_eq!(sent.unwrap().status(), 403, "{path} {header}");
        }
    }
    let text = said(child).await;
    assert!(!text.contains("hidden"), "{text}");
    assert_eq!(text.matches("\"/rap/callback\"").count(), 2, "{text}");
    assert_eq!(text.matches("\"/abp\"").count(), 2, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_token_is_a_warning_now_and_then() {
    let tokens = [
        "--token",
        "app=right-secret",
        "--token",
        "agent=other-secret",
    ];
    let arguments = [&["serve", "--port", "0"], &tokens[..]].concat();
    let (child, ready) = serve(caphost(&arguments)).await;
    let port = port_of(&ready);
    for _ in 0..3 {
        let mut app = peer(port, "/abp/app").await;
        let mut message = register("demo");
        message["payload"]["token"] = json!("hidden");
        app.send(message).await;
        assert_eq!(app.next().await["type"], "app/refused");
        let url = format!("ws://127.0.0.1:{port}/abp?token=hidden");
        let refused = Peer::open(url.into_client_request().unwrap()).await;
        assert!(refused.is_err());
    }
    // Another reason gets another line.
    let mut app = peer(port, "/abp/app").await;
    app.send(register("shop")).await;
    assert_eq!(app.next().await["type"], "app/refused");
    let http = http_within(Duration::from_secs(10));
    for query in ["", "", "?token=hidden"] {
        let url = format!("http://127.0.0.1:{port}/api/runs{query}");
        assert_eq!(http.get(url).send().await.unwrap().status(), 401);
    }
    // The token is known, and its role is too small.
    let url = format!("http://127.0.0.1:{port}/api/runs?token=right-secret");
    assert_eq!(http.get(url).send().await.unwrap().status(), 403);
    let text = said(child).await;
    assert!(!text.contains("hidden"), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    for (line, parts) in lines.iter().zip([
        &[
            "an app is refused",
            "does not know this token",
            "app=\"demo\"",
        ][..],
        &["an agent is refused", "does not know this token"],
        &[
            "an app is refused",
            "No token was given",
            "app=\"shop\"",
            "suppressed=2",
        ],
        &[
            "a request is refused",
            "token=\"none\"",
            "path=\"/api/runs\"",
        ],
        &["a request is refused", "token=\"wrong\"", "suppressed=1"],
        &["a request is refused", "token=\"not allowed\""],
    ]) {
        for part in parts.iter().chain(&["WARN", "address=127.0.0.1:"]) {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_default_nothing_is_logged_that_is_not_wrong() {
    let (child, ready) = serve(caphost(&["serve", "--port", "0"])).await;
    let mut app = peer(port_of(&ready), "/abp/app").await;
    app.send(register("demo")).await;
    app.next().await;
    let mut agent = peer(port_of(&ready), "/abp").await;
    agent.initialize(&mut app).await;
    agent.call_through(&mut app).await;
    assert_eq!(said(child).await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_origin_is_a_warning_now_and_then_and_an_mcp_client_is_none() {
    let (child, ready) = serve(caphost(&["serve", "--port", "0"])).await;
    let port = port_of(&ready);
    let client = http_within(Duration::from_secs(10));
    let url = format!("http://127.0.0.1:{port}/mcp");
    let post = |session: Option<String>, body: Value| {
        let mut request = client.post(&url).json(&body);
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send()
    };
    let info = json!({ "name": "n".repeat(1 << 20), "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let answer = post(None, hello).await.unwrap();
    let session = answer.headers()["mcp-session-id"].to_str().unwrap();
    let session = Some(session.to_string());
    let unknown = json!({ "name": "x".repeat(1 << 20) });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": unknown }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "x".repeat(1 << 20) }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    ] {
        let answer = post(session.clone(), message).await.unwrap();
        assert!(answer.status().is_success());
        assert!(answer.text().await.unwrap().len() < 2_000);
    }
    let foreign = format!("http://elsewhere.test/{}", "x".repeat(10_000));
    for _ in 0..50 {
        let sent = client.post(&url).header("origin", &foreign).send().await;
        assert_eq!(sent.unwrap().status(), 403);
    }
    let text = said(child).await;
    let warnings: Vec<_> = text.lines().collect();
    assert_eq!(warnings.len(), 1, "{text}");
    assert!(warnings[0].contains("http://elsewhere.test"), "{text}");
    assert!(warnings[0].contains("--allow-origin"), "{text}");
    assert!(text.len() < 1_000, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_is_no_terminal_has_no_colours() {
    let (child, _) = serve(caphost(&["serve", "--port", "0", "--log", "info"])).await;
    let text = said(child).await;
    assert!(text.contains("INFO") && !text.contains('\u{1b}'), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_are_lost_all_the_time_are_a_few_lines_of_the_log() {
    let arguments = "serve --port 0 --token app=app --token agent=loud --token agent=calm";
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let (child, ready) = serve(caphost(&arguments)).await;
    let port = port_of(&ready);
    let mut app = peer(port, "/abp/app?token=app").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let answering = tokio::spawn(async move {
        loop {
            let asked = app.next().await;
            let (kind, payload) = match asked["type"].as_str() {
                Some("initialize") => ("initialize-result", json!({ "sessionId": "s" })),
                Some("capabilities/call") => {
                    ("capabilities/call-result", json!({ "success": true }))
                }
                _ => continue,
            };
            app.send(answer(&asked, kind, payload)).await;
        }
    });
    let http = http_within(Duration::from_secs(20));
    for (number, token) in ["loud"; 100].into_iter().chain(["calm"]).enumerate() {
        // A name whose address is internal.
        let invocation = json!({
            "operation": "a_b", "arguments": {}, "id": number.to_string(), "group_id": "g",
            "callback_url": "http://localhost:9/",
        });
        let request = http.post(format!("http://127.0.0.1:{port}/rap/demo/invoke"));
        let sent = request.bearer_auth(token).json(&invocation).send().await;
        assert_eq!(sent.unwrap().status(), 200);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    answering.abort();
    let text = said(child).await;
    let lost = text
        .lines()
        .filter(|it| it.contains("result not delivered"));
    assert_eq!(lost.count(), 2, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_the_owner_of_an_app_is_logged_and_told_to_the_page_that_lost_it() {
    let arguments = "serve --port 0 --log caphost_gateway::gateway::noticed=info --token app=one --token app=two";
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let (child, ready) = serve(caphost(&arguments)).await;
    let port = port_of(&ready);
    let mut apps: Vec<Peer> = Vec::new();
    // A second tab of the same owner is not worth a warning.
    for token in ["one", "one", "two"] {
        let mut app = peer(port, &format!("/abp/app?token={token}")).await;
        app.send(register("shop")).await;
        assert_eq!(app.next().await["type"], "app/registered");
        if let Some(lost) = apps.last_mut() {
            let told = lost.next().await;
            assert_eq!(
                (&told["type"], &told["payload"]),
                (&json!("app/superseded"), &json!({ "appId": "shop" }))
            );
        }
        apps.push(app);
    }
    let text = said(child).await;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    for part in [
        "INFO",
        "an app has another instance",
        "before=\"shop#",
        "now=\"shop#",
        "owner=\"app-0\"",
    ] {
        assert!(lines[0].contains(part), "{part}: {text}");
    }
    for part in [
        "WARN",
        "somebody else offers this app now",
        "before=\"shop#",
        "now=\"shop#",
        "was=\"app-0\"",
        "by=\"app-1\"",
    ] {
        assert!(lines[1].contains(part), "{part}: {text}");
    }
}
