//! Writing to one peer: what is queued, pings, and the close frame.

use std::pin::pin;
use std::time::Duration;

use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tungstenite::protocol::CloseFrame;
use tungstenite::{Message, Utf8Bytes};

use crate::broker::CloseCode;
use crate::fronts::socket::Endpoint;
use crate::fronts::socket::parts::frames_of;
use crate::fronts::socket::web_socket::WebSocket;
use crate::gateway::{Outbox, OutboxPhase as Phase, OutboxStep as Step};

/// How long a peer that does not read has to take the close frame.
pub(super) const LAST_WORD: Duration = Duration::from_millis(200);
/// How many bytes of a reason fit into a close frame.
const MAX_REASON_BYTES: usize = 123;

type Sink = SplitSink<WebSocket, Message>;

/// Writes until the connection is closed, breaks, or is over.
pub async fn write<E: Endpoint>(mut sink: Sink, every: Duration, endpoint: &E, outbox: &Outbox) {
    let mut over = pin!(outbox.reached(Phase::Over));
    let mut ping = interval_at(Instant::now() + every, every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let ended = tokio::select! {
            biased;
            () = &mut over => break,
            step = outbox.next() => tokio::select! {
                biased;
                () = &mut over => break,
                ended = drain(&mut sink, endpoint, outbox, step) => ended,
            },
            _ = ping.tick() => tokio::select! {
                biased;
                () = &mut over => break,
                sent = sink.send(Message::Ping(Default::default())) => sent.is_err(),
            },
        };
        if ended {
            return;
        }
    }
    if let Some(Step::Close(code, reason)) = outbox.pop() {
        let _ = timeout(LAST_WORD, sink.send(close_frame(code, &reason))).await;
    }
}

/// Writes `step` and whatever is queued behind it in one go. Whether that was the last.
async fn drain(sink: &mut Sink, endpoint: &impl Endpoint, outbox: &Outbox, step: Step) -> bool {
    let mut next = Some(step);
    while let Some(step) = next {
        let (message, cost) = match step {
            Step::Message(message, cost) => (message.into_text(), cost),
            Step::Close(code, reason) => {
                let _ = sink.send(close_frame(code, &reason)).await;
                return true;
            }
        };
        for frame in frames_of(message.into()) {
            if sink.feed(Message::Frame(frame)).await.is_err() {
                return true;
            }
        }
        if outbox.written(cost) {
            endpoint.relieved(outbox);
        }
        next = outbox.pop();
    }
    sink.flush().await.is_err()
}

fn close_frame(code: CloseCode, reason: &str) -> Message {
    let mut end = reason.len().min(MAX_REASON_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let reason = Utf8Bytes::from(&reason[..end]);
    Message::Close(Some(CloseFrame {
        code: code.0.into(),
        reason,
    }))
}
