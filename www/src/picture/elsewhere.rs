//! Decoding that blocks nobody.

use super::params::Format;
use crate::pace::Pace;
use image::RgbaImage;
use std::future::Future;

/// A second decoder, such as the browser's, for formats that can only be decoded in one step here.
pub trait Elsewhere {
    /// Returns the pixels of an image file, `width` times `height`, as they are stored: not turned
    /// upright, and not converted to another colour space. Returns none if that is not possible.
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
