//! Clients whose reader ends a stream with an event of more than 1 MiB, as that of the SDK for Python does.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::app::{called, confirm_cancel, demo, progress, succeed};
use super::client::*;
use crate::support::*;

const BOUND: usize = 1 << 20;
/// After this time an answer that was not sent as JSON would be part of a stream.
const SILENCE: Duration = Duration::from_millis(10_500);

async fn post(client: &Client, agent: &str, body: &Value) -> Events {
    let request = client.http.post(&client.url).json(body);
    let request = request
        .header("accept", "application/json, text/event-stream")
        .header("user-agent", agent)
        .header("mcp-protocol-version", LEGACY)
        .header("mcp-session-id", client.session.clone().unwrap());
    // Longer than `soon` waits.
    Events(request.send().await.unwrap())
}

fn call(id: i64, token: Option<&str>) -> Value {
    let mut params = json!({ "name": "echo", "arguments": { "n": id } });
    if let Some(token) = token {
        params["_meta"] = json!({ "progressToken": token });
    }
    rpc(id, "tools/call", params)
}

#[tokio::test]
async fn a_result_that_would_end_the_stream_is_an_error_that_says_how_to_get_it() {
    let gateway = Gateway::without_links().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    for (agent, text, is_read) in [
        ("python-httpx2/2.16.2", "x".repeat(BOUND), false),
        // It has fewer bytes before it is escaped.
        ("python-httpx2/2.16.2", "x\u{2028}".repeat(BOUND / 6), false),
        ("python-httpx2/2.16.2", "x".repeat(BOUND - 1_000), true),
        ("python-httpx/0.28.1", "x".repeat(BOUND), true),
        ("node", "x".repeat(BOUND), true),
    ] {
        let body = call(1, Some("p"));
        let answered = async {
            let relayed = called(&mut app).await;
            progress(&mut app, &relayed, json!({ "progress": 1 })).await;
            succeed(&mut app, &relayed, json!(text)).await;
        };
        let (mut events, ()) = tokio::join!(post(&client, agent, &body), answered);
        let first = events.next().await.unwrap();
        assert_eq!(first["method"], "notifications/progress");
        let answer = events.last().await;
        let result = &answer["result"];
        let said = result["content"][0]["text"].as_str();
        let said = said.unwrap_or_else(|| panic!("{answer:.200}"));
        assert_eq!(result["isError"], !is_read, "{agent}");
        match is_read {
            true => assert_eq!(said, text),
            false => {
                assert!(said.starts_with("OPERATION_FAILED: The call has ended"));
                assert!(said.contains("without a progress callback"), "{said}");
                assert!(result["_meta"]["caphost/run"].is_string());
                assert_eq!(result["_meta"]["caphost/error"]["retryable"], false);
            }
        }
    }
}

#[tokio::test]
async fn a_result_after_a_long_silence_is_json_and_later_progress_is_dropped() {
    let gateway = Gateway::without_links().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let (bounded, other) = ("python-httpx2/2.16.2", "python-httpx/0.28.1");
    let large = json!("x".repeat(3 * BOUND));
    let (one, two, three) = (call(1, Some("p")), call(2, None), call(3, None));
    let asked = async {
        let (one, two) = (post(&client, bounded, &one), post(&client, other, &two));
        let cancelled = async {
            let events = post(&client, bounded, &three).await;
            client.cancel(3, "enough").await;
            events
        };
        tokio::join!(one, two, cancelled)
    };
    let answered = async {
        let mut relayed = Vec::new();
        for _ in 0..3 {
            relayed.push(called(&mut app).await);
        }
        relayed.sort_by_key(|call| call["payload"]["params"]["n"].as_i64());
        sleep(SILENCE).await;
        // The heads have come, so the third is cancelled.
        confirm_cancel(&mut app, &relayed[2]).await;
        progress(&mut app, &relayed[0], json!({ "progress": 1 })).await;
        for call in &relayed[..2] {
            succeed(&mut app, call, large.clone()).await;
        }
    };
    let ((one, two, three), ()) = tokio::join!(asked, answered);
    assert_eq!(one.0.headers()["content-type"], "application/json");
    assert_eq!(two.0.headers()["content-type"], "text/event-stream");
    for events in [one, two] {
        assert_eq!(events.last().await["result"]["content"][0]["text"], large);
    }
    // JSON that has begun has to end.
    let cancelled = three.last().await;
    assert_eq!(
        (&cancelled["id"], &cancelled["error"]["code"]),
        (&json!(3), &json!(-32800))
    );
}
