//! Hands large frames to the WebSocket in parts, and cuts large messages into them.
//!
//! For a frame the WebSocket makes room in a buffer that stays as large as it was once, for as long as
//! the connection lasts. Of a message in several frames the whole is collected elsewhere, and no more of
//! it is left behind than a part.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

/// The largest frame that is passed on as it is, and the largest part of others. Masks have four bytes,
/// so it is a multiple of four.
const PART: u64 = 64 << 10;
/// Bytes read at once where frames may begin.
const READ: usize = 16 << 10;
/// Of the rest of a frame, so much is worth reading by itself.
const WORTH_IT: u64 = 4 << 10;

const FINAL: u8 = 0x80;
const CONTROL: u8 = 0x08;
const MASKED: u8 = 0x80;

/// A connection of which frames are read in parts.
#[derive(Debug)]
pub(crate) struct Parts<S> {
    stream: S,
    /// Larger frames are passed on as they are, to be refused by what their headers say.
    most: u64,
    frame: Frames,
    /// What is to be read next, because there was no room for it.
    waiting: BytesMut,
}

/// Where in a sequence of frames the next byte is.
#[derive(Debug, Default)]
struct Frames {
    /// What has come of a header.
    header: SmallVec<[u8; 14]>,
    /// Bytes of the frame that are yet to come, and of the part of it.
    left: u64,
    part: u64,
    /// If the frame is in parts: what its last part says of the end of the message, and its mask.
    last: u8,
    mask: [u8; 4],
}

impl<S> Parts<S> {
    pub fn new(stream: S, most: usize) -> Self {
        Parts {
            stream,
            most: most as u64,
            frame: Frames::default(),
            waiting: BytesMut::new(),
        }
    }
}

impl Frames {
    /// Takes what has come, and gives `put` what is to be read instead.
    fn take(&mut self, mut bytes: &[u8], most: u64, mut put: impl FnMut(&[u8])) {
        while let [first, rest @ ..] = bytes {
            if self.left == 0 {
                self.header.push(*first);
                bytes = rest;
                self.begin(most, &mut put);
                continue;
            }
            if self.part == 0 {
                self.next_part(0, &mut put);
            }
            let now = bytes.len().min(self.part as usize);
            put(&bytes[..now]);
            self.passed(now);
            bytes = &bytes[now..];
        }
    }

    fn passed(&mut self, bytes: usize) {
        self.left -= bytes as u64;
        self.part -= bytes as u64;
    }

    /// If the header is there, a frame begins.
    fn begin(&mut self, most: u64, put: &mut impl FnMut(&[u8])) {
        let &[first, second, ref rest @ ..] = &*self.header else {
            return;
        };
        let of_length = match second & !MASKED {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let is_masked = second & MASKED != 0;
        if rest.len() < of_length + 4 * usize::from(is_masked) {
            return;
        }
        let (length, mask) = rest.split_at(of_length);
        let length = match length {
            [] => u64::from(second & !MASKED),
            bytes => bytes
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        self.left = length;
        if let Ok(mask) = mask.try_into()
            && first & CONTROL == 0
            && (PART + 1..=most).contains(&length)
        {
            (self.last, self.mask) = (first & FINAL, mask);
            self.next_part(first & !FINAL, put);
        } else {
            self.part = length;
            put(&self.header);
        }
        self.header.clear();
    }

    /// A part begins, whose header is otherwise that.
    fn next_part(&mut self, first: u8, put: &mut impl FnMut(&[u8])) {
        self.part = self.left.min(PART);
        let is_last = self.part == self.left;
        put(&[first | if is_last { self.last } else { 0 }, MASKED | 127]);
        put(&self.part.to_be_bytes());
        put(&self.mask);
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
        if it.frame.part >= WORTH_IT {
            let most = buffer.remaining().min(it.frame.part as usize);
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
            ready!(Pin::new(&mut it.stream).poll_read(context, &mut part))?;
            let read = part.filled().len();
            buffer.advance(read);
            it.frame.passed(read);
            return Poll::Ready(Ok(()));
        }
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
            it.frame.take(read.filled(), it.most, |bytes| {
                let now = match waiting.is_empty() {
                    true => bytes.len().min(buffer.remaining()),
                    false => 0,
                };
                buffer.put_slice(&bytes[..now]);
                waiting.extend_from_slice(&bytes[now..]);
            });
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

#[cfg(test)]
mod tests;
