use std::time::{Duration, Instant};

use caphost_gateway::{Config, RapOptions, Tokens};
use serde_json::json;

use super::app::{App, CAPABILITIES};
use super::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

/// How many results are sent to one URL at once.
const AT_ONCE: usize = 8;
const ROUNDS: usize = 51;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_that_hangs_delays_nobody_else() {
    // A hanging request hangs longer than the whole test takes, even on a slow machine.
    let rap = RapOptions {
        callback_timeout: Duration::from_secs(600),
        ..RapOptions::default()
    };
    let gateway = Gateway::with(Config { rap, ..config() }).await;
    let _app = App::start(&gateway, "demo").await;
    let hanging = Receiver::start().await;
    let prompt = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    // More results than are sent to a host at once go to the hanging host, and to one hanging URL of the
    // prompt host.
    for (name, receiver) in [("h", &hanging), ("p", &prompt)] {
        for number in 0..200 {
            let id = format!("{name}{number}");
            let message = invocation(&receiver.url("/hang"), "echo", "t", &id, json!({}));
            assert_eq!(runtime.post("/invoke", &message).await.0, 200);
        }
    }
    hanging.took(AT_ONCE).await;
    prompt.took(AT_ONCE).await;
    // A second gateway where nothing hangs is measured as well, because other work of the machine delays
    // both.
    let quiet = Gateway::start().await;
    let _other = App::start(&quiet, "demo").await;
    let elsewhere = Runtime::new(&quiet, "");
    let unaffected = Receiver::start().await;
    let (mut usual, mut beside) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        usual.push(latency(&elsewhere, &unaffected, number).await);
        beside.push(latency(&runtime, &prompt, number).await);
    }
    let [usual, beside] = [usual, beside].map(|mut times| {
        times.sort_unstable();
        times[ROUNDS / 2]
    });
    assert!(
        beside < usual + Duration::from_millis(50),
        "{usual:?} usually, {beside:?} beside"
    );
    assert_eq!(hanging.taken().len(), AT_ONCE);
    assert_eq!(prompt.taken().len(), AT_ONCE + ROUNDS);
}

/// The time from an invocation to its result.
async fn latency(runtime: &Runtime, receiver: &Receiver, number: usize) -> Duration {
    let taken = receiver.taken().len();
    let since = Instant::now();
    let id = number.to_string();
    runtime.invoke(receiver, "echo", "u", &id, json!({})).await;
    receiver.took(taken + 1).await;
    since.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callbacks_of_one_token_that_hang_delay_no_other_token() {
    let tokens = ["app=app", "agent=greedy", "agent=modest"];
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.iter().map(|text| text.parse().unwrap()).collect()),
        rap: RapOptions {
            callback_timeout: Duration::from_secs(600),
            callback_allow: vec!["127.0.0.1".parse().unwrap()],
            ..RapOptions::default()
        },
        ..config()
    })
    .await;
    let _app = App::authorised(&gateway, "demo", &CAPABILITIES, "app").await;
    let greedy = Runtime::new(&gateway, "").with_token("greedy");
    let mut hanging = Vec::new();
    for _ in 0..12 {
        hanging.push(Receiver::start().await);
    }
    for number in 0..300 {
        let url = hanging[number % 12].url(&format!("/hang/{number}"));
        let message = invocation(&url, "echo", "t", &number.to_string(), json!({}));
        assert_eq!(greedy.post("/invoke", &message).await.0, 200);
    }
    let taken = || hanging.iter().map(|it| it.taken().len()).sum::<usize>();
    let full = async {
        while taken() < 64 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("as many as hang at once", full).await;
    // One result also goes to a host where results of the other token hang.
    let modest = Runtime::new(&gateway, "").with_token("modest");
    let prompt = Receiver::start().await;
    for (number, receiver) in [&prompt, &hanging[0]].into_iter().enumerate() {
        let before = receiver.taken().len();
        modest
            .invoke(receiver, "echo", "m", &number.to_string(), json!({}))
            .await;
        receiver.took(before + 1).await;
    }
    assert_eq!(taken(), 64 + 1);
}
