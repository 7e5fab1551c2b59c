//! Ends that nobody announces.

use std::time::Duration;

use caphost_gateway::{Config, RapOptions as Options};
use serde_json::json;

use super::app::App;
use super::notifications::CANCELLED;
use super::runtime::{Receiver, Runtime};
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_without_calls_is_freed_and_can_come_back() {
    let rap = Options {
        thread_idle: Duration::from_millis(100),
        ..Options::default()
    };
    let gateway = Gateway::with(Config { rap, ..config() }).await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime
        .invoke(&receiver, "echo", "t", "1", json!({ "name": "a" }))
        .await;
    receiver.took(1).await;
    assert_eq!(gateway.hub.peers().0, 1);
    // Nobody closes the thread, but its session with the app still ends.
    for _ in 0..500 {
        if gateway.hub.peers().0 == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(gateway.hub.peers().0, 0);
    runtime
        .invoke(&receiver, "hold", "t", "2", json!({ "name": "b" }))
        .await;
    // A session with a call stays, although a later session is freed.
    app.saw(2).await;
    runtime.invoke(&receiver, "echo", "u", "3", json!({})).await;
    receiver.took(2).await;
    let freed = async {
        while gateway.hub.peers().0 > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the end of the other thread", freed).await;
    runtime.cancel("t", "2").await;
    assert_eq!(receiver.took(3).await[2].body["text"], CANCELLED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_app_goes_its_calls_say_that_the_outcome_is_unknown() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime.invoke(&receiver, "hold", "t", "1", json!({})).await;
    app.saw(1).await;
    drop(app);
    let text = receiver.result().await["text"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(
        text.starts_with("Error: ") && text.ends_with("(DISCONNECTED)"),
        "{text}"
    );
    runtime.cancel("t", "1").await;
    // The app comes back, and the thread works again.
    let _app = App::start(&gateway, "demo").await;
    runtime.invoke(&receiver, "echo", "t", "1", json!({})).await;
    assert_eq!(receiver.took(2).await[1].body["text"], "{}");
}
