use std::time::{Duration, Instant};

use serde_json::json;

use super::app::App;
use super::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

/// To one URL at once.
const AT_ONCE: usize = 8;
const ROUNDS: usize = 51;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_that_hangs_delays_nobody_else() {
    let gateway = Gateway::start().await;
    let _app = App::start(&gateway, "demo").await;
    let hanging = Receiver::start().await;
    let prompt = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    let before = usual_latency(&runtime, &prompt, "before").await;
    // More than are sent to a host at once: to one that hangs, and to one URL of the prompt one.
    for (name, receiver) in [("h", &hanging), ("p", &prompt)] {
        for number in 0..200 {
            let id = format!("{name}{number}");
            let message = invocation(&receiver.url("/hang"), "echo", "t", &id, json!({}));
            assert_eq!(runtime.post("/invoke", &message).await.0, 200);
        }
    }
    hanging.took(AT_ONCE).await;
    prompt.took(ROUNDS + AT_ONCE).await;
    let beside = usual_latency(&runtime, &prompt, "beside").await;
    assert!(
        beside < before + Duration::from_millis(50),
        "{before:?} before, {beside:?} beside"
    );
    assert_eq!(hanging.taken().len(), AT_ONCE);
    assert_eq!(prompt.taken().len(), ROUNDS + AT_ONCE + ROUNDS);
}

/// From an invocation to its result, as the median.
async fn usual_latency(runtime: &Runtime, receiver: &Receiver, thread: &str) -> Duration {
    let mut times = Vec::new();
    for number in 0..ROUNDS {
        let taken = receiver.taken().len();
        let since = Instant::now();
        runtime
            .invoke(receiver, "echo", thread, &number.to_string(), json!({}))
            .await;
        receiver.took(taken + 1).await;
        times.push(since.elapsed());
    }
    times.sort_unstable();
    times[ROUNDS / 2]
}
