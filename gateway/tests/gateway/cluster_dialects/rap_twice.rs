//! The same invocation on two workers: a runtime that gets no answer sends the invocation again.

use std::time::Duration;

use caphost_gateway::{ClusterOptions, Identity};
use redis::AsyncCommands;
use serde_json::{Value, json};

use super::workers::Workers;
use crate::rap_runtime::until;
use crate::rap_server::app::App;
use crate::rap_server::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

/// The key of an invocation's claim.
fn claim(thread: &str, id: &str) -> String {
    let owner = Identity::anyone().name;
    let name = json!([owner, "demo", thread, id]);
    format!("{{caphost}}:rap:{name}")
}

/// Like a runtime, sends the invocation again after a 5xx until it is accepted.
async fn invoke_until_taken(runtime: &Runtime, message: &Value) {
    let taken = async {
        while runtime.post("/invoke", message).await.0 == 503 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("the invocation", taken).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invocation_sent_again_to_another_worker_is_one_call() {
    let workers = Workers::start().await;
    let app = App::start(&workers.one, "demo").await;
    workers.both_have("demo").await;
    let receiver = Receiver::start().await;
    let one = Runtime::new(&workers.one, "");
    let two = Runtime::new(&workers.two, "");
    for runtime in [&one, &two, &one, &two] {
        runtime
            .invoke(&receiver, "hold", "t", "1", json!({ "name": "n" }))
            .await;
    }
    let another = invocation(&receiver.url("/ok"), "hold", "t", "1", json!({}));
    for runtime in [&one, &two] {
        assert_eq!(runtime.post("/invoke", &another).await.0, 409);
    }
    // An invocation in another thread is another call.
    two.invoke(&receiver, "echo", "t2", "1", json!({})).await;
    assert_eq!(receiver.took(1).await[0].body["group_id"], "t2");
    two.cancel("t", "1").await;
    assert_eq!(receiver.took(2).await[1].body["group_id"], "t");
    // The call has ended, so its id may be used again on any worker.
    two.invoke(&receiver, "echo", "t", "1", json!({})).await;
    assert_eq!(receiver.took(3).await[2].body["text"], "{}");
    assert_eq!(
        app.seen(),
        [
            "call hold n",
            "call echo -",
            "cancel n The runtime has cancelled the tool call",
            "call echo -"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_to_both_at_once_is_one_call() {
    const CALLS: usize = 50;
    let workers = Workers::start().await;
    let app = App::start(&workers.two, "demo").await;
    workers.both_have("demo").await;
    let receiver = Receiver::start().await;
    let runtimes = [&workers.one, &workers.two].map(|gateway| Runtime::new(gateway, ""));
    let ids: Vec<_> = (0..CALLS).map(|id| id.to_string()).collect();
    let each = ids
        .iter()
        .flat_map(|id| runtimes.iter().map(move |runtime| (runtime, id)));
    let invoked =
        each.map(|(runtime, id)| runtime.invoke(&receiver, "hold", "t", id, json!({ "name": id })));
    futures_util::future::join_all(invoked).await;
    app.saw(CALLS).await;
    runtimes[0].close("t").await;
    receiver.took(CALLS).await;
    assert_eq!(
        (app.seen().len(), receiver.taken().len()),
        (2 * CALLS, CALLS)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_worker_that_is_gone_had_taken_may_be_sent_to_another() {
    let Workers {
        mut one,
        two,
        redis: _redis,
    } = Workers::start().await;
    let app = App::start(&two, "demo").await;
    until("the app", || one.hub.offer(Some("demo")).is_ok()).await;
    let receiver = Receiver::start().await;
    Runtime::new(&one, "")
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "n" }))
        .await;
    app.saw(1).await;
    one.stop();
    one.stopped().await;
    let cluster = two.hub.cluster().unwrap();
    until("its end", || cluster.standing().others == 0).await;
    let before = receiver.taken().len();
    Runtime::new(&two, "")
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "n" }))
        .await;
    until("the call", || {
        app.seen().iter().filter(|it| *it == "call hold n").count() == 2
    })
    .await;
    Runtime::new(&two, "").cancel("t", "1").await;
    receiver.took(before + 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_each_worker_goes_on_alone() {
    let mut workers = Workers::start().await;
    let _app = App::start(&workers.one, "demo").await;
    workers.redis.stop();
    let receiver = Receiver::start().await;
    let one = Runtime::new(&workers.one, "");
    one.invoke(&receiver, "echo", "t", "1", json!({})).await;
    receiver.took(1).await;
    one.invoke(&receiver, "hold", "t", "1", json!({})).await;
    one.cancel("t", "1").await;
    receiver.took(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invocation_claimed_before_an_outage_of_redis_is_one_call_after_it() {
    let mut workers = Workers::adjusted(|options| ClusterOptions {
        redis_patience: Duration::from_millis(300),
        ..options
    })
    .await;
    let app = App::start(&workers.one, "demo").await;
    workers.both_have("demo").await;
    let receiver = Receiver::start().await;
    let one = Runtime::new(&workers.one, "");
    let two = Runtime::new(&workers.two, "");
    let held = invocation(
        &receiver.url("/ok"),
        "hold",
        "t",
        "1",
        json!({ "name": "n" }),
    );
    assert_eq!(one.post("/invoke", &held).await.0, 200);
    app.saw(1).await;

    let cluster = |gateway: &Gateway| gateway.hub.cluster().unwrap().clone();
    let both = [cluster(&workers.one), cluster(&workers.two)];
    let before = both.each_ref().map(|it| it.me());
    workers.redis.stop();
    for (worker, before) in both.iter().zip(before) {
        until("another id", || worker.me() != before).await;
    }
    workers.redis.run().await;
    for worker in &both {
        until("the other worker", || {
            let standing = worker.standing();
            standing.connected && standing.others == 1
        })
        .await;
    }
    workers.both_have("demo").await;

    // An invocation that is sent again is still the same call. Another call to the same app comes after it.
    for runtime in [&two, &one, &two] {
        invoke_until_taken(runtime, &held).await;
    }
    two.invoke(&receiver, "echo", "t2", "1", json!({})).await;
    assert_eq!(receiver.took(1).await[0].body["group_id"], "t2");
    assert_eq!(app.seen(), ["call hold n", "call echo -"]);
    two.cancel("t", "1").await;
    assert_eq!(receiver.took(2).await[1].body["group_id"], "t");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_is_another_workers_by_now_is_not_given_up() {
    let workers = Workers::start().await;
    let app = App::start(&workers.one, "demo").await;
    let receiver = Receiver::start().await;
    let one = Runtime::new(&workers.one, "");
    let mut redis = workers.redis.connection().await;
    for (id, others) in [("1", Some("another's")), ("2", None)] {
        one.invoke(&receiver, "hold", "t", id, json!({ "name": id }))
            .await;
        app.saw(1).await;
        if let Some(others) = others {
            let () = redis.set(claim("t", id), others).await.unwrap();
        }
        one.cancel("t", id).await;
        // The claim is released before the result is delivered.
        until("the result", || {
            receiver.taken().iter().any(|it| it.body["id"] == id)
        })
        .await;
        let left: Option<String> = redis.get(claim("t", id)).await.unwrap();
        assert_eq!(left.as_deref(), others);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dead_worker_had_claimed_is_taken_over_once() {
    const CALLS: usize = 40;
    let workers = Workers::start().await;
    let app = App::start(&workers.two, "demo").await;
    workers.both_have("demo").await;
    let receiver = Receiver::start().await;
    let ids: Vec<_> = (0..CALLS).map(|id| id.to_string()).collect();
    let mut redis = workers.redis.connection().await;
    for id in &ids {
        let dead =
            json!({ "worker": format!("{}-0", uuid::Uuid::new_v4().simple()), "fingerprint": 1 });
        let () = redis.set(claim("t", id), dead.to_string()).await.unwrap();
    }
    let runtimes = [&workers.one, &workers.two].map(|gateway| Runtime::new(gateway, ""));
    let messages: Vec<_> = ids
        .iter()
        .map(|id| invocation(&receiver.url("/ok"), "hold", "t", id, json!({ "name": id })))
        .collect();
    let each = messages
        .iter()
        .flat_map(|message| runtimes.iter().map(move |runtime| (runtime, message)));
    let invoked = each.map(|(runtime, message)| invoke_until_taken(runtime, message));
    futures_util::future::join_all(invoked).await;
    app.saw(CALLS).await;
    runtimes[0].close("t").await;
    receiver.took(CALLS).await;
    assert_eq!(
        (app.seen().len(), receiver.taken().len()),
        (2 * CALLS, CALLS)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invocation_that_is_refused_leaves_no_claim() {
    let workers = Workers::start().await;
    let app = App::start(&workers.one, "demo").await;
    let receiver = Receiver::start().await;
    let one = Runtime::new(&workers.one, "");
    one.invoke(&receiver, "hold", "t", "1", json!({})).await;
    app.saw(1).await;
    let mut redis = workers.redis.connection().await;
    // The state is the same as if the claim had been made while Redis was away.
    let () = redis.del(claim("t", "1")).await.unwrap();
    let another = invocation(&receiver.url("/ok"), "echo", "t", "1", json!({}));
    assert_eq!(one.post("/invoke", &another).await.0, 409);
    let left: Option<String> = redis.get(claim("t", "1")).await.unwrap();
    assert_eq!(left, None);
}
