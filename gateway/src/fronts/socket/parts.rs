//! Hands large frames to the WebSocket in parts, and cuts large messages into them.
//!
//! The WebSocket reads a frame into a buffer that never shrinks as long as the connection lasts. A
//! message in several frames is collected elsewhere, and leaves behind no more room than a part
//! takes.
//!
//! Fragments are counted as well: a message in any number of them is not seen before its end.
//!
//! When a message is too large to be accepted, only its beginning is handed on. That is enough to refuse
//! it under its id. The rest is dropped as it comes.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};
use tungstenite::Utf8Bytes;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::stream::Watch;
use frames::{Frames, News};

/// The largest frame that is passed on as it is, and the largest part of others. Masks have four bytes,
/// so it is a multiple of four.
const PART: u64 = 64 << 10;
/// Bytes read at once where frames may begin.
const READ: usize = 16 << 10;
/// Smallest rest of a frame that is read separately.
const WORTH_IT: u64 = 4 << 10;

/// Fragments of less than 1 KiB of one connection, not counting the last of each message. A peer that
/// sends more has to wait.
pub(crate) const TINY_PER_SECOND: u32 = 1_000;

/// A connection whose frames are read in parts.
#[derive(Debug)]
pub(crate) struct Parts<S> {
    stream: S,
    frame: Frames,
    watch: Watch,
    /// What is to be read next, because there was no room for it.
    waiting: BytesMut,
    /// When the tiny fragments that have come are within their rate, and until when nothing is read if
    /// that is too far away.
    paid: Option<Instant>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S> Parts<S> {
    /// Messages of more than `accepted` bytes are cut, and of those with more than `most` the connection
    /// is closed. `watch` is told what is dropped.
    pub fn new(stream: S, accepted: usize, most: usize, watch: Watch) -> Self {
        Parts {
            stream,
            frame: Frames::new(accepted as u64, most as u64),
            watch,
            waiting: BytesMut::new(),
            paid: None,
            pause: None,
        }
    }

    /// Tells what was dropped of what was read last, and counts the tiny fragments in it: more may come
    /// at once than in a second of no more than were in one reading.
    fn count(&mut self) {
        let News { tiny, dropped, cut } = std::mem::take(&mut self.frame.news);
        if dropped > 0 || !cut.is_empty() {
            self.watch.dropped(dropped, cut);
        }
        if tiny == 0 {
            return;
        }
        let now = Instant::now();
        let cost = Duration::from_secs(1) * tiny / TINY_PER_SECOND;
        let paid = self.paid.map_or(now, |paid| paid.max(now)) + cost;
        self.paid = Some(paid);
        if paid > now + Duration::from_secs(1) {
            let end = paid - Duration::from_secs(1);
            self.pause = Some(Box::pin(sleep_until(end)));
        }
    }

    /// Waits until more may be read.
    fn poll_pause(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Parts<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let it = &mut *self;
        if !it.waiting.is_empty() {
            let now = it.waiting.len().min(buffer.remaining());
            buffer.put_slice(&it.waiting.split_to(now));
            if it.waiting.is_empty() {
                it.waiting = BytesMut::new();
            }
            return Poll::Ready(Ok(()));
        }
        if it.frame.part() >= WORTH_IT {
            let most = buffer.remaining().min(it.frame.part() as usize);
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
            ready!(Pin::new(&mut it.stream).poll_read(context, &mut part))?;
            let read = part.filled().len();
            buffer.advance(read);
            it.frame.passed(read);
            return Poll::Ready(Ok(()));
        }
        ready!(it.poll_pause(context));
        let before = buffer.filled().len();
        let mut space = [const { MaybeUninit::uninit() }; READ];
        // A header that is not complete is no reason to return: nothing read means the end.
        while buffer.filled().len() == before {
            let mut read = ReadBuf::uninit(&mut space);
            ready!(Pin::new(&mut it.stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                break;
            }
            let waiting = &mut it.waiting;
            it.frame.take(read.filled(), |bytes| {
                let now = match waiting.is_empty() {
                    true => bytes.len().min(buffer.remaining()),
                    false => 0,
                };
                buffer.put_slice(&bytes[..now]);
                waiting.extend_from_slice(&bytes[now..]);
            });
            it.count();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Parts<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The frames of a text message that is written.
pub(super) fn frames_of(mut text: Bytes) -> impl Iterator<Item = Frame> {
    let mut code = Some(Data::Text);
    std::iter::from_fn(move || {
        let data = code?;
        let part = text.split_to(text.len().min(PART as usize));
        code = (!text.is_empty()).then_some(Data::Continue);
        Some(Frame::message(part, OpCode::Data(data), code.is_none()))
    })
}

/// A text that has come in several frames without the room that it was collected in: of that there may
/// be twice as much, and the text may wait for long in what is counted by its length. It is copied,
/// as allocators leave a block as it is when somewhat less of it is needed.
pub(super) fn fitted(text: Utf8Bytes) -> Utf8Bytes {
    match text.len() as u64 > PART {
        true => Utf8Bytes::from(text.as_str()),
        false => text,
    }
}

mod frames;

#[cfg(test)]
mod tests;
