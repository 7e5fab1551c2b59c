#![cfg(unix)]

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::Child;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::binary::{caphost, port_of, serve};
use crate::support::*;

fn signal(child: &Child) {
    let pid = child.id().unwrap().to_string();
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-TERM", &pid]).status().unwrap().success());
}

/// A gateway that drains for a minute, with a call in flight.
async fn draining(log: &str) -> (Child, u16, Peer, Peer) {
    let arguments = ["serve", "--port", "0", "--drain", "1m", "--log", log];
    let (child, ready) = serve(caphost(&arguments)).await;
    let port = port_of(&ready);
    let peer = async |path: &str| {
        let url = format!("ws://127.0.0.1:{port}{path}");
        Peer::open(url.into_client_request().unwrap())
            .await
            .unwrap()
    };
    let mut app = peer("/abp/app").await;
    app.send(register("demo")).await;
    app.next().await;
    let mut agent = peer("/abp").await;
    agent.initialize(&mut app).await;
    agent.send(call("1", "held")).await;
    (child, port, app, agent)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_lets_calls_in_flight_end() {
    let (mut child, port, mut app, mut agent) = draining("info").await;
    let called = app.next().await;
    signal(&child);
    // Two signals at once count as one, because a terminal and npm both send the signal.
    signal(&child);
    // The gateway has received both signals when it says that it stops.
    let url = format!("http://127.0.0.1:{port}/readyz");
    let http = http_within(Duration::from_secs(20));
    let stopping = async {
        while http.get(&url).send().await.unwrap().status() == 200 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the drain", stopping).await;
    agent.send(call("2", "new")).await;
    assert_eq!(code(&agent.next().await), "CAPABILITY_UNAVAILABLE");
    let done = json!({ "success": true });
    app.send(answer(&called, "capabilities/call-result", done))
        .await;
    assert_eq!(agent.next().await["payload"]["success"], true);
    assert_eq!(agent.closed().await, 1001);
    assert_eq!(app.closed().await, 1001);
    drop((app, agent));
    let status = soon("the end", child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).await.unwrap();
    let counts = "stopped completed=1 failed=0 cancelled=0 unknown=0 refused=1 closed_in_time=true";
    assert!(said.contains(counts), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_it_at_once() {
    let (mut child, _, mut app, _agent) = draining("warn").await;
    app.next().await;
    let begun = Instant::now();
    signal(&child);
    sleep(Duration::from_millis(800)).await;
    signal(&child);
    let status = soon("the end", child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(begun.elapsed() < Duration::from_secs(20));
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "caphost: a second signal has ended it at once\n");
}
