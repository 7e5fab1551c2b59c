//! A Redis with TLS.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::process::Child;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::*;
use crate::binary::{caphost, port_of, serve};

fn redis_with_tls() -> Redis {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_string()]).unwrap();
    Redis::start_with_tls(&cert.pem(), &signing_key.serialize_pem())
}

/// A worker on that Redis, and the worker's port.
async fn worker(redis: &Redis, trusts_it: bool) -> (Child, u16) {
    let url = format!("rediss://localhost:{}", redis.address().port());
    let mut command = caphost(&["serve", "--port", "0", "--redis", &url]);
    if trusts_it {
        command.env("SSL_CERT_FILE", redis.certificate());
    }
    let (child, line) = serve(command).await;
    (child, port_of(&line))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_reaches_redis_by_tls_if_it_trusts_its_certificate() {
    let redis = redis_with_tls();
    for (trusted, state) in [(true, "connected"), (false, "unreachable")] {
        let (_child, port) = worker(&redis, trusted).await;
        let ready = format!("http://127.0.0.1:{port}/readyz");
        let client = http_within(Duration::from_secs(10));
        let asked = async || {
            let answer = client.get(&ready).send().await.unwrap();
            let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
            answer["redis"].clone()
        };
        // The worker connects in the background.
        let reached = async {
            while asked().await != state {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon(state, reached).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(asked().await, state);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_go_between_workers_by_way_of_a_redis_with_tls() {
    let redis = redis_with_tls();
    let (_one, of_app) = worker(&redis, true).await;
    let (_two, of_agent) = worker(&redis, true).await;
    let connected = |port: u16, path: &str| {
        let url = format!("ws://127.0.0.1:{port}{path}");
        Peer::open(url.into_client_request().unwrap())
    };
    let mut app = connected(of_app, "/abp/app").await.unwrap();
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let client = http_within(Duration::from_secs(10));
    let manifest = format!("http://127.0.0.1:{of_agent}/abp.json?app=demo");
    let known = async {
        while client.get(&manifest).send().await.unwrap().status() != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("the app on the other worker", known).await;
    let mut agent = connected(of_agent, "/abp?app=demo").await.unwrap();
    agent.initialize(&mut app).await;
    agent.call_through(&mut app).await;
}
