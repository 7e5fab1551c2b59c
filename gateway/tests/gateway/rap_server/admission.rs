//! Requests that are refused.

use caphost_gateway::{Config, Limits, RapOptions as Options, Tokens};
use serde_json::{Value, json};

use super::app::App;
use super::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

const PATHS: [&str; 3] = ["/invoke", "/cancel_tool_call", "/close_thread"];

pub fn good(path: &str, receiver: &Receiver) -> Value {
    match path {
        "/invoke" => invocation(&receiver.url("/ok"), "echo", "t", "1", json!({})),
        "/cancel_tool_call" => json!({ "thread_id": "t", "tool_call_id": "1" }),
        _ => json!({ "thread_id": "t" }),
    }
}

pub fn code(body: &str) -> Value {
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {body}"));
    assert!(body["error"]["message"].is_string(), "{body}");
    body["error"]["code"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_message_is_refused_and_disturbs_nothing() {
    let limits = Limits {
        message_bytes: 70_000,
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "kept" }))
        .await;
    app.saw(1).await;
    let json = Some("application/json");
    for path in PATHS {
        for body in [
            "",
            "{",
            "null",
            "[]",
            "\"t\"",
            "[\"t\",\"1\"]",
            "{\"thread_id\":\"t\",\"tool_call_id\":\"1\"",
            "{}",
        ] {
            let (status, answer) = runtime.post_text(path, json, body).await;
            assert_eq!(
                (status, code(&answer)),
                (400, "INVALID_PARAMS".into()),
                "{path} {body}"
            );
        }
        let (status, answer) = runtime.post_text(path, json, vec![b'{', 0xff, b'}']).await;
        assert_eq!((status, code(&answer)), (400, "INVALID_PARAMS".into()));
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
        ] {
            let (status, answer) = runtime
                .post_text(path, kind, good(path, &receiver).to_string())
                .await;
            assert_eq!(
                (status, code(&answer)),
                (415, "INVALID_TYPE".into()),
                "{path} {kind:?}"
            );
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(runtime.post_text(path, json, deep).await.0, 400);
        let huge = format!(
            "{{\"a\":\"{}\"}}",
            "x".repeat(69_000 + if path == "/invoke" { 2_000 } else { 0 })
        );
        assert_eq!(runtime.post_text(path, json, huge).await.0, 413, "{path}");
        let get = runtime
            .http
            .get(format!("{}{path}", runtime.base))
            .send()
            .await
            .unwrap();
        assert_eq!(get.status().as_u16(), 405, "{path}");
    }
    runtime.cancel("t", "1").await;
    assert!(
        receiver.result().await["text"]
            .as_str()
            .unwrap()
            .starts_with("Error: Tool call cancelled")
    );
    assert_eq!(
        app.seen(),
        [
            "call hold kept",
            "cancel kept The runtime has cancelled the tool call"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_shows_no_token_of_an_agent_is_turned_away() {
    let tokens = [
        "agent=alice",
        "agent=bob",
        "app=page",
        "admin=root",
        "agent@other=o",
    ];
    let tokens = Tokens::new(tokens.iter().map(|token| token.parse().unwrap()).collect());
    let rap = Options {
        callback_allow: vec!["127.0.0.1".parse().unwrap()],
        ..Options::default()
    };
    let gateway = Gateway::with(Config {
        tokens,
        rap,
        ..config()
    })
    .await;
    let _app = App::authorised(&gateway, "demo", &["echo"], "page").await;
    let receiver = Receiver::start().await;
    let anyone = Runtime::new(&gateway, "");
    for path in PATHS {
        let message = good(path, &receiver);
        for runtime in [anyone.clone(), anyone.clone().with_token("wrong")] {
            let (status, answer) = runtime.post(path, &message).await;
            assert_eq!(
                (status, code(&answer)),
                (401, "PERMISSION_DENIED".into()),
                "{path}"
            );
        }
        let app = anyone.clone().with_token("page");
        assert_eq!(app.post(path, &message).await.0, 403, "{path}");
        for token in ["alice", "root"] {
            assert_eq!(
                anyone
                    .clone()
                    .with_token(token)
                    .post(path, &message)
                    .await
                    .0,
                200,
                "{path}"
            );
        }
        let elsewhere = Runtime::new(&gateway, "/rap/demo").with_token("o");
        assert_eq!(elsewhere.post(path, &message).await.0, 403, "{path}");
    }
    assert_eq!(anyone.manifest("").await.0, 401);
    let answer = anyone
        .http
        .post(format!("{}/invoke", anyone.base))
        .send()
        .await
        .unwrap();
    assert_eq!(
        answer.headers()["www-authenticate"],
        "Bearer realm=\"caphost\""
    );
    assert_eq!(anyone.clone().with_token("alice").manifest("").await.0, 200);
    // The gateway sends no credentials to a callback URL.
    for taken in receiver.took(2).await {
        assert!(taken.headers.get("authorization").is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_notifications_are_told_when_to_come_back() {
    let rap = Options {
        notifications_per_second: 1.0,
        notifications_burst: 3.0,
        ..Options::default()
    };
    let tokens = ["agent=alice", "agent=bob"];
    let tokens = Tokens::new(tokens.iter().map(|token| token.parse().unwrap()).collect());
    let gateway = Gateway::with(Config {
        rap,
        tokens,
        ..config()
    })
    .await;
    let receiver = Receiver::start().await;
    let alice = Runtime::new(&gateway, "").with_token("alice");
    for path in ["/cancel_tool_call", "/close_thread"] {
        let message = good(path, &receiver);
        for _ in 0..3 {
            assert_eq!(alice.post(path, &message).await, (200, String::new()));
        }
        let (status, answer) = alice.post(path, &message).await;
        assert_eq!((status, code(&answer)), (429, "RATE_LIMITED".into()));
        let request = alice
            .http
            .post(format!("{}{path}", alice.base))
            .bearer_auth("alice")
            .json(&message);
        let response = request.send().await.unwrap();
        let wait: u64 = response.headers()["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!((1..=2).contains(&wait), "{wait}");
        let bob = Runtime::new(&gateway, "").with_token("bob");
        assert_eq!(bob.post(path, &message).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_go_to_allowed_hosts_only() {
    let rap = Options {
        callback_allow: vec!["127.0.0.1".parse().unwrap()],
        ..Options::default()
    };
    let gateway = Gateway::with(Config { rap, ..config() }).await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    for url in [
        "http://169.254.169.254/latest",
        "http://localhost:1/",
        "http://127.0.0.1@evil.example/",
    ] {
        let (status, answer) = runtime
            .post("/invoke", &invocation(url, "echo", "t", "1", json!({})))
            .await;
        assert_eq!(
            (status, code(&answer)),
            (403, "PERMISSION_DENIED".into()),
            "{url}"
        );
    }
    runtime.invoke(&receiver, "echo", "t", "1", json!({})).await;
    receiver.result().await;
}
