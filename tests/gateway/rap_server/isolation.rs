use std::time::{Duration, Instant};

use serde_json::json;

use super::app::App;
use super::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_that_hangs_delays_nobody_else() {
    let gateway = Gateway::start().await;
    let _app = App::start(&gateway, "demo").await;
    let hanging = Receiver::start().await;
    let prompt = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    // More than are sent to one host at once, and some of the host that is to be prompt.
    for number in 0..200 {
        let message = invocation(
            &hanging.url("/hang"),
            "echo",
            "t",
            &format!("h{number}"),
            json!({}),
        );
        assert_eq!(runtime.post("/invoke", &message).await.0, 200);
    }
    for number in 0..8 {
        let message = invocation(
            &prompt.url("/hang"),
            "echo",
            "t",
            &format!("p{number}"),
            json!({}),
        );
        assert_eq!(runtime.post("/invoke", &message).await.0, 200);
    }
    hanging.took(16).await;
    prompt.took(8).await;
    let since = Instant::now();
    for number in 0..50 {
        runtime
            .invoke(&prompt, "echo", "t", &number.to_string(), json!({}))
            .await;
    }
    prompt.took(58).await;
    // An attempt is given ten seconds.
    assert!(
        since.elapsed() < Duration::from_secs(5),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(hanging.taken().len(), 16);
}
