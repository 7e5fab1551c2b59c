use caphost_gateway::for_tests::RunState;
use caphost_gateway::{Config, Identity, RapOptions, Tokens};
use serde_json::json;

use super::app::App;
use super::runtime::{Receiver, Runtime, delivered};
use crate::support::*;

pub const CANCELLED: &str = "Error: Tool call cancelled: The runtime has cancelled the tool call. The work was not seen to stop (abandoned).";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_stops_in_the_app_and_its_result_says_so() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "n" }))
        .await;
    app.saw(1).await;
    let runs = gateway.hub.recent_runs(&Identity::anyone(), usize::MAX).0;
    assert_eq!(
        (runs[0].dialect.as_str(), runs[0].state),
        ("rap", RunState::Running)
    );
    assert_eq!(
        (runs[0].dialect_id.as_deref(), runs[0].thread.as_deref()),
        (Some("1"), Some("t"))
    );
    assert_eq!(
        (runs[0].app.as_deref(), &*runs[0].capability),
        (Some("demo"), "hold")
    );
    runtime.cancel("t", "1").await;
    assert_eq!(receiver.result().await["text"], CANCELLED);
    assert_eq!(
        app.seen()[1],
        "cancel n The runtime has cancelled the tool call"
    );
    assert_eq!(
        gateway.hub.recent_runs(&Identity::anyone(), usize::MAX).0[0].state,
        RunState::Cancelled
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_result_of_a_call_that_a_worker_ended_says_so() {
    let gateway = Gateway::start().await;
    let app = App::with(&gateway, "demo", &["hold.worker"]).await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime
        .invoke(&receiver, "hold_worker", "t", "1", json!({}))
        .await;
    app.saw(1).await;
    runtime.cancel("t", "1").await;
    assert_eq!(
        receiver.result().await["text"],
        "Error: Tool call cancelled: The runtime has cancelled the tool call. The work has ended (terminated)."
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thread_and_id_must_both_be_right() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let _other = App::start(&gateway, "other").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "/rap/demo");
    for thread in ["t", "t2"] {
        runtime
            .invoke(&receiver, "hold", thread, "1", json!({ "name": thread }))
            .await;
    }
    app.saw(2).await;
    for (thread, id) in [("t3", "1"), ("t", "2"), ("1", "t"), ("T", "1"), ("t ", "1")] {
        runtime.cancel(thread, id).await;
    }
    runtime.close("t3").await;
    // This is the tool server of another app.
    Runtime::new(&gateway, "/rap/other").cancel("t", "1").await;
    Runtime::new(&gateway, "/rap/other").close("t").await;
    // The effects of the other cancels would be seen before the effect of this cancel.
    runtime.cancel("t2", "1").await;
    assert_eq!(receiver.result().await["group_id"], "t2");
    let reason = "The runtime has cancelled the tool call";
    assert_eq!(app.saw(3).await[2..], [format!("cancel t2 {reason}")]);
    // The root is the tool server of all apps.
    Runtime::new(&gateway, "").cancel("t", "1").await;
    assert_eq!(receiver.took(2).await[1].body["group_id"], "t");
    assert_eq!(app.seen()[3..], [format!("cancel t {reason}")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_unknown_and_late_ones_are_harmless() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime.cancel("never", "seen").await;
    runtime.close("never").await;
    runtime
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "n" }))
        .await;
    app.saw(1).await;
    for _ in 0..20 {
        runtime.cancel("t", "1").await;
    }
    assert_eq!(receiver.result().await["text"], CANCELLED);
    runtime.cancel("t", "1").await;
    runtime.invoke(&receiver, "echo", "t", "2", json!({})).await;
    receiver.took(2).await;
    runtime.cancel("t", "2").await;
    for _ in 0..3 {
        runtime.close("t").await;
    }
    // The app sees messages in order, and a result is delivered once the receiver has it.
    runtime.invoke(&receiver, "echo", "u", "1", json!({})).await;
    receiver.took(3).await;
    delivered(&gateway, 3).await;
    assert_eq!(receiver.taken().len(), 3);
    let seen = app.seen();
    assert_eq!(seen.iter().filter(|it| *it == "call echo -").count(), 2);
    assert!(
        seen[2..]
            .iter()
            .all(|it| it == "call echo -" || it.starts_with("cancel ?")),
        "{seen:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_thread_has_its_calls_cancelled_and_others_go_on() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    for (thread, id) in [("t", "1"), ("t", "2"), ("t2", "1")] {
        runtime
            .invoke(
                &receiver,
                "hold",
                thread,
                id,
                json!({ "name": format!("{thread}-{id}") }),
            )
            .await;
    }
    app.saw(3).await;
    runtime.close("t").await;
    let taken = receiver.took(2).await;
    for result in &taken {
        assert_eq!(result.body["group_id"], "t");
        assert_eq!(
            result.body["text"],
            "Error: Tool call cancelled: The thread is closed. The work was not seen to stop (abandoned)."
        );
    }
    // A later call in a thread with the same id works like any other.
    runtime.invoke(&receiver, "echo", "t", "1", json!({})).await;
    assert_eq!(receiver.took(3).await[2].body["text"], "{}");
    runtime.cancel("t2", "1").await;
    assert_eq!(receiver.took(4).await[3].body["group_id"], "t2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_reaches_its_own_calls_only() {
    let tokens = ["agent=alice", "agent=bob", "app=page", "admin=root"];
    let tokens = Tokens::new(tokens.iter().map(|token| token.parse().unwrap()).collect());
    let rap = RapOptions {
        callback_allow: vec!["127.0.0.1".parse().unwrap()],
        ..RapOptions::default()
    };
    let gateway = Gateway::with(Config {
        tokens,
        rap,
        ..config()
    })
    .await;
    let app = App::authorised(&gateway, "demo", &["hold"], "page").await;
    let receiver = Receiver::start().await;
    let [alice, bob, root] =
        ["alice", "bob", "root"].map(|token| Runtime::new(&gateway, "").with_token(token));
    alice
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "alice" }))
        .await;
    alice
        .invoke(&receiver, "hold", "t", "2", json!({ "name": "alice" }))
        .await;
    app.saw(2).await;
    bob.cancel("t", "1").await;
    bob.close("t").await;
    // Both callers may use the same ids.
    bob.invoke(&receiver, "hold", "t", "1", json!({ "name": "bob" }))
        .await;
    assert_eq!(app.saw(3).await[2], "call hold bob");
    bob.close("t").await;
    receiver.took(1).await;
    assert_eq!(app.seen()[3], "cancel bob The thread is closed");
    root.cancel("t", "1").await;
    receiver.took(2).await;
    alice.close("t").await;
    assert_eq!(receiver.took(3).await.len(), 3);
    assert_eq!(
        app.seen()[4..],
        [
            "cancel alice The runtime has cancelled the tool call",
            "cancel alice The thread is closed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operators_cancel_is_told_with_its_reason() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    Runtime::new(&gateway, "")
        .invoke(&receiver, "hold", "t", "1", json!({}))
        .await;
    app.saw(1).await;
    let operator = Identity::anyone();
    let run = gateway.hub.recent_runs(&operator, usize::MAX).0[0].id;
    let confirmation = gateway
        .hub
        .cancel(run, Some("too expensive".into()), &operator)
        .await;
    assert!(confirmation.cancelled());
    assert_eq!(
        receiver.result().await["text"],
        "Error: Tool call cancelled: too expensive. The work was not seen to stop (abandoned)."
    );
}
