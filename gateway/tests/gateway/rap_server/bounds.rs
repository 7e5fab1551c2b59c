use std::time::Duration;

use caphost_gateway::{Config, Limits, RapOptions as Options, Tokens};
use serde_json::json;

use super::app::App;
use super::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_over_the_limit_is_an_error_that_says_so() {
    let rap = Options {
        max_result_bytes: 1_000,
        ..Options::default()
    };
    let gateway = Gateway::with(Config { rap, ..config() }).await;
    let _app = App::start(&gateway, "demo").await;
    let runtime = Runtime::new(&gateway, "");
    let receiver = Receiver::start().await;
    runtime
        .invoke(&receiver, "large", "t", "1", json!({ "bytes": 1_000 }))
        .await;
    assert_eq!(
        receiver.took(1).await[0].body["text"]
            .as_str()
            .unwrap()
            .len(),
        1_000
    );
    runtime
        .invoke(&receiver, "large", "t", "2", json!({ "bytes": 1_001 }))
        .await;
    let text = receiver.took(2).await[1].body["text"].clone();
    assert_eq!(
        text,
        "Error: The result has 1001 bytes, more than the 1000 that can be delivered"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_what_may_be_pending_an_invocation_is_to_come_again() {
    let rap = Options {
        max_pending: 2,
        ..Options::default()
    };
    let gateway = Gateway::with(Config { rap, ..config() }).await;
    let _app = App::start(&gateway, "demo").await;
    let runtime = Runtime::new(&gateway, "");
    let receiver = Receiver::start().await;
    for id in ["1", "2"] {
        runtime.invoke(&receiver, "hold", "t", id, json!({})).await;
    }
    let third = invocation(&receiver.url("/ok"), "echo", "t", "3", json!({}));
    assert_eq!(runtime.post("/invoke", &third).await.0, 503);
    runtime.cancel("t", "1").await;
    receiver.took(1).await;
    // The place of an invocation is free after its callback is answered.
    for _ in 0..500 {
        if runtime.post("/invoke", &third).await.0 == 200 {
            assert_eq!(receiver.took(2).await[1].body["id"], "3");
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no place became free");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_the_bytes_that_may_be_pending_an_invocation_is_to_come_again() {
    let rap = Options {
        max_pending_bytes: 2_000,
        ..Options::default()
    };
    let gateway = Gateway::with(Config { rap, ..config() }).await;
    let _app = App::start(&gateway, "demo").await;
    let runtime = Runtime::new(&gateway, "");
    let receiver = Receiver::start().await;
    let filler = json!({ "filler": "x".repeat(1_000) });
    runtime
        .invoke(&receiver, "hold", "t", "1", filler.clone())
        .await;
    let second = invocation(&receiver.url("/ok"), "echo", "t", "2", filler);
    let (status, error) = runtime.post("/invoke", &second).await;
    assert_eq!(status, 503, "{error}");
    runtime.invoke(&receiver, "echo", "t", "3", json!({})).await;
    receiver.took(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_has_its_time() {
    let rap = Options {
        call_timeout: Duration::from_millis(100),
        ..Options::default()
    };
    let limits = Limits {
        confirm_timeout: Duration::from_millis(200),
        ..Default::default()
    };
    let gateway = Gateway::with(Config {
        rap,
        limits,
        ..config()
    })
    .await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    // The app enforces no timeout of its own.
    Runtime::new(&gateway, "")
        .invoke(&receiver, "hold", "t", "1", json!({}))
        .await;
    assert_eq!(
        receiver.result().await["text"],
        "Error: Tool call cancelled: it did not end within 100ms. The work was not seen to stop (abandoned)."
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_token_that_takes_all_invocations_leaves_room_for_others() {
    let tokens = ["agent=alice", "agent=bob", "app=page"];
    let tokens = Tokens::new(tokens.iter().map(|token| token.parse().unwrap()).collect());
    let rap = Options {
        callback_allow: vec!["127.0.0.1".parse().unwrap()],
        max_pending: 6,
        max_pending_per_token: 3,
        max_pending_bytes_per_token: 4_000,
        ..Options::default()
    };
    let gateway = Gateway::with(Config {
        tokens,
        rap,
        ..config()
    })
    .await;
    let app = App::authorised(&gateway, "demo", &["hold", "echo"], "page").await;
    let receiver = Receiver::start().await;
    let [alice, bob] = ["alice", "bob"].map(|token| Runtime::new(&gateway, "").with_token(token));
    let held = |id: usize| {
        let url = receiver.url("/ok");
        invocation(&url, "hold", &format!("t{id}"), "1", json!({}))
    };
    let mut statuses = Vec::new();
    for id in 0..20 {
        statuses.push(alice.post("/invoke", &held(id)).await.0);
    }
    assert_eq!(statuses[..3], [200; 3]);
    assert_eq!(statuses[3..], [429; 17]);
    // Another token is served all the time.
    bob.invoke(&receiver, "echo", "t", "1", json!({})).await;
    receiver.took(1).await;
    // A delivered result makes room again.
    alice.cancel("t0", "1").await;
    receiver.took(2).await;
    let again = async {
        while alice.post("/invoke", &held(20)).await.0 != 200 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    soon("room for another", again).await;
    app.saw(5).await;
    for id in 1..=20 {
        alice.cancel(&format!("t{id}"), "1").await;
    }
    receiver.took(5).await;
    // The same is true for bytes.
    let filler = json!({ "filler": "x".repeat(3_000) });
    let large = |id: &str| invocation(&receiver.url("/ok"), "hold", "u", id, filler.clone());
    let first = async {
        while alice.post("/invoke", &large("1")).await.0 != 200 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    soon("room for bytes", first).await;
    assert_eq!(alice.post("/invoke", &large("2")).await.0, 429);
    assert_eq!(bob.post("/invoke", &large("2")).await.0, 200);
}
