//! A proxy for Redis that can hold up listening connections, and can make transfers slow.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A shorter timer is not worth setting.
const LEAST_PAUSE: Duration = Duration::from_millis(20);

/// Passes everything on until it must hold up the listening connections.
pub struct Proxy {
    address: SocketAddr,
    held: watch::Sender<u32>,
}

impl Proxy {
    pub async fn start(redis: SocketAddr) -> Self {
        Self::slow(redis, Duration::ZERO, Duration::ZERO).await
    }

    /// Each 64 KiB take `to_send` from a client to Redis, and `to_answer` from Redis to a client.
    pub async fn slow(redis: SocketAddr, to_send: Duration, to_answer: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let held = watch::Sender::new(0);
        let hold = held.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(redis).await.unwrap();
                let paces = (Pace::new(to_send), Pace::new(to_answer));
                tokio::spawn(pass(client, server, hold.subscribe(), paces));
            }
        });
        Proxy { address, held }
    }

    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Holds up the connections that listen now. Other connections may still connect and listen.
    pub fn hold(&self) {
        self.held.send_modify(|times| *times += 1);
    }
}

/// The speed of the bytes in one direction.
struct Pace {
    pause: Duration,
    passed: Instant,
}

impl Pace {
    /// Each 64 KiB take `pause`.
    fn new(pause: Duration) -> Self {
        let passed = Instant::now();
        Pace { pause, passed }
    }

    /// All pieces together take their time, even if each piece is small.
    async fn pass(&mut self, bytes: usize) {
        let pause = self.pause.mul_f64(bytes as f64 / 65_536.0);
        self.passed = self.passed.max(Instant::now()) + pause;
        if self.passed > Instant::now() + LEAST_PAUSE {
            sleep_until(self.passed).await;
        }
    }
}

async fn pass(
    mut client: TcpStream,
    mut server: TcpStream,
    mut held: watch::Receiver<u32>,
    (mut to_send, mut to_answer): (Pace, Pace),
) {
    let mut listens = false;
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            biased;
            changed = held.changed(), if listens => {
                changed.unwrap();
                // The connection stays open and silent.
                let mut rest = Vec::new();
                let _ = client.read_to_end(&mut rest).await;
                return;
            }
            read = client.read(&mut asked) => match read {
                Ok(count) if count > 0 => {
                    let text = &asked[..count];
                    listens |= text.windows(9).any(|it| it == b"SUBSCRIBE");
                    to_send.pass(count).await;
                    if server.write_all(text).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
            read = server.read(&mut answered) => match read {
                Ok(count) if count > 0 => {
                    to_answer.pass(count).await;
                    if client.write_all(&answered[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
