//! Frames as they come, and what is read instead of them.

use smallvec::SmallVec;

use super::PART;

/// A fragment of fewer bytes costs more than its bytes do.
pub(super) const TINY: u64 = 1 << 10;

pub(super) const FINAL: u8 = 0x80;
pub(super) const MASKED: u8 = 0x80;
const CONTROL: u8 = 0x08;
const OPCODE: u8 = 0x0f;

/// A control frame of that length is too long.
const TOO_LONG: u8 = 126;

/// Where in a sequence of frames the next byte is.
#[derive(Debug)]
pub(super) struct Frames {
    /// Larger messages are cut.
    accepted: u64,
    /// Larger messages are refused by what their headers say.
    most: u64,
    /// What has come of a header.
    header: SmallVec<[u8; 14]>,
    /// Bytes of the frame, those that are yet to come, and those of the part of it.
    length: u64,
    left: u64,
    part: u64,
    /// What its last part says of the end of the message, and its mask.
    last: u8,
    mask: [u8; 4],
    /// Bytes of the message, up to the end of the frame.
    message: u64,
    /// If only the beginning of the message is passed on: what follows of its last character.
    cut: Option<Character>,
    /// Messages whose last frame has begun.
    messages: u64,
    pub news: News,
}

/// What was seen in frames since it was last asked for.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Tiny fragments that have begun.
    pub tiny: u32,
    /// Bytes that were dropped.
    pub dropped: u64,
    /// Messages whose beginning alone was passed on: which one on this connection, and its bytes.
    pub cut: SmallVec<[(u64, u64); 1]>,
}

/// The bytes that complete the character in which a message may have been cut.
#[derive(Debug, Default)]
struct Character {
    rest: SmallVec<[u8; 3]>,
    is_complete: bool,
}

impl Character {
    fn take(&mut self, byte: u8) {
        self.is_complete |= byte & 0xc0 != 0x80;
        if !self.is_complete {
            self.rest.push(byte);
            self.is_complete = self.rest.len() == 3;
        }
    }
}

impl Frames {
    pub fn new(accepted: u64, most: u64) -> Self {
        Frames {
            // What tells which message it is must be in it.
            accepted: accepted.max(PART),
            most,
            header: SmallVec::new(),
            length: 0,
            left: 0,
            part: 0,
            last: 0,
            mask: [0; 4],
            message: 0,
            cut: None,
            messages: 0,
            news: News::default(),
        }
    }

    /// Bytes that are read as they come.
    pub fn part(&self) -> u64 {
        self.part
    }

    /// Takes what has come, and gives `put` what is to be read instead.
    pub fn take(&mut self, mut bytes: &[u8], mut put: impl FnMut(&[u8])) {
        while let [first, rest @ ..] = bytes {
            if self.left == 0 {
                self.header.push(*first);
                bytes = rest;
                self.begin(&mut put);
                continue;
            }
            if self.part == 0 && self.cut.is_none() {
                self.next_part(0, self.left, &mut put);
            }
            let now = match self.part {
                0 => self.drop(bytes, &mut put),
                part => {
                    let now = bytes.len().min(part as usize);
                    put(&bytes[..now]);
                    self.passed(now);
                    now
                }
            };
            bytes = &bytes[now..];
        }
    }

    /// Notes that this many bytes of the part were read.
    pub fn passed(&mut self, bytes: usize) {
        self.left -= bytes as u64;
        self.part -= bytes as u64;
    }

    /// Drops what has come of the frame. How much it was.
    fn drop(&mut self, bytes: &[u8], put: &mut impl FnMut(&[u8])) -> usize {
        let now = bytes.len().min(self.left as usize);
        let offset = (self.length - self.left) as usize;
        if let Some(cut) = &mut self.cut {
            let masks = self.mask.iter().cycle().skip(offset % 4);
            for (byte, mask) in bytes[..now].iter().zip(masks).take(4) {
                cut.take(byte ^ mask);
            }
        }
        self.left -= now as u64;
        self.news.dropped += now as u64;
        if self.left == 0 {
            self.end_cut(put);
        }
        now
    }

    /// The end of a frame of a message that is cut.
    fn end_cut(&mut self, put: &mut impl FnMut(&[u8])) {
        if self.last != FINAL {
            return;
        }
        if let Some(Character { rest, .. }) = self.cut.take() {
            put(&[FINAL, MASKED | rest.len() as u8, 0, 0, 0, 0]);
            put(&rest);
            self.news.cut.push((self.messages, self.message));
        }
    }

    /// If the header is there, a frame begins.
    fn begin(&mut self, put: &mut impl FnMut(&[u8])) {
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
        let mask = mask.try_into().ok();
        (self.length, self.left) = (length, length);
        // Control frames are always final.
        self.news.tiny += u32::from(first & FINAL == 0 && length < TINY);
        match mask {
            Some(mask) if first & CONTROL == 0 => {
                (self.last, self.mask) = (first & FINAL, mask);
                self.begin_data(first, put);
            }
            // Both are refused, which must not take more room the longer they are said to be.
            None if length > PART => put(&[first, 0]),
            Some(mask) if length > TOO_LONG.into() => {
                put(&[first, MASKED | 126, 0, TOO_LONG]);
                put(&mask);
                self.part = TOO_LONG.into();
            }
            _ => {
                self.part = length;
                put(&self.header);
            }
        }
        self.header.clear();
    }

    /// A frame of a message begins.
    fn begin_data(&mut self, first: u8, put: &mut impl FnMut(&[u8])) {
        if first & OPCODE != 0 {
            (self.message, self.cut) = (0, None);
        }
        let before = self.message;
        self.message = before.saturating_add(self.length);
        self.messages += u64::from(first & FINAL != 0);
        if self.message > self.most {
            // As if all of it came now.
            put(&[first, MASKED | 127]);
            put(&self.message.to_be_bytes());
            put(&self.mask);
            self.part = self.length;
        } else if self.cut.is_some() || self.message > self.accepted {
            let kept = match self.cut {
                Some(_) => 0,
                None => PART.saturating_sub(before),
            };
            self.cut.get_or_insert_default();
            if kept > 0 {
                self.next_part(first & !FINAL, kept, put);
            }
            if self.left == 0 {
                self.end_cut(put);
            }
        } else if self.length > PART {
            self.next_part(first & !FINAL, self.left, put);
        } else {
            self.part = self.length;
            put(&self.header);
        }
    }

    /// A part of `bytes` bytes begins, with otherwise that header.
    fn next_part(&mut self, first: u8, bytes: u64, put: &mut impl FnMut(&[u8])) {
        self.part = bytes.min(PART);
        let is_last = self.part == self.left;
        put(&[first | if is_last { self.last } else { 0 }, MASKED | 127]);
        put(&self.part.to_be_bytes());
        put(&self.mask);
    }
}
