//! The messages of one WebSocket, read from its frames (RFC 6455).
//!
//! The parts of a message are kept apart from the buffer for frames, so that a large message leaves no more
//! memory behind than a small one. Of a message that is too large only the beginning is kept, which is enough
//! to refuse the message under its id. Fragments are counted too, because the endpoint does not see a message
//! of many fragments before its end.

use std::io::Cursor;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::sleep;
use tungstenite::error::ProtocolError;
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::{CloseCode as WsCode, Control, Data, OpCode};
use tungstenite::protocol::frame::{Frame, FrameHeader};
use tungstenite::{Error as Ws, Utf8Bytes};

use super::replies::Replies;
use super::stream::{End, Watch};
use crate::bounds::Pace;
use crate::broker::CloseCode;

/// How much of a message that is too large is kept, and the size of the largest frame that is written.
pub(super) const PART: usize = 64 << 10;
/// The room for incoming bytes, and the size of the largest message that stays there.
const READ: usize = 32 << 10;
/// The least room for a read.
const LEAST: usize = 4 << 10;
/// The longest control frame.
const CONTROL: u64 = 125;

/// A fragment smaller than this costs more than its bytes.
const TINY: u64 = 1 << 10;
/// How many fragments of less than 1 KiB one connection may send per second. The last fragment of a message
/// does not count. A peer that sends more has to wait.
pub(crate) const TINY_PER_SECOND: u32 = 1_000;

/// The limits of a message's size.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageBytes {
    /// How many bytes of a message are kept. Of a larger message only the beginning is kept.
    pub kept: usize,
    /// How many bytes of a message are read. A larger message ends the connection.
    pub read: usize,
}

/// The input of a WebSocket.
#[derive(Debug)]
pub(super) struct Messages<S> {
    stream: S,
    /// Hears of unfinished messages.
    watch: Watch,
    replies: Arc<Replies>,
    most: MessageBytes,
    /// The received bytes that are not parsed yet.
    buffer: BytesMut,
    message: Option<Partial>,
    frame: Option<Rest>,
    tiny: Pace,
    is_over: bool,
    /// How many bytes of a binary message are kept.
    binary: usize,
}

/// A message or a control frame that has come.
#[derive(Debug)]
pub(super) enum Received {
    Text(Text),
    /// A binary message of that size. Its bytes are kept if they are few enough.
    Binary(Bytes, usize),
    /// A ping, which was answered, or a pong.
    Control,
    /// The close frame, which comes last. It is answered.
    Close,
}

/// A text message, which may not be UTF-8.
#[derive(Debug)]
pub(super) struct Text {
    kept: Bytes,
    /// How many bytes were sent. More than are kept, if only the beginning is kept.
    pub sent: usize,
}

/// The received part of a message in several frames, or of a large message.
#[derive(Debug)]
struct Partial {
    is_text: bool,
    kept: Vec<u8>,
    /// The message's bytes up to the end of the current frame.
    sent: usize,
}

/// The missing part of the current frame.
#[derive(Debug)]
struct Rest {
    bytes: usize,
    /// The mask from the next byte on.
    mask: [u8; 4],
    is_final: bool,
}

impl<S: AsyncRead + Unpin> Messages<S> {
    /// The messages of `stream`. A message of more bytes than `watch` allows also ends the connection.
    pub fn new(stream: S, mut most: MessageBytes, watch: Watch) -> Self {
        // The kept part must be long enough to contain the message's id.
        most.kept = most.kept.max(PART);
        Messages {
            stream,
            watch,
            replies: Arc::default(),
            most,
            buffer: BytesMut::new(),
            message: None,
            frame: None,
            tiny: Pace::new(TINY_PER_SECOND.into(), TINY_PER_SECOND.into()),
            is_over: false,
            binary: 0,
        }
    }

    /// Keeps binary messages of up to `bytes` bytes.
    pub fn keep_binary(mut self, bytes: usize) -> Self {
        self.binary = bytes;
        self
    }

    /// The answers to received frames.
    pub fn replies(&self) -> Arc<Replies> {
        self.replies.clone()
    }

    /// Waits for the next message. If the future is dropped, nothing is lost.
    pub async fn next(&mut self) -> Result<Received, End> {
        if self.is_over {
            return Err(End::Lost);
        }
        let next = self.read().await;
        self.is_over = matches!(next, Ok(Received::Close) | Err(_));
        next
    }

    /// Reads and ignores all input until the input ends.
    pub async fn discard(&mut self) {
        loop {
            self.buffer.clear();
            self.buffer.reserve(READ);
            let read = self.stream.read_buf(&mut self.buffer).await;
            if read.is_err() || matches!(read, Ok(0)) {
                return;
            }
        }
    }

    async fn read(&mut self) -> Result<Received, End> {
        loop {
            if self.frame.is_some() {
                if let Some(received) = self.gather() {
                    return Ok(received);
                }
                if self.frame.is_some() {
                    self.fill().await?;
                }
                continue;
            }
            let mut cursor = Cursor::new(&self.buffer);
            let header = FrameHeader::parse(&mut cursor).map_err(refused)?;
            let start = cursor.position() as usize;
            let Some((header, length)) = header else {
                self.fill().await?;
                continue;
            };
            let mask = self.check(&header, length)?;
            // `check` has limited the length.
            let length = length as usize;
            let data = match header.opcode {
                OpCode::Data(data) => Some(data),
                OpCode::Control(_) => None,
            };
            let in_parts = !header.is_final || self.message.is_some() || length > READ;
            if let Some(data) = data.filter(|_| in_parts) {
                while !header.is_final
                    && length < TINY as usize
                    && let Err(wait) = self.tiny.check()
                {
                    sleep(wait).await;
                    self.watch.held_up(wait);
                }
                self.buffer.advance(start);
                let message = self.message.get_or_insert_with(|| Partial {
                    is_text: data == Data::Text,
                    kept: Vec::new(),
                    sent: 0,
                });
                if message.kept.is_empty() {
                    let kept = if message.is_text { PART } else { self.binary };
                    message.kept.reserve_exact(length.min(kept));
                }
                message.sent += length;
                self.frame = Some(Rest {
                    bytes: length,
                    mask,
                    is_final: header.is_final,
                });
                continue;
            }
            if self.buffer.len() < start + length {
                self.fill().await?;
                continue;
            }
            self.buffer.advance(start);
            let mut payload = self.buffer.split_to(length);
            unmask(&mut payload, mask);
            let (kept, sent) = (payload.freeze(), length);
            return match header.opcode {
                OpCode::Data(Data::Text) => Ok(Received::Text(Text { kept, sent })),
                OpCode::Data(_) if sent <= self.binary => Ok(Received::Binary(kept, sent)),
                OpCode::Data(_) => Ok(Received::Binary(Bytes::new(), sent)),
                OpCode::Control(control) => self.control(control, kept),
            };
        }
    }

    /// Waits for more input.
    async fn fill(&mut self) -> Result<(), End> {
        if self.buffer.capacity() - self.buffer.len() < LEAST {
            self.buffer.reserve(READ);
        }
        let read = self.stream.read_buf(&mut self.buffer).await;
        if read.is_err() || matches!(read, Ok(0)) {
            return Err(End::Lost);
        }
        let (waiting, message) = (self.buffer.len(), self.message.as_ref());
        let kept = message.map_or(0, |it| it.kept.len());
        let due = self.frame.as_ref().map_or(0, |it| it.bytes);
        let come = message.map_or(0, |it| it.sent - due);
        self.watch.unfinished(come + waiting, kept + waiting)
    }

    /// Checks whether the frame is allowed now. Returns its mask.
    fn check(&self, header: &FrameHeader, length: u64) -> Result<[u8; 4], End> {
        let goes_on = self.message.is_some();
        let refusal = match header.opcode {
            _ if header.rsv1 || header.rsv2 || header.rsv3 => ProtocolError::NonZeroReservedBits,
            OpCode::Control(_) if !header.is_final => ProtocolError::FragmentedControlFrame,
            OpCode::Control(_) if length > CONTROL => ProtocolError::ControlFrameTooBig,
            OpCode::Data(Data::Continue) if !goes_on => ProtocolError::UnexpectedContinueFrame,
            OpCode::Data(data) if data != Data::Continue && goes_on => {
                ProtocolError::ExpectedFragment(data)
            }
            _ => match header.mask {
                Some(mask) => return self.has_room(header, length).map(|()| mask),
                None => ProtocolError::UnmaskedFrameFromClient,
            },
        };
        Err(refused(refusal.into()))
    }

    /// Checks whether a message with a frame of `length` bytes is read.
    fn has_room(&self, header: &FrameHeader, length: u64) -> Result<(), End> {
        let most = self.most.read.min(self.watch.most());
        let before = self.message.as_ref().map_or(0, |it| it.sent);
        if matches!(header.opcode, OpCode::Data(_)) && length > (most - before.min(most)) as u64 {
            let reason = format!("A message may have at most {most} bytes");
            return Err(End::Broken(CloseCode::TOO_BIG, reason));
        }
        Ok(())
    }

    /// Takes the received part of a frame. Returns the message, if it is complete.
    fn gather(&mut self) -> Option<Received> {
        let (frame, message) = (self.frame.as_mut()?, self.message.as_mut()?);
        let now = frame.bytes.min(self.buffer.len());
        let bytes = &mut self.buffer[..now];
        unmask(bytes, frame.mask);
        frame.mask.rotate_left(now % 4);
        frame.bytes -= now;
        message.keep(bytes, self.most.kept, self.binary);
        self.buffer.advance(now);
        if frame.bytes > 0 {
            return None;
        }
        let is_final = frame.is_final;
        self.frame = None;
        let message = self.message.take_if(|_| is_final)?;
        Some(match message.is_text {
            true => Received::Text(Text {
                kept: message.kept.into(),
                sent: message.sent,
            }),
            false => Received::Binary(message.kept.into(), message.sent),
        })
    }

    fn control(&self, control: Control, payload: Bytes) -> Result<Received, End> {
        match control {
            Control::Ping => self.replies.give(Frame::pong(payload)),
            Control::Close => {
                self.replies.give(Frame::close(answer_to(payload)?));
                return Ok(Received::Close);
            }
            Control::Pong | Control::Reserved(_) => {}
        }
        Ok(Received::Control)
    }
}

impl Partial {
    fn keep(&mut self, bytes: &[u8], accepted: usize, binary: usize) {
        let most = match self.sent > accepted {
            _ if !self.is_text && self.sent > binary => 0,
            _ if !self.is_text => self.sent,
            true => PART,
            false => self.sent,
        };
        if self.kept.len() > most {
            self.kept.truncate(most);
            self.kept.shrink_to_fit();
        }
        let room = most - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl Text {
    /// How many bytes of the text are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// The text, or its beginning.
    pub fn read(mut self) -> Result<Utf8Bytes, End> {
        if self.sent > self.len()
            && let Err(error) = str::from_utf8(&self.kept)
            && error.error_len().is_none()
        {
            // The kept part ends within a character.
            self.kept.truncate(error.valid_up_to());
        }
        let text = Utf8Bytes::try_from(self.kept).map_err(|error| refused(error.into()))?;
        // The text may occupy twice its length, and may wait long in a queue that counts only its length. So
        // it is copied: an allocator does not shrink a block that is only somewhat too large.
        Ok(match text.len() > PART {
            true => Utf8Bytes::from(text.as_str()),
            false => text,
        })
    }
}

/// The answer to a close frame: the same code and reason, if the code is allowed.
fn answer_to(payload: Bytes) -> Result<Option<CloseFrame>, End> {
    let code = match *payload {
        [] => return Ok(None),
        [_] => return Err(refused(ProtocolError::InvalidCloseSequence.into())),
        [first, second, ..] => WsCode::from(u16::from_be_bytes([first, second])),
    };
    let reason = Utf8Bytes::try_from(payload.slice(2..)).map_err(|error| refused(error.into()))?;
    Ok(Some(match code.is_allowed() {
        true => CloseFrame { code, reason },
        false => CloseFrame {
            code: WsCode::Protocol,
            reason: Utf8Bytes::from_static("Protocol violation"),
        },
    }))
}

/// The peer has broken a rule of the protocol.
fn refused(error: Ws) -> End {
    match error {
        Ws::Protocol(error) => End::Broken(CloseCode::PROTOCOL, error.to_string()),
        _ => End::Broken(CloseCode::NOT_TEXT, "Not UTF-8".into()),
    }
}

fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let (words, rest) = bytes.as_chunks_mut();
    let word_mask = u32::from_ne_bytes(mask);
    for word in words {
        *word = (u32::from_ne_bytes(*word) ^ word_mask).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests;
