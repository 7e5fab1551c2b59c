//! Cancels and closures of threads that come to another worker than the invocation.

use caphost_gateway::{Config, RapOptions, Tokens};
use serde_json::json;

use super::workers::Workers;
use crate::rap_server::app::App;
use crate::rap_server::runtime::{Receiver, Runtime};
use crate::support::*;

const CANCELLED: &str = "Error: Tool call cancelled: The runtime has cancelled the tool call. The work was not seen to stop (abandoned).";
const CLOSED: &str =
    "Error: Tool call cancelled: The thread is closed. The work was not seen to stop (abandoned).";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_reaches_its_call_wherever_call_and_app_are() {
    let workers = Workers::start().await;
    let on_one = App::start(&workers.one, "one").await;
    let on_two = App::start(&workers.two, "two").await;
    for (name, app) in [("one", &on_one), ("two", &on_two)] {
        workers.both_have(name).await;
        let receiver = Receiver::start().await;
        let base = format!("/rap/{name}");
        let (here, there) = (
            Runtime::new(&workers.one, &base),
            Runtime::new(&workers.two, &base),
        );
        here.invoke(&receiver, "hold", "t", "1", json!({ "name": "n" }))
            .await;
        app.saw(1).await;
        // These cancels name another thread, another call or another app.
        there.cancel("t2", "1").await;
        there.cancel("t", "2").await;
        Runtime::new(&workers.two, "/rap/other")
            .cancel("t", "1")
            .await;
        there.cancel("t", "1").await;
        assert_eq!(receiver.result().await["text"], CANCELLED);
        assert_eq!(
            app.seen()[1..],
            ["cancel n The runtime has cancelled the tool call"]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_closed_on_all_workers() {
    let workers = Workers::start().await;
    let app = App::start(&workers.one, "demo").await;
    workers.both_have("demo").await;
    let receiver = Receiver::start().await;
    let one = Runtime::new(&workers.one, "");
    let two = Runtime::new(&workers.two, "");
    for (runtime, thread, id) in [(&one, "t", "1"), (&two, "t", "2"), (&one, "t2", "1")] {
        let name = json!({ "name": format!("{thread}-{id}") });
        runtime.invoke(&receiver, "hold", thread, id, name).await;
    }
    app.saw(3).await;
    two.close("t").await;
    for result in receiver.took(2).await {
        assert_eq!(result.body["group_id"], "t");
        assert_eq!(result.body["text"], CLOSED);
    }
    two.cancel("t2", "1").await;
    let last = receiver.took(3).await[2].body.clone();
    assert_eq!(
        (&last["group_id"], &last["text"]),
        (&json!("t2"), &json!(CANCELLED))
    );
    assert_eq!(app.seen().len(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_reaches_its_own_calls_only_on_all_workers() {
    let guarded = || {
        let tokens = ["agent=alice", "agent=bob", "app=page", "admin=root"];
        let tokens = Tokens::new(tokens.iter().map(|token| token.parse().unwrap()).collect());
        let rap = RapOptions {
            callback_allow: vec!["127.0.0.1".parse().unwrap()],
            ..RapOptions::default()
        };
        Config {
            tokens,
            rap,
            ..config()
        }
    };
    let workers = Workers::with(guarded, guarded).await;
    let app = App::authorised(&workers.one, "demo", &["hold"], "page").await;
    workers.both_have("demo").await;
    let receiver = Receiver::start().await;
    let alice = Runtime::new(&workers.one, "").with_token("alice");
    for id in ["1", "2"] {
        let name = json!({ "name": id });
        alice.invoke(&receiver, "hold", "t", id, name).await;
    }
    app.saw(2).await;
    let [bob, root, alice] =
        ["bob", "root", "alice"].map(|token| Runtime::new(&workers.two, "").with_token(token));
    bob.cancel("t", "1").await;
    bob.close("t").await;
    root.cancel("t", "1").await;
    assert_eq!(receiver.took(1).await[0].body["id"], "1");
    alice.close("t").await;
    assert_eq!(receiver.took(2).await[1].body["id"], "2");
    assert_eq!(
        app.seen()[2..],
        [
            "cancel 1 The runtime has cancelled the tool call",
            "cancel 2 The thread is closed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_cancels_at_once_none_is_lost() {
    const CALLS: usize = 400;
    let workers = Workers::start().await;
    let app = App::start(&workers.one, "demo").await;
    workers.both_have("demo").await;
    let receiver = Receiver::start().await;
    let one = Runtime::new(&workers.one, "");
    let two = Runtime::new(&workers.two, "");
    let ids: Vec<_> = (0..CALLS).map(|id| id.to_string()).collect();
    for id in &ids {
        one.invoke(&receiver, "hold", "t", id, json!({ "name": id }))
            .await;
    }
    app.saw(CALLS).await;
    let cancels = ids.iter().map(|id| two.cancel("t", id));
    futures_util::future::join_all(cancels).await;
    let taken = receiver.took(CALLS).await;
    assert!(taken.iter().all(|it| it.body["text"] == CANCELLED));
    assert_eq!(app.seen().len(), 2 * CALLS);
}
