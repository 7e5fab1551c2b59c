//! The fields of messages.

use serde_json::{Value, json};

use super::admission::{code, good};
use super::app::App;
use super::runtime::{Receiver, Runtime};
use crate::support::*;

/// Strings that are not the id of any thread or call here.
fn strange_ids() -> Vec<Value> {
    let long = "x".repeat(10_000);
    let strange = [
        "",
        "a/b",
        "../../etc/passwd",
        "..\\x",
        "..",
        ".",
        "a\0b",
        "a\nb",
        &long,
    ];
    strange.map(Value::from).into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_about_the_ids_of_other_servers_are_200_whatever_they_look_like() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "n" }))
        .await;
    app.saw(1).await;
    for (path, member) in [
        ("/cancel_tool_call", "thread_id"),
        ("/cancel_tool_call", "tool_call_id"),
        ("/close_thread", "thread_id"),
    ] {
        let told = json!({ "thread_id": "t", "tool_call_id": "1" });
        for id in strange_ids() {
            let mut told = told.clone();
            told[member] = id.clone();
            let answer = runtime.post(path, &told).await;
            assert_eq!(answer, (200, String::new()), "{path} {member} {id:.40}");
        }
        // Half of a surrogate pair is text that no Rust string can hold.
        let other = if member == "thread_id" {
            "tool_call_id"
        } else {
            "thread_id"
        };
        let half = format!(r#"{{ "{member}": "\ud83d", "{other}": "1" }}"#);
        let json = Some("application/json");
        let answer = runtime.post_text(path, json, half).await;
        assert_eq!(answer, (200, String::new()), "{path} {member}");
        let mut huge = told.clone();
        huge[member] = "x".repeat(70_000).into();
        assert_eq!(
            runtime.post(path, &huge).await.0,
            413,
            "bounded all the same"
        );
    }
    assert_eq!(app.seen(), ["call hold n"], "nothing of ours is meant");
    runtime.cancel("t", "1").await;
    receiver.result().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_are_not_trusted() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    let members = [
        ("/invoke", vec!["id", "group_id"]),
        ("/cancel_tool_call", vec!["thread_id", "tool_call_id"]),
        ("/close_thread", vec!["thread_id"]),
    ];
    let strange = strange_ids();
    let no_ids = [
        json!(7),
        json!(null),
        json!(["t"]),
        json!({ "t": 1 }),
        json!(true),
    ];
    for (path, members) in members {
        for member in members {
            let strange = strange.iter().filter(|_| path == "/invoke");
            for id in strange.chain(&no_ids) {
                let mut message = good(path, &receiver);
                message[member] = id.clone();
                let (status, answer) = runtime.post(path, &message).await;
                assert_eq!(
                    (status, code(&answer)),
                    (400, "INVALID_PARAMS".into()),
                    "{path} {member} {id:.40}"
                );
                assert!(
                    answer.len() < 1_000,
                    "{path} {member}: {} bytes",
                    answer.len()
                );
            }
            let mut message = good(path, &receiver);
            message.as_object_mut().unwrap().remove(member);
            assert_eq!(runtime.post(path, &message).await.0, 400);
        }
    }
    assert!(app.seen().is_empty());
    // Unusual ids work like any other ids.
    for id in [
        "a..b",
        "漢字 ☃",
        "'; DROP TABLE runs; --",
        "%2e%2e%2f",
        "__proto__",
        &"é".repeat(256),
    ] {
        let receiver = Receiver::start().await;
        runtime.invoke(&receiver, "echo", id, id, json!({})).await;
        let got = receiver.result().await;
        assert_eq!((&got["id"], &got["group_id"]), (&json!(id), &json!(id)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invocations_need_what_a_result_needs() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    let cases = [
        ("callback_url", json!("/callback")),
        ("callback_url", json!("ftp://127.0.0.1/")),
        ("callback_url", json!("javascript:alert(1)")),
        ("callback_url", json!("http://")),
        ("callback_url", json!(null)),
        ("operation", json!("")),
        ("operation", json!("x".repeat(257))),
        ("operation", json!("a\0")),
        ("operation", json!(7)),
        ("arguments", json!([1])),
        ("arguments", json!("x")),
        ("call_id", json!("a\nb")),
        ("call_id", json!(7)),
        ("user_id", json!("x".repeat(257))),
        ("thread_ancestors", json!("t")),
        ("thread_ancestors", json!(["../t"])),
        ("thread_ancestors", json!(vec!["t"; 257])),
    ];
    for (member, value) in cases {
        let mut message = good("/invoke", &receiver);
        message[member] = value.clone();
        let (status, answer) = runtime.post("/invoke", &message).await;
        assert_eq!(
            (status, code(&answer)),
            (400, "INVALID_PARAMS".into()),
            "{member} {value:.40}"
        );
    }
    for member in ["arguments", "call_id", "thread_ancestors", "user_id"] {
        let receiver = Receiver::start().await;
        let mut message = good("/invoke", &receiver);
        message[member] = Value::Null;
        assert_eq!(runtime.post("/invoke", &message).await.0, 200, "{member}");
        assert_eq!(receiver.result().await["text"], "{}");
    }
    assert_eq!(app.seen().len(), 4);
}
