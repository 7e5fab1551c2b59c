//! `image.process`: PNG, JPEG and WebP in; resized, blurred, without colour; PNG, JPEG or WebP out.
//!
//! | part | one step is |
//! |---|---|
//! | PNG decoding and encoding | a row |
//! | JPEG encoding | 8 or 16 rows, joined by restart markers |
//! | resizing, blurring, orientation, grayscale | part of a row, or some rows |
//! | JPEG and WebP decoding, WebP encoding | the whole image: only small ones are; larger ones are decoded [elsewhere](Elsewhere), if that is possible |

mod blank;
mod blur;
mod decode;
mod elsewhere;
mod encode;
mod encode_jpeg;
mod grayscale;
mod linear;
mod orient;
mod params;
mod resize;
mod size;
#[cfg(test)]
mod tests;

pub use elsewhere::{Elsewhere, Nowhere};
pub use params::{Blur, Fit, Format, Operations, Options, Params, Resize};

#[cfg(target_arch = "wasm32")]
pub(crate) use blank::blank;
pub(crate) use decode::{Decoded, decode};

use crate::binary::{Encoding, Payload};
use crate::failure::Failure;
use crate::pace::Pace;
use crate::stages::Weights;
use serde::Serialize;
use std::fmt::Display;

/// An image could not be written.
fn unwritten(error: impl Display) -> Failure {
    Failure::failed(format!("the image could not be written: {error}"))
}

/// The most pixels of an image in parameters or in results.
pub const MAX_PIXELS: u64 = 64_000_000;

/// The most pixels of a JPEG or WebP in parameters that is decoded here, in one step.
pub const MAX_PIXELS_DECODED_AT_ONCE: u64 = 26_000_000;

/// A JPEG or WebP with more pixels is decoded elsewhere, if that is possible.
pub const MANY_PIXELS_DECODED_AT_ONCE: u64 = 1_500_000;

/// The most pixels of a WebP in results, which is encoded in one step.
pub const MAX_PIXELS_ENCODED_AT_ONCE: u64 = 2_500_000;

/// The stages of the work.
pub const STAGES: Weights = &[
    ("decoding", 15),
    ("turning upright", 5),
    ("resizing", 25),
    ("removing colour", 5),
    ("blurring", 30),
    ("encoding", 20),
];

/// JSON Schema of [`Params`].
pub const INPUT_SCHEMA: &str = include_str!("input.schema.json");
/// JSON Schema of [`Processed`].
pub const OUTPUT_SCHEMA: &str = include_str!("output.schema.json");

/// A processed image.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Processed {
    /// The image file.
    pub image: Payload,
    /// `image/png`, `image/jpeg` or `image/webp`.
    pub mime_type: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes of the image file.
    pub size: usize,
    /// The encoding of the file in `image`.
    pub encoding: Encoding,
}

/// Processes an image: decode, turn upright, resize, remove colour, blur, encode.
pub async fn run<P: Pace>(
    params: Params,
    elsewhere: &impl Elsewhere,
    pace: &P,
) -> Result<Processed, Failure> {
    let Params {
        image,
        operations,
        options,
    } = params;
    operations.check()?;
    options.check()?;
    let file = image.bytes("image", pace).await?;
    let Decoded {
        mut pixels,
        format,
        orientation,
    } = decode(&file, "image", elsewhere, pace).await?;
    drop(file);
    pixels = orient::orient(pixels, orientation, pace).await;
    if let Some(resize) = &operations.resize {
        pixels = resize::resize(pixels, resize, pace).await?;
    }
    if operations.grayscale {
        grayscale::grayscale(&mut pixels, pace).await;
    }
    if let Some(blur) = &operations.blur {
        pixels = blur::blur(pixels, blur.sigma(), pace).await;
    }
    let (width, height) = pixels.dimensions();
    let format = options.format.unwrap_or(format);
    let file = encode::encode(pixels, format, options.quality, pace).await?;
    Ok(Processed {
        mime_type: format.mime_type(),
        width,
        height,
        size: file.len(),
        encoding: options.encoding,
        image: Payload::new(file, options.encoding, pace).await,
    })
}
