//! The destination of an archive while it is written.

use crate::failure::Failure;
use serde::Serialize;

/// Takes an archive part by part and makes it readable at the end.
///
/// A sink that is dropped before [`finish`](Sink::finish) releases every part it was given.
pub trait Sink {
    /// What the finished archive can be read by: its URL, or the value that its URL is made from.
    type Whole: Serialize;

    /// Takes the next part.
    fn append(&mut self, part: &[u8]) -> Result<(), Failure>;

    /// Finishes the archive, and makes it readable.
    fn finish(self, mime_type: &str) -> Result<Self::Whole, Failure>;
}
