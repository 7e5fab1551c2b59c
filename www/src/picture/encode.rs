//! Encodes image files.

use super::encode_jpeg::encode_jpeg;
use super::params::Format;
use super::{MAX_PIXELS_ENCODED_AT_ONCE, unwritten};
use crate::failure::Failure;
use crate::pace::{Meter, Pace};
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, RgbaImage};
use png::{BitDepth, ColorType, Compression, Encoder};
use std::io::Write;

/// Encodes an image file.
pub async fn encode<P: Pace>(
    pixels: RgbaImage,
    format: Format,
    quality: u8,
    pace: &P,
) -> Result<Vec<u8>, Failure> {
    match format {
        Format::Png => png(&pixels, pace).await,
        Format::Jpeg => encode_jpeg(pixels, quality, pace).await,
        Format::Webp => webp(&pixels, pace).await,
    }
}

async fn png<P: Pace>(pixels: &RgbaImage, pace: &P) -> Result<Vec<u8>, Failure> {
    let (width, height) = pixels.dimensions();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut header = encoder.write_header().map_err(unwritten)?;
    let mut writer = header.stream_writer().map_err(unwritten)?;
    let mut meter = Meter::default();
    for (y, row) in pixels.chunks_exact(width as usize * 4).enumerate() {
        writer.write_all(row).map_err(unwritten)?;
        pace.progress(y + 1, height as usize, "encoding");
        if meter.due(row.len() * 8) {
            pace.checkpoint().await;
        }
    }
    writer.finish().map_err(unwritten)?;
    drop(header);
    Ok(file)
}

async fn webp<P: Pace>(pixels: &RgbaImage, pace: &P) -> Result<Vec<u8>, Failure> {
    let (width, height) = pixels.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS_ENCODED_AT_ONCE {
        return Err(Failure::invalid(format!(
            "options.format: {width} x {height} pixels, at most {MAX_PIXELS_ENCODED_AT_ONCE} as webp"
        )));
    }
    pace.progress(0, 1, "encoding");
    pace.checkpoint().await;
    let mut file = Vec::new();
    WebPEncoder::new_lossless(&mut file)
        .encode(pixels, width, height, ExtendedColorType::Rgba8)
        .map_err(unwritten)?;
    pace.progress(1, 1, "encoding");
    pace.checkpoint().await;
    Ok(file)
}
