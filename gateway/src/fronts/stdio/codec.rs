//! Splits a stream of bytes into messages.

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::{Buf, BytesMut};
use memchr::memchr;
use tokio_util::codec::{Decoder, Encoder};

use crate::wire::{BYTE_ORDER_MARK, one_line};

/// How messages are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// One message per line, as in ACP and MCP.
    Lines,
    /// A `Content-Length` header before each message, as in LSP.
    Headers,
}

/// A message from the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A message with any text.
    Message(String),
    /// A message of this many bytes, which was dropped.
    TooLarge(u64),
    /// A message that is not UTF-8.
    NotText,
}

/// Why nothing more can be read.
#[derive(Debug)]
pub(super) enum Broken {
    /// Reading or writing has failed.
    Io(io::Error),
    /// Nobody can tell any more where a message begins.
    Lost(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Broken::Io(error)
    }
}

/// The beginning of every header, in any case.
const CONTENT: &[u8] = b"content-";
/// How many bytes all headers of one message may have. LSP has two headers.
const MAX_HEADER_BYTES: usize = 4 << 10;

/// Reads and writes messages. Clones share the framing: the framing that one clone reads decides how another
/// clone writes.
#[derive(Clone, Debug)]
pub(super) struct Codec {
    max: usize,
    framing: Arc<OnceLock<Framing>>,
    /// How many bytes of the current line contain no line break.
    searched: usize,
    /// How many bytes of a message that is too large were dropped.
    dropped: u64,
    /// How many bytes of a body that is too large must still be dropped.
    to_drop: u64,
}

impl Codec {
    /// A codec that takes the framing from the first bytes it reads. Messages have at most `max` bytes.
    pub(super) fn detecting(max: usize) -> Self {
        Codec {
            max,
            framing: Arc::default(),
            searched: 0,
            dropped: 0,
            to_drop: 0,
        }
    }

    /// A codec with one message per line.
    pub(super) fn lines(max: usize) -> Self {
        let codec = Codec::detecting(max);
        let _ = codec.framing.set(Framing::Lines);
        codec
    }

    fn detect(&self, bytes: &mut BytesMut) -> Option<Framing> {
        skip_space(bytes);
        if BYTE_ORDER_MARK.starts_with(bytes) {
            return None;
        }
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.advance(BYTE_ORDER_MARK.len());
            skip_space(bytes);
        }
        let head = &bytes[..bytes.len().min(CONTENT.len())];
        let framing = match CONTENT[..head.len()].eq_ignore_ascii_case(head) {
            true if head.len() < CONTENT.len() => return None,
            true => Framing::Headers,
            false => Framing::Lines,
        };
        Some(*self.framing.get_or_init(|| framing))
    }

    fn line(&mut self, bytes: &mut BytesMut) -> Option<Frame> {
        loop {
            let Some(at) = memchr(b'\n', &bytes[self.searched..]) else {
                self.searched = bytes.len();
                if self.dropped > 0 || self.searched > self.max {
                    self.dropped += self.searched as u64;
                    self.searched = 0;
                    bytes.clear();
                }
                return None;
            };
            let end = std::mem::take(&mut self.searched) + at;
            let line = bytes.split_to(end + 1);
            let length = std::mem::take(&mut self.dropped) + end as u64;
            if length > self.max as u64 {
                return Some(Frame::TooLarge(length));
            }
            if let Some(frame) = text_of(&line) {
                return Some(frame);
            }
        }
    }

    fn body(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, Broken> {
        if self.to_drop == 0 {
            skip_space(bytes);
            let Some((header_end, start)) = end_of_headers(bytes) else {
                if bytes.len() > MAX_HEADER_BYTES {
                    let what = format!("The headers have more than {MAX_HEADER_BYTES} bytes");
                    return Err(Broken::Lost(what));
                }
                return Ok(None);
            };
            let length = content_length(&bytes[..header_end])?;
            if length <= self.max as u64 {
                let length = length as usize;
                if bytes.len() - start < length {
                    return Ok(None);
                }
                bytes.advance(start);
                let text = String::from_utf8(bytes.split_to(length).into());
                return Ok(Some(text.map_or(Frame::NotText, Frame::Message)));
            }
            bytes.advance(start);
            self.to_drop = length;
        }
        let now = self.to_drop.min(bytes.len() as u64);
        bytes.advance(now as usize);
        self.to_drop -= now;
        self.dropped += now;
        let over = self.to_drop == 0;
        Ok(over.then(|| Frame::TooLarge(std::mem::take(&mut self.dropped))))
    }
}

impl Decoder for Codec {
    type Item = Frame;
    type Error = Broken;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, Broken> {
        let known = self.framing.get().copied();
        match known.or_else(|| self.detect(bytes)) {
            None => Ok(None),
            Some(Framing::Lines) => Ok(self.line(bytes)),
            Some(Framing::Headers) => self.body(bytes),
        }
    }

    /// A last line needs no line break. A message after a header must be complete.
    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, Broken> {
        if let Some(frame) = self.decode(bytes)? {
            return Ok(Some(frame));
        }
        let rest = bytes.split();
        self.searched = 0;
        let dropped = std::mem::take(&mut self.dropped);
        match self.framing.get() {
            Some(Framing::Lines) if dropped > 0 => Ok(Some(Frame::TooLarge(dropped))),
            Some(Framing::Lines) => Ok(text_of(&rest)),
            _ if rest.is_empty() && self.to_drop == 0 => Ok(None),
            _ => Err(Broken::Lost("The input ends within a message".into())),
        }
    }
}

impl Encoder<&str> for Codec {
    type Error = io::Error;

    /// Line breaks between the tokens of JSON become spaces. JSON strings contain no line breaks.
    fn encode(&mut self, message: &str, bytes: &mut BytesMut) -> io::Result<()> {
        if self.framing.get() == Some(&Framing::Headers) {
            let header = format!("Content-Length: {}\r\n\r\n", message.len());
            bytes.extend_from_slice(header.as_bytes());
            bytes.extend_from_slice(message.as_bytes());
            return Ok(());
        }
        let line = one_line(message);
        let line = line.bytes().map(|byte| match byte {
            b'\n' | b'\r' => b' ',
            byte => byte,
        });
        bytes.extend(line);
        bytes.extend_from_slice(b"\n");
        Ok(())
    }
}

fn skip_space(bytes: &mut BytesMut) {
    let space = bytes.iter().take_while(|it| it.is_ascii_whitespace());
    let count = space.count();
    bytes.advance(count);
}

/// The message on a line, or `None` if the line is blank.
fn text_of(line: &[u8]) -> Option<Frame> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    match std::str::from_utf8(line.trim_ascii()) {
        Ok("") => None,
        Ok(text) => Some(Frame::Message(text.into())),
        Err(_) => Some(Frame::NotText),
    }
}

/// The position where the headers end, and the position where the body begins.
fn end_of_headers(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
    let find = |gap: &[u8]| head.windows(gap.len()).position(|it| it == gap);
    let crlf = find(b"\r\n\r\n").map(|at| (at, at + 4));
    let lf = find(b"\n\n").map(|at| (at, at + 2));
    crlf.into_iter().chain(lf).min()
}

fn content_length(headers: &[u8]) -> Result<u64, Broken> {
    let headers = String::from_utf8_lossy(headers);
    let mut lines = headers.lines().filter_map(|line| line.split_once(':'));
    let length = lines.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-length"));
    let missing = || Broken::Lost("Headers without a Content-Length".into());
    let length = length.ok_or_else(missing)?.1.trim();
    length
        .parse()
        .map_err(|_| Broken::Lost(format!("Content-Length: {length:.32} is not a length")))
}

#[cfg(test)]
mod tests;
