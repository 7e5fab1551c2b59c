//! Decoding where it holds up nobody.

use super::params::Format;
use crate::pace::Pace;
use image::RgbaImage;
use std::future::Future;

/// Another decoder for what can only be decoded in one go here, such as the browser's own.
pub trait Elsewhere {
    /// The pixels of an image file, `width` times `height`, as they are stored: neither turned upright
    /// nor converted to another colour space. None if that is not possible.
    fn decode<P: Pace>(
        &self,
        file: &[u8],
        format: Format,
        size: (u32, u32),
        pace: &P,
    ) -> impl Future<Output = Option<RgbaImage>>;
}

/// No other decoder.
pub struct Nowhere;

impl Elsewhere for Nowhere {
    async fn decode<P: Pace>(
        &self,
        _: &[u8],
        _: Format,
        _: (u32, u32),
        _: &P,
    ) -> Option<RgbaImage> {
        None
    }
}
