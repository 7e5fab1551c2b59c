//! A measurement: `cargo test --release --features gateway --test native -- --ignored rap_server::latency`

use std::time::{Duration, Instant};

use serde_json::json;

use super::app::App;
use super::runtime::{Receiver, Runtime};
use crate::support::*;

const IN_FLIGHT: usize = 1_000;
const NOTIFICATIONS: usize = 2_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement, which a busy machine spoils"]
async fn notifications_with_a_thousand_runs_in_flight() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    for number in 0..IN_FLIGHT {
        runtime
            .invoke(
                &receiver,
                "hold",
                &format!("t{}", number % 100),
                &number.to_string(),
                json!({}),
            )
            .await;
    }
    app.saw(IN_FLIGHT).await;
    let mut times = Vec::new();
    for number in 0..NOTIFICATIONS {
        let since = Instant::now();
        match number % 20 {
            // Unknown ones, known ones, and whole threads.
            0 => runtime.close(&format!("t{}", number / 20)).await,
            number if number % 2 == 1 => runtime.cancel("t0", "unknown").await,
            _ => {
                runtime
                    .cancel(
                        &format!("t{}", (number / 2) % 100),
                        &(number / 2).to_string(),
                    )
                    .await
            }
        }
        times.push(since.elapsed());
    }
    times.sort();
    let [median, p99, max] = [
        NOTIFICATIONS / 2,
        NOTIFICATIONS * 99 / 100,
        NOTIFICATIONS - 1,
    ]
    .map(|at| times[at]);
    eprintln!(
        "notifications with {IN_FLIGHT} runs in flight: median {median:?}, p99 {p99:?}, max {max:?}"
    );
    assert_eq!(receiver.took(IN_FLIGHT).await.len(), IN_FLIGHT);
    assert!(p99 < Duration::from_millis(5), "{p99:?}");
}
