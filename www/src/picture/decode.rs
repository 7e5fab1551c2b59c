//! Decodes image files.

use super::blank::blank;
use super::elsewhere::Elsewhere;
use super::params::Format;
use super::{MANY_PIXELS_DECODED_AT_ONCE, MAX_PIXELS, MAX_PIXELS_DECODED_AT_ONCE};
use crate::failure::Failure;
use crate::pace::{Meter, Pace};
use image::codecs::{jpeg::JpegDecoder, webp::WebPDecoder};
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder, ImageFormat, RgbaImage};
use png::{Decoder, InterlaceInfo, Transformations, expand_interlaced_row};
use std::fmt::Display;
use std::io::Cursor;

/// A decoded image file.
pub(crate) struct Decoded {
    pub pixels: RgbaImage,
    pub format: Format,
    /// How the pixels must be turned to be upright.
    pub orientation: Orientation,
}

/// Decodes an image file. `name` is the parameter's name.
pub(crate) async fn decode<P: Pace>(
    file: &[u8],
    name: &str,
    elsewhere: &impl Elsewhere,
    pace: &P,
) -> Result<Decoded, Failure> {
    pace.progress(0, 1, "decoding");
    pace.checkpoint().await;
    let failed = |error| unreadable(name, error);
    let (pixels, format, orientation) = match image::guess_format(file) {
        Ok(ImageFormat::Png) => (
            png(file, name, pace).await?,
            Format::Png,
            Orientation::NoTransforms,
        ),
        Ok(ImageFormat::Jpeg) => {
            let decoder = JpegDecoder::new(Cursor::new(file)).map_err(failed)?;
            other(decoder, file, Format::Jpeg, name, elsewhere, pace).await?
        }
        Ok(ImageFormat::WebP) => {
            let decoder = WebPDecoder::new(Cursor::new(file)).map_err(failed)?;
            other(decoder, file, Format::Webp, name, elsewhere, pace).await?
        }
        _ => {
            return Err(Failure::invalid(format!(
                "{name}: neither PNG nor JPEG nor WebP"
            )));
        }
    };
    pace.progress(1, 1, "decoding");
    Ok(Decoded {
        pixels,
        format,
        orientation,
    })
}

/// Decodes a format whose decoder here cannot be stopped halfway.
async fn other<P: Pace>(
    mut decoder: impl ImageDecoder,
    file: &[u8],
    format: Format,
    name: &str,
    elsewhere: &impl Elsewhere,
    pace: &P,
) -> Result<(RgbaImage, Format, Orientation), Failure> {
    let (width, height) = decoder.dimensions();
    within(name, width, height, MAX_PIXELS)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    if u64::from(width) * u64::from(height) > MANY_PIXELS_DECODED_AT_ONCE {
        let pixels = elsewhere.decode(file, format, (width, height), pace).await;
        if let Some(pixels) = pixels.filter(|pixels| pixels.dimensions() == (width, height)) {
            return Ok((pixels, format, orientation));
        }
    }
    let pixels = at_once(decoder, name, pace).await?;
    Ok((pixels, format, orientation))
}

async fn png<P: Pace>(file: &[u8], name: &str, pace: &P) -> Result<RgbaImage, Failure> {
    let mut decoder = Decoder::new(Cursor::new(file));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder
        .read_info()
        .map_err(|error| unreadable(name, error))?;
    let (width, height) = (reader.info().width, reader.info().height);
    within(name, width, height, MAX_PIXELS)?;
    let (color, _) = reader.output_color_type();
    let channels = color.samples();
    let mut pixels = blank(width, height, pace).await;
    let stride = width as usize * 4;
    let (mut meter, mut rows, mut turned) = (Meter::default(), 0, Vec::with_capacity(stride));
    while let Some(row) = reader
        .next_interlaced_row()
        .map_err(|error| unreadable(name, error))?
    {
        match row.interlace() {
            InterlaceInfo::Null(_) => {
                let samples: &mut [u8] = &mut pixels;
                to_rgba(
                    row.data(),
                    channels,
                    &mut samples[rows * stride..(rows + 1) * stride],
                );
                rows += 1;
                pace.progress(rows, height as usize, "decoding");
            }
            InterlaceInfo::Adam7(info) => {
                turned.resize(row.data().len() / channels * 4, 0);
                to_rgba(row.data(), channels, &mut turned);
                expand_interlaced_row(&mut pixels, stride, &turned, info, 32);
            }
        }
        if meter.due(stride * 4) {
            pace.checkpoint().await;
        }
    }
    Ok(pixels)
}

async fn at_once<P: Pace>(
    decoder: impl ImageDecoder,
    name: &str,
    pace: &P,
) -> Result<RgbaImage, Failure> {
    let (width, height) = decoder.dimensions();
    within(name, width, height, MAX_PIXELS_DECODED_AT_ONCE)?;
    let color = decoder.color_type();
    let channels = match color {
        ColorType::L8 => 1,
        ColorType::Rgb8 => 3,
        ColorType::Rgba8 => 4,
        other => {
            return Err(Failure::invalid(format!(
                "{name}: pixels of kind {other:?}"
            )));
        }
    };
    let mut samples = vec![0; decoder.total_bytes() as usize];
    decoder
        .read_image(&mut samples)
        .map_err(|error| unreadable(name, error))?;
    pace.checkpoint().await;
    if channels == 4 {
        return Ok(RgbaImage::from_raw(width, height, samples).expect("a sample for each channel"));
    }
    let mut pixels = blank(width, height, pace).await;
    let rows = samples.chunks_exact(width as usize * channels);
    let mut meter = Meter::default();
    for (row, out) in rows.zip(pixels.chunks_exact_mut(width as usize * 4)) {
        to_rgba(row, channels, out);
        if meter.due(row.len()) {
            pace.checkpoint().await;
        }
    }
    Ok(pixels)
}

fn to_rgba(row: &[u8], channels: usize, out: &mut [u8]) {
    let pixels = row
        .chunks_exact(channels)
        .zip(out.as_chunks_mut::<4>().0.iter_mut());
    match channels {
        1 => pixels.for_each(|(gray, out)| out.copy_from_slice(&[gray[0], gray[0], gray[0], 255])),
        2 => pixels
            .for_each(|(gray, out)| out.copy_from_slice(&[gray[0], gray[0], gray[0], gray[1]])),
        3 => pixels.for_each(|(rgb, out)| out.copy_from_slice(&[rgb[0], rgb[1], rgb[2], 255])),
        _ => out.copy_from_slice(row),
    }
}

fn within(name: &str, width: u32, height: u32, most: u64) -> Result<(), Failure> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > 0 && pixels <= most {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "{name}: {width} x {height} pixels, at most {most} for this format"
    )))
}

fn unreadable(name: &str, error: impl Display) -> Failure {
    Failure::invalid(format!("{name}: not a readable image: {error}"))
}
