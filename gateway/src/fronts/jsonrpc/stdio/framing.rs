//! Where one message ends on a stream of bytes, and the next begins.

/// How messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One message per line, as ACP and MCP do.
    Lines,
    /// A `Content-Length` header before each, as LSP does.
    Headers,
}

impl Framing {
    /// A message as it is written. Line breaks between the tokens of JSON become spaces: inside a
    /// string there are none.
    pub fn write(self, message: &str) -> Vec<u8> {
        match self {
            Framing::Headers => {
                format!("Content-Length: {}\r\n\r\n{message}", message.len()).into_bytes()
            }
            Framing::Lines => {
                let mut line = message.replace(['\n', '\r'], " ").into_bytes();
                line.push(b'\n');
                line
            }
        }
    }
}

/// What came out of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A message, whatever it says.
    Message(String),
    /// A message of so many bytes or more, which were dropped.
    TooLarge(u64),
    /// A message that is not UTF-8.
    NotText,
}

/// Nobody can tell any more where a message begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub String);

/// What every header names, in the case that does not matter.
const CONTENT: &[u8] = b"content-";
/// Bytes in all the headers of one message; LSP knows two of them.
const MAX_HEADER_BYTES: usize = 4 << 10;

/// Takes bytes as they come and gives messages. The framing is recognised from the first bytes.
#[derive(Debug)]
pub struct Deframer {
    max: usize,
    framing: Option<Framing>,
    bytes: Vec<u8>,
    /// How much of `bytes` holds no line break.
    searched: usize,
    /// How many bytes of a message too large are still to be dropped, and how many it has.
    dropping: Option<Dropping>,
}

#[derive(Clone, Copy, Debug)]
enum Dropping {
    Line { dropped: u64 },
    Body { left: u64, length: u64 },
}

impl Deframer {
    /// For messages of at most `max` bytes.
    pub fn new(max: usize) -> Self {
        Deframer {
            max,
            framing: None,
            bytes: Vec::new(),
            searched: 0,
            dropping: None,
        }
    }

    /// How messages are told apart, once that is known.
    pub fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// Takes bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if all of it is there.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, Lost> {
        match self.framing.or_else(|| self.recognise()) {
            None => Ok(None),
            Some(Framing::Lines) => Ok(self.next_line()),
            Some(Framing::Headers) => self.next_body(),
        }
    }

    /// The stream has ended: a last line needs no line break.
    pub fn finish(&mut self) -> Option<Frame> {
        if self.framing != Some(Framing::Lines) || self.dropping.is_some() {
            return None;
        }
        let line = std::mem::take(&mut self.bytes);
        text_of(&line)
    }

    fn recognise(&mut self) -> Option<Framing> {
        self.skip_space();
        let head = &self.bytes[..self.bytes.len().min(CONTENT.len())];
        let is_header = CONTENT[..head.len()].eq_ignore_ascii_case(head);
        self.framing = match is_header {
            true if head.len() < CONTENT.len() => None,
            true => Some(Framing::Headers),
            false => Some(Framing::Lines),
        };
        self.framing
    }

    fn next_line(&mut self) -> Option<Frame> {
        loop {
            let found = self.bytes[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(at) = found else {
                self.searched = self.bytes.len();
                if self.searched > self.max || self.dropping.is_some() {
                    self.drop_line(self.searched);
                }
                return None;
            };
            let end = self.searched + at;
            self.searched = 0;
            if let Some(Dropping::Line { dropped }) = self.dropping.take() {
                self.bytes.drain(..=end);
                return Some(Frame::TooLarge(dropped + end as u64));
            }
            if end > self.max {
                self.bytes.drain(..=end);
                return Some(Frame::TooLarge(end as u64));
            }
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            if let Some(frame) = text_of(&line) {
                return Some(frame);
            }
        }
    }

    fn drop_line(&mut self, bytes: usize) {
        let before = match self.dropping {
            Some(Dropping::Line { dropped }) => dropped,
            _ => 0,
        };
        self.bytes.clear();
        self.searched = 0;
        let dropped = before + bytes as u64;
        self.dropping = Some(Dropping::Line { dropped });
    }

    fn next_body(&mut self) -> Result<Option<Frame>, Lost> {
        if let Some(Dropping::Body { left, length }) = self.dropping {
            let now = left.min(self.bytes.len() as u64);
            self.bytes.drain(..now as usize);
            let left = left - now;
            self.dropping = (left > 0).then_some(Dropping::Body { left, length });
            return Ok((left == 0).then_some(Frame::TooLarge(length)));
        }
        self.skip_space();
        let Some((header_end, body_start)) = end_of_headers(&self.bytes) else {
            if self.bytes.len() > MAX_HEADER_BYTES {
                let message = format!("Headers of more than {MAX_HEADER_BYTES} bytes");
                return Err(Lost(message));
            }
            return Ok(None);
        };
        let length = content_length(&self.bytes[..header_end])?;
        if length > self.max as u64 {
            self.bytes.drain(..body_start);
            self.dropping = Some(Dropping::Body {
                left: length,
                length,
            });
            return self.next_body();
        }
        let end = body_start + length as usize;
        if self.bytes.len() < end {
            return Ok(None);
        }
        let body = self.bytes[body_start..end].to_vec();
        self.bytes.drain(..end);
        Ok(Some(
            String::from_utf8(body).map_or(Frame::NotText, Frame::Message),
        ))
    }

    fn skip_space(&mut self) {
        let space = self.bytes.iter().take_while(|it| it.is_ascii_whitespace());
        let count = space.count();
        self.bytes.drain(..count);
        self.searched = 0;
    }
}

/// What a line says; nothing, if it is blank.
fn text_of(line: &[u8]) -> Option<Frame> {
    match std::str::from_utf8(line.trim_ascii()) {
        Ok("") => None,
        Ok(text) => Some(Frame::Message(text.into())),
        Err(_) => Some(Frame::NotText),
    }
}

/// Where the headers end, and where what they describe begins.
fn end_of_headers(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
    let find = |gap: &[u8]| head.windows(gap.len()).position(|it| it == gap);
    let crlf = find(b"\r\n\r\n").map(|at| (at, at + 4));
    let lf = find(b"\n\n").map(|at| (at, at + 2));
    crlf.into_iter().chain(lf).min()
}

fn content_length(headers: &[u8]) -> Result<u64, Lost> {
    let headers = String::from_utf8_lossy(headers);
    let mut lines = headers.lines().filter_map(|line| line.split_once(':'));
    let length = lines.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-length"));
    let (_, length) = length.ok_or_else(|| Lost("Headers without a Content-Length".into()))?;
    let length = length.trim();
    length
        .parse()
        .map_err(|_| Lost(format!("Content-Length: {length:.32} is no length")))
}

#[cfg(test)]
mod tests;
