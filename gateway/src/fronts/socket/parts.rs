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
mod tests {
    use std::time::Duration;

    use futures_util::{SinkExt, StreamExt};
    use tokio::io::duplex;
    use tokio::time::timeout;
    use tokio_tungstenite::WebSocketStream;
    use tungstenite::protocol::{Role, WebSocketConfig};
    use tungstenite::{Error, Message};

    use super::*;

    const MOST: usize = 1 << 20;

    /// What is read of what a client sends, over a connection that takes so many bytes at once.
    async fn received(at_once: usize, sent: Vec<Message>) -> Vec<Result<Message, Error>> {
        let (ours, theirs) = duplex(at_once);
        let mut client = WebSocketStream::from_raw_socket(theirs, Role::Client, None).await;
        let config = WebSocketConfig::default()
            .max_frame_size(Some(MOST))
            .max_message_size(Some(MOST));
        let parts = Parts::new(ours, MOST);
        let mut server = WebSocketStream::from_raw_socket(parts, Role::Server, Some(config)).await;
        let sending = async {
            for message in sent {
                // What is refused is not taken to its end.
                let _ = client.send(message).await;
            }
            let _ = client.close(None).await;
        };
        let reading = async {
            let mut read = Vec::new();
            while let Some(message) = server.next().await {
                match message {
                    Ok(Message::Close(_)) => break,
                    Err(_) => {
                        read.push(message);
                        break;
                    }
                    _ => read.push(message),
                }
            }
            drop(server);
            read
        };
        let both = async { tokio::join!(sending, reading).1 };
        timeout(Duration::from_secs(20), both).await.unwrap()
    }

    fn fragment(text: &str, code: Data, is_last: bool) -> Message {
        let code = OpCode::Data(code);
        Message::Frame(Frame::message(text.to_string(), code, is_last))
    }

    #[tokio::test]
    async fn what_is_read_in_parts_is_what_was_sent() {
        let part = PART as usize;
        let sizes = [
            0,
            1,
            125,
            126,
            4_095,
            65_535,
            part,
            part + 1,
            2 * part,
            3 * part + 5,
            MOST,
        ];
        // Characters of three bytes, which lie across the parts.
        let mut sent: Vec<_> = sizes
            .map(|size| "\u{20ac}".repeat(size / 3))
            .map(Message::text)
            .into();
        sent.extend(sizes.map(|size| Message::binary(vec![7; size])));
        sent.insert(5, Message::Ping("ping".into()));
        for at_once in [1_000, 16 << 10, 4 << 20] {
            let read = received(at_once, sent.clone()).await;
            let read: Vec<_> = read.into_iter().map(Result::unwrap).collect();
            assert!(read == sent, "{at_once}");
        }
        let few = sent
            .into_iter()
            .filter(|it| it.len() < 5_000)
            .collect::<Vec<_>>();
        let read = received(1, few.clone()).await;
        assert!(read.into_iter().map(Result::unwrap).eq(few));
    }

    #[tokio::test]
    async fn fragments_stay_fragments_of_one_message() {
        let long = "x".repeat(100_000);
        let sent = vec![
            fragment(&long, Data::Text, false),
            Message::Ping("ping".into()),
            fragment(&long, Data::Continue, false),
            fragment("end", Data::Continue, true),
            Message::text("next"),
        ];
        let mut read = received(10_000, sent).await.into_iter().map(Result::unwrap);
        assert_eq!(read.next(), Some(Message::Ping("ping".into())));
        assert!(read.next() == Some(Message::text(format!("{long}{long}end"))));
        assert_eq!(read.next(), Some(Message::text("next")));
    }

    #[tokio::test]
    async fn what_is_too_large_is_refused_by_its_header() {
        let read = received(10_000, vec![Message::text("x".repeat(MOST + 1))]).await;
        assert!(matches!(read[..], [Err(Error::Capacity(_))]), "{read:?}");
        let long = "x".repeat(MOST / 2);
        let fragments = [Data::Text, Data::Continue, Data::Continue];
        let sent = fragments.map(|code| fragment(&long, code, false)).into();
        let read = received(10_000, sent).await;
        assert!(matches!(read[..], [Err(Error::Capacity(_))]), "{read:?}");
    }

    #[test]
    fn a_message_is_cut_into_frames_that_make_it() {
        let part = PART as usize;
        for (bytes, count) in [(0, 1), (1, 1), (part, 1), (part + 1, 2), (3 * part, 3)] {
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
