//! Where an archive goes while it is written.

use crate::failure::Failure;
use serde::Serialize;

/// Takes an archive part by part and makes it readable at the end.
///
/// A sink that is dropped before [`finish`](Sink::finish) releases every part it was given.
pub trait Sink {
    /// Where the whole can be read: its URL, or what that is made of.
    type Whole: Serialize;

    /// Takes the next part.
    fn append(&mut self, part: &[u8]) -> Result<(), Failure>;

    /// Makes the whole readable.
    fn finish(self, mime_type: &str) -> Result<Self::Whole, Failure>;
}
