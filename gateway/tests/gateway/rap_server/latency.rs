//! A measurement: `cargo test --release --package caphost-gateway --test gateway -- --ignored rap_server::latency`

use std::time::{Duration, Instant};

use serde_json::json;

use super::app::App;
use super::runtime::{Receiver, Runtime};
use crate::support::*;

const IN_FLIGHT: usize = 1_000;
const THREADS: usize = 100;
const ROUNDS: usize = 1_000;

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
                &format!("t{}", number % THREADS),
                &number.to_string(),
                json!({}),
            )
            .await;
    }
    app.saw(IN_FLIGHT).await;
    let mut times = [const { Vec::new() }; 4];
    for number in 0..ROUNDS {
        let id = format!("extra {number}");
        runtime
            .invoke(&receiver, "hold", "t0", &id, json!({}))
            .await;
        for (kind, times) in times.iter_mut().enumerate() {
            let since = Instant::now();
            match kind {
                0 => {
                    let health = runtime.http.get(format!("{}/healthz", runtime.base));
                    assert_eq!(health.send().await.unwrap().text().await.unwrap(), "ok");
                }
                1 => runtime.cancel("t0", "unknown").await,
                2 => runtime.close("unknown").await,
                _ => runtime.cancel("t0", &id).await,
            }
            times.push(since.elapsed());
        }
        receiver.took(number + 1).await;
    }
    let kinds = [
        "the least of requests",
        "a cancel of nothing",
        "a close of nothing",
        "a cancel",
    ];
    let mut p99s = Vec::new();
    for (kind, times) in kinds.iter().zip(times) {
        p99s.push(report(kind, times));
    }
    let since = Instant::now();
    runtime.close("t1").await;
    eprintln!(
        "a close of a thread with {} runs: {:?}",
        IN_FLIGHT / THREADS,
        since.elapsed()
    );
    for thread in 0..THREADS {
        runtime.close(&format!("t{thread}")).await;
    }
    assert_eq!(
        receiver.took(IN_FLIGHT + ROUNDS).await.len(),
        IN_FLIGHT + ROUNDS
    );
    // The delay of any request on a busy machine is not the gateway's fault.
    let most = Duration::from_millis(5) + p99s[0];
    assert!(p99s.iter().all(|p99| *p99 < most), "{p99s:?}");
}

fn report(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let [median, p99, max] = [0.5, 0.99, 1.0].map(at);
    eprintln!("{what}, {IN_FLIGHT} runs in flight: median {median:?}, p99 {p99:?}, max {max:?}");
    p99
}
