//! Reading from one peer, and the life of its connection.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use serde_json::json;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{Instant, sleep_until, timeout};

use super::hub::Hub;
use super::outbox::{Outbox, Phase};
use super::writer::write;
use crate::call::Error;
use crate::gateway::relay::{CloseCode, Event, PeerId};
use crate::gateway::wire::{Refusal, Subject};

/// Reading a message larger than this takes long enough to give up the worker's other tasks.
const LARGE_BYTES: usize = 1 << 20;

/// What a connection is to the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It calls.
    Agent,
    /// It offers.
    App,
}

/// Why reading ended.
enum End {
    /// The gateway closes, or the peer has.
    Closed,
    /// The peer broke the WebSocket protocol or sent too much: what it still sends is not read.
    Broken(CloseCode, String),
}

/// Serves one connection until it is gone.
pub async fn serve(
    socket: WebSocket,
    hub: Arc<Hub>,
    side: Side,
    joined: impl FnOnce(PeerId) -> Event<'static>,
) {
    let (sink, mut stream) = socket.split();
    let (peer, outbox, _connected) = hub.join(joined);
    tracing::debug!(peer = peer.0, ?side, "connected");
    let mut writer = tokio::spawn(write(sink, hub.clone(), peer, outbox.clone()));

    let end = read(&mut stream, &hub, peer, side, &outbox).await;
    hub.handle(Event::Gone { peer });
    let broken = match end {
        End::Closed => false,
        End::Broken(code, ref reason) => {
            tracing::info!(peer = peer.0, ?side, reason, "disconnected");
            outbox.close(code, reason.clone());
            true
        }
    };
    outbox.close(CloseCode::NORMAL, String::new());
    // The peer gets its last messages, and time to answer the close frame: a socket dropped with
    // unread bytes in it is reset, and the peer may lose what was sent.
    let _ = timeout(hub.limits.close_timeout, async {
        let _ = (&mut writer).await;
        while let Some(Ok(_)) = stream.next().await {}
        if broken {
            outbox.reached(Phase::Over).await;
        }
    })
    .await;
    outbox.end();
    if !writer.is_finished() {
        let _ = writer.await;
    }
    tracing::debug!(peer = peer.0, ?side, "gone");
}

async fn read(
    stream: &mut SplitStream<WebSocket>,
    hub: &Hub,
    peer: PeerId,
    side: Side,
    outbox: &Outbox,
) -> End {
    let dead = hub.limits.dead_peer_timeout;
    let register = sleep_until(Instant::now() + hub.limits.register_timeout);
    tokio::pin!(register);
    let mut registering = side == Side::App;
    let mut heard = Instant::now();
    loop {
        // An agent that sends faster than it reads waits; an app must go on answering.
        let next = async {
            if side == Side::Agent {
                outbox.short().await;
            }
            stream.next().await
        };
        let message = tokio::select! {
            biased;
            () = outbox.reached(Phase::Closing) => return End::Closed,
            message = next => message,
            () = &mut register, if registering => {
                registering = false;
                hub.handle(Event::RegisterTimeout { peer });
                continue;
            }
            () = sleep_until(heard + dead) => return silent(dead),
        };
        heard = Instant::now();
        match message {
            None | Some(Ok(Message::Close(_))) => return End::Closed,
            Some(Ok(Message::Text(text))) => {
                if text.len() > LARGE_BYTES
                    && Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread
                {
                    tokio::task::block_in_place(|| receive(hub, peer, &text));
                } else {
                    receive(hub, peer, &text);
                }
            }
            Some(Ok(Message::Binary(bytes))) => refuse_binary(hub, peer, bytes.len()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Err(error)) => return broken(error, hub.limits.frame_bytes),
        }
    }
}

fn receive(hub: &Hub, peer: PeerId, text: &Utf8Bytes) {
    let shared = Bytes::from(text.clone());
    hub.receive(peer, text, Some(&shared), None);
}

fn refuse_binary(hub: &Hub, peer: PeerId, bytes: usize) {
    let error = Error::invalid_params("Messages are text frames; this one is binary")
        .with_details(Box::new(json!({ "bytes": bytes })));
    let refusal = Box::new(Refusal {
        subject: Subject::default(),
        error,
    });
    hub.handle(Event::Refused { peer, refusal });
}

fn silent(dead: Duration) -> End {
    let reason = format!("No sign of life for {} s", dead.as_secs_f64());
    End::Broken(CloseCode::POLICY, reason)
}

fn broken(error: axum::Error, frame_bytes: usize) -> End {
    use tungstenite::Error as Ws;
    let error = error.into_inner();
    match error.downcast_ref::<Ws>() {
        Some(Ws::Capacity(_)) => {
            let reason = format!("A message may have at most {frame_bytes} bytes");
            End::Broken(CloseCode::TOO_BIG, reason)
        }
        Some(Ws::Utf8(_)) => End::Broken(CloseCode::NOT_TEXT, "Not UTF-8".into()),
        Some(Ws::Protocol(error)) => End::Broken(CloseCode::PROTOCOL, error.to_string()),
        _ => End::Closed,
    }
}
