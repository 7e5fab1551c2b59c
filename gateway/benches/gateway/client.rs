//! An agent that makes calls and measures their times.

use std::time::Instant;

use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

/// The kind of server that the agent calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Echo,
    Bare,
    Abp,
}

pub struct Agent {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    serial: usize,
}

impl Agent {
    pub async fn connect(url: &str, kind: Kind) -> Agent {
        let (mut socket, _) = connect_async_with_config(url, None, true)
            .await
            .expect("the agent's connection");
        if kind == Kind::Abp {
            let payload =
                r#"{"agent":{"name":"bench","version":"1"},"protocolVersion":"0.1","features":{}}"#;
            let hello = format!(r#"{{"type":"initialize","id":"i","payload":{payload}}}"#);
            let _ = socket.send(Message::text(hello)).await;
            let _ = socket.next().await;
        }
        Agent { socket, serial: 0 }
    }

    /// Calls per second, with `window` of them in flight.
    pub async fn throughput(&mut self, calls: usize, window: usize) -> f64 {
        let started = Instant::now();
        let (mut sent, mut received) = (0, 0);
        while received < calls {
            while sent < calls && sent - received < window {
                let message = self.next_call();
                let _ = self.socket.feed(message).await;
                sent += 1;
            }
            let _ = self.socket.flush().await;
            self.receive().await;
            received += 1;
            // Other messages that are already there are received before more are sent.
            while received < sent
                && let Some(Some(_)) = self.socket.next().now_or_never()
            {
                received += 1;
            }
        }
        calls as f64 / started.elapsed().as_secs_f64()
    }

    /// The times of calls that are made one after another, in microseconds.
    pub async fn latencies(&mut self, calls: usize) -> Vec<f64> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let started = Instant::now();
            self.send().await;
            self.receive().await;
            times.push(started.elapsed().as_secs_f64() * 1e6);
        }
        times
    }

    pub async fn send(&mut self) {
        let message = self.next_call();
        self.socket.send(message).await.expect("a call sent");
    }

    pub async fn receive(&mut self) {
        let received = self.socket.next().await;
        received.expect("an answer").expect("an answer");
    }

    fn next_call(&mut self) -> Message {
        self.serial += 1;
        let serial = self.serial;
        let payload = format!(
            r#"{{"capability":"echo","params":{{"value":1}},"options":{{"callId":"call-{serial}"}}}}"#
        );
        Message::text(format!(
            r#"{{"type":"capabilities/call","id":"{serial}","timestamp":1,"payload":{payload}}}"#
        ))
    }
}
