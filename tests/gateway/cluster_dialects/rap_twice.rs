//! The same invocation on two workers: a runtime that has heard nothing sends it again.

use serde_json::json;

use super::workers::Workers;
use crate::rap_runtime::until;
use crate::rap_server::app::App;
use crate::rap_server::runtime::{Receiver, Runtime, invocation};

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
    // Another thread's is another.
    two.invoke(&receiver, "echo", "t2", "1", json!({})).await;
    assert_eq!(receiver.took(1).await[0].body["group_id"], "t2");
    two.cancel("t", "1").await;
    assert_eq!(receiver.took(2).await[1].body["group_id"], "t");
    // It has ended: its id may be used again, anywhere.
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
