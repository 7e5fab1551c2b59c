//! A measurement: `cargo test --release --features gateway --test gateway -- --ignored rap_server::latency`

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
    let mut floor = Vec::new();
    for number in 0..NOTIFICATIONS {
        let since = Instant::now();
        match number % 20 {
            // Unknown ones, known ones, and whole threads.
            0 => runtime.close(&format!("t{}", number / 20)).await,
            odd if odd % 2 == 1 => runtime.cancel("t0", "unknown").await,
            _ => {
                let known = number / 2;
                let thread = format!("t{}", known % 100);
                runtime.cancel(&thread, &known.to_string()).await;
            }
        }
        times.push(since.elapsed());
        let since = Instant::now();
        let health = runtime.http.get(format!("{}/healthz", runtime.base));
        assert_eq!(health.send().await.unwrap().text().await.unwrap(), "ok");
        floor.push(since.elapsed());
    }
    let p99 = report("notifications", times);
    let least = report("the least of requests", floor);
    assert_eq!(receiver.took(IN_FLIGHT).await.len(), IN_FLIGHT);
    // What any request takes on a busy machine is not ours.
    assert!(p99 < Duration::from_millis(5) + least, "{p99:?}");
}

fn report(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let [median, p99, max] = [0.5, 0.99, 1.0].map(at);
    eprintln!("{what}, {IN_FLIGHT} runs in flight: median {median:?}, p99 {p99:?}, max {max:?}");
    p99
}
