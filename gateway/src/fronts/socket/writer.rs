//! Writes to one peer: queued messages, answers, pings, and the close frame.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tungstenite::Utf8Bytes;
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::broker::CloseCode;
use crate::fronts::socket::Endpoint;
use crate::fronts::socket::messages::PART;
use crate::fronts::socket::replies::Replies;
use crate::gateway::{Outbox, OutboxPhase, OutboxStep};

/// How long a peer that does not read has to accept the close frame.
pub(super) const LAST_WORD: Duration = Duration::from_millis(200);
/// How many bytes of a reason fit into a close frame.
const MAX_REASON_BYTES: usize = 123;
/// How many bytes are gathered before they are written.
const AT_ONCE: usize = 128 << 10;

/// The next thing to write.
enum Due {
    Frame(Frame),
    Step(OutboxStep),
}

/// Writes until the connection is closed, breaks, or is over. If the peer `is_broken`, the gateway may not
/// understand the peer's answer to the close frame. Then the close frame ends the stream, and the peer ends
/// its stream as well.
pub async fn write<E: Endpoint>(
    stream: impl AsyncWrite + Unpin,
    every: Duration,
    endpoint: &E,
    outbox: &Outbox,
    replies: &Replies,
    is_broken: &AtomicBool,
) {
    let mut frames = Frames {
        stream,
        buffer: BytesMut::new(),
        is_closed: false,
    };
    let mut over = pin!(outbox.reached(OutboxPhase::Over));
    let mut ping = interval_at(Instant::now() + every, every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let due = tokio::select! {
            biased;
            () = &mut over => break,
            reply = replies.next() => Due::Frame(reply),
            step = outbox.next() => Due::Step(step),
            _ = ping.tick() => Due::Frame(Frame::ping(Bytes::new())),
        };
        let drained = tokio::select! {
            biased;
            () = &mut over => break,
            drained = frames.drain(due, endpoint, outbox, replies) => drained,
        };
        if drained.is_err() || frames.is_closed {
            if is_broken.load(Relaxed) {
                let _ = frames.stream.shutdown().await;
            }
            return;
        }
    }
    if let Some(OutboxStep::Close(code, reason)) = outbox.pop() {
        let last = async {
            frames.feed(close_frame(code, &reason)).await?;
            frames.flush().await
        };
        let _ = timeout(LAST_WORD, last).await;
    }
}

/// The frames on their way. If a write is interrupted, it can continue later.
struct Frames<S> {
    stream: S,
    buffer: BytesMut,
    /// Whether the close frame was written, which is the last frame.
    is_closed: bool,
}

impl<S: AsyncWrite + Unpin> Frames<S> {
    /// Writes `due` and everything else that is due by then, in one go.
    async fn drain(
        &mut self,
        due: Due,
        endpoint: &impl Endpoint,
        outbox: &Outbox,
        replies: &Replies,
    ) -> io::Result<()> {
        let mut next = Some(due);
        while let Some(due) = next.filter(|_| !self.is_closed) {
            match due {
                Due::Frame(frame) => self.feed(frame).await?,
                Due::Step(OutboxStep::Close(code, reason)) => {
                    self.feed(close_frame(code, &reason)).await?;
                }
                Due::Step(OutboxStep::Message(message, cost)) => {
                    let text = Bytes::from(message.into_text());
                    let announcement = endpoint.announcement(text.len()).map(Bytes::from);
                    for frame in announcement.into_iter().chain([text]).flat_map(frames_of) {
                        // Answers do not wait for the end of a long message.
                        while let Some(reply) = replies.take() {
                            self.feed(reply).await?;
                        }
                        self.feed(frame).await?;
                    }
                    if outbox.written(cost) {
                        endpoint.relieved(outbox);
                    }
                }
            }
            let reply = replies.take().map(Due::Frame);
            next = reply.or_else(|| outbox.pop().map(Due::Step));
        }
        self.flush().await
    }

    async fn feed(&mut self, frame: Frame) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        self.is_closed = frame.header().opcode == OpCode::Control(Control::Close);
        self.buffer.reserve(frame.len());
        let formatted = frame.format(&mut (&mut self.buffer).writer());
        formatted.map_err(io::Error::other)?;
        if self.buffer.len() > AT_ONCE {
            self.stream.write_all_buf(&mut self.buffer).await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all_buf(&mut self.buffer).await?;
        self.stream.flush().await
    }
}

/// The frames of a text message.
fn frames_of(mut text: Bytes) -> impl Iterator<Item = Frame> {
    let mut code = Some(Data::Text);
    std::iter::from_fn(move || {
        let data = code?;
        let part = text.split_to(text.len().min(PART));
        code = (!text.is_empty()).then_some(Data::Continue);
        Some(Frame::message(part, OpCode::Data(data), code.is_none()))
    })
}

fn close_frame(code: CloseCode, reason: &str) -> Frame {
    let mut end = reason.len().min(MAX_REASON_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let reason = &reason[..end];
    Frame::close(Some(CloseFrame {
        code: code.0.into(),
        reason: Utf8Bytes::from(reason),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_into_frames_that_make_it() {
        for (bytes, count) in [(0, 1), (1, 1), (PART, 1), (PART + 1, 2), (3 * PART, 3)] {
            let text = Bytes::from(vec![b'x'; bytes]);
            let frames: Vec<_> = frames_of(text.clone()).collect();
            assert_eq!(frames.len(), count, "{bytes}");
            let payloads: Vec<_> = frames.iter().map(Frame::payload).collect();
            assert_eq!(payloads.concat(), text);
            for (index, frame) in frames.iter().enumerate() {
                let header = frame.header();
                assert_eq!(header.is_final, index + 1 == count);
                let code = if index == 0 {
                    Data::Text
                } else {
                    Data::Continue
                };
                assert_eq!(header.opcode, OpCode::Data(code));
            }
        }
    }
}
