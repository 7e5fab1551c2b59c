//! A text frame before it is read as an envelope.

use std::borrow::Cow;

use bytes::Bytes;

use super::envelope::{Envelope, RefusedMessage, Subject};
use super::reading::{check_length, mended};
use crate::limits::Limits;

/// A text frame in the form that all readers read.
#[derive(Debug)]
pub struct Incoming<'a> {
    came: &'a str,
    text: Cow<'a, str>,
    shared: Option<&'a Bytes>,
    /// How long the frame was.
    bytes: usize,
}

impl<'a> Incoming<'a> {
    /// Mends a frame. `shared`, if given, is the buffer of `text`.
    pub fn new(text: &'a str, shared: Option<&'a Bytes>, limits: &Limits) -> Self {
        Incoming::beginning(text, text.len(), shared, limits)
    }

    /// [`Incoming::new`] for a frame of `bytes` bytes. If that is more than is accepted, `text` may be only
    /// the beginning.
    pub fn beginning(
        text: &'a str,
        bytes: usize,
        shared: Option<&'a Bytes>,
        limits: &Limits,
    ) -> Self {
        // A frame that is too large is refused as it is.
        let mended = match bytes > limits.message_bytes {
            true => Cow::Borrowed(text),
            false => mended(text),
        };
        let shared = shared.filter(|_| matches!(mended, Cow::Borrowed(_)));
        Incoming {
            came: text,
            text: mended,
            shared,
            bytes,
        }
    }

    /// Reads the frame as an envelope.
    pub fn envelope(&self, limits: &Limits) -> Result<Envelope<'_>, Box<RefusedMessage>> {
        if let Err(error) = check_length(self.bytes, limits) {
            let subject = Subject::peek(self.came, limits);
            return Err(Box::new(RefusedMessage { subject, error }));
        }
        let envelope = Envelope::read(&self.text, self.shared, limits)?;
        // Its sender would not recognise an answer with a mended id.
        match envelope.id {
            Some(id) if self.is_mended(id) => Err(envelope.half_an_id()),
            _ => Ok(envelope),
        }
    }

    fn is_mended(&self, part: &str) -> bool {
        let at = part.as_ptr() as usize - self.text.as_ptr() as usize;
        self.came.get(at..at + part.len()) != Some(part)
    }
}
