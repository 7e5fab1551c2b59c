use std::time::Duration;

use caphost_gateway::{Config, RapOptions as Options};
use serde_json::json;
use tokio::net::TcpListener;

use super::app::App;
use super::runtime::{Receiver, Runtime, delivered, invocation};
use crate::support::*;

async fn gateway(retry_for: Duration) -> Gateway {
    let rap = Options {
        callback_timeout: Duration::from_millis(500),
        callback_retry_for: retry_for,
        ..Options::default()
    };
    Gateway::with(Config { rap, ..config() }).await
}

async fn invoke(runtime: &Runtime, receiver: &Receiver, path: &str, id: &str) {
    let message = invocation(&receiver.url(path), "echo", "t", id, json!({}));
    assert_eq!(runtime.post("/invoke", &message).await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_fails_is_tried_again_with_growing_pauses() {
    let gateway = gateway(Duration::from_secs(60)).await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    invoke(
        &Runtime::new(&gateway, ""),
        &receiver,
        "/status/500,503,599",
        "1",
    )
    .await;
    let taken = receiver.took(4).await;
    assert!(taken.iter().all(|it| it.body == taken[0].body));
    let pauses: Vec<_> = taken
        .windows(2)
        .map(|pair| (pair[1].at - pair[0].at).as_secs_f64())
        .collect();
    for (pause, least) in pauses.iter().zip([0.187, 0.375, 0.75]) {
        assert!(*pause >= least, "{pauses:?}");
    }
    delivered(&gateway, 1).await;
    assert_eq!(receiver.taken().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_refuses_or_points_elsewhere_is_not() {
    let gateway = gateway(Duration::from_secs(60)).await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    let paths = [
        "/status/400",
        "/status/404",
        "/status/409",
        "/status/429",
        "/status/304",
        "/redirect",
    ];
    for (number, path) in paths.iter().enumerate() {
        invoke(&runtime, &receiver, path, &number.to_string()).await;
    }
    delivered(&gateway, paths.len() as u64).await;
    let mut taken: Vec<_> = receiver.taken().into_iter().map(|it| it.path).collect();
    taken.sort();
    let mut paths = paths.map(str::to_string);
    paths.sort();
    assert_eq!(taken, paths);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_down_gets_the_result_when_it_is_back_though_the_app_is_gone() {
    let gateway = gateway(Duration::from_secs(60)).await;
    let app = App::start(&gateway, "demo").await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let message = invocation(&format!("http://{address}/ok"), "echo", "t", "1", json!({}));
    assert_eq!(
        Runtime::new(&gateway, "").post("/invoke", &message).await.0,
        200
    );
    app.saw(1).await;
    // The receiver goes down during the first attempt.
    drop(soon("an attempt", listener.accept()).await.unwrap());
    drop(listener);
    drop(app);
    let receiver = Receiver::on(TcpListener::bind(address).await.unwrap());
    assert_eq!(receiver.result().await["text"], "{}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_a_hanging_server_may_have_taken_is_not_sent_again() {
    let gateway = gateway(Duration::from_secs(1)).await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    invoke(&Runtime::new(&gateway, ""), &receiver, "/hang", "1").await;
    receiver.took(1).await;
    delivered(&gateway, 1).await;
    assert_eq!(receiver.taken().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_of_a_closed_thread_is_not_sent_again() {
    let gateway = gateway(Duration::from_secs(60)).await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    let failing = vec!["500"; 20].join(",");
    invoke(&runtime, &receiver, &format!("/status/{failing}"), "1").await;
    receiver.took(2).await;
    runtime.close("t").await;
    let tried = receiver.taken().len();
    // The delivery ends long before the twentieth attempt.
    delivered(&gateway, 1).await;
    assert!(receiver.taken().len() <= tried + 1);
    assert_eq!(app.seen(), ["call echo -"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_what_may_wait_an_error_is_delivered_in_place_of_a_result() {
    let rap = Options {
        max_pending_bytes: 4_000,
        ..Options::default()
    };
    let gateway = Gateway::with(Config { rap, ..config() }).await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    let large = |path: &str, id: &str| {
        invocation(
            &receiver.url(path),
            "large",
            "t",
            id,
            json!({ "bytes": 3_000 }),
        )
    };
    runtime.post("/invoke", &large("/hang", "1")).await;
    receiver.took(1).await;
    runtime.post("/invoke", &large("/ok", "2")).await;
    let text = receiver.took(2).await[1].body["text"].clone();
    assert_eq!(
        text,
        "Error: The result was lost: too many others wait to be delivered"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_stops_delivers_what_it_can() {
    let mut gateway = gateway(Duration::from_secs(60)).await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    // The callback of this invocation is answered after a while.
    let held = invocation(&receiver.url("/slow"), "hold", "t", "1", json!({}));
    assert_eq!(runtime.post("/invoke", &held).await.0, 200);
    invoke(
        &runtime,
        &receiver,
        "/status/500,500,500,500,500,500,500",
        "2",
    )
    .await;
    app.saw(2).await;
    gateway.stop();
    gateway.stopped().await;
    let taken = receiver.taken();
    let held = taken.iter().find(|it| it.body["id"] == "1").unwrap();
    let text = held.body["text"].as_str().unwrap();
    assert!(text.starts_with("Error: Tool call cancelled: "), "{text}");
    assert!(taken.iter().any(|it| it.body["id"] == "2"));
}
