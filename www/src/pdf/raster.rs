//! Turns image files into PDF image objects.

use super::file::File;
use crate::failure::Failure;
use crate::pace::{Meter, Pace};
use crate::picture::{self, Decoded, Nowhere};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use image::metadata::Orientation;
use pdf_writer::{Filter, Finish, Ref};
use std::collections::HashMap;
use std::io::{self, Write};

/// An image object.
#[derive(Debug, Clone, Copy)]
pub struct Raster {
    pub id: Ref,
    /// Width in pixels.
    pub width: u32,
    pub height: u32,
}

/// The images of a document by their `data:` URL, each once. None means that an image is not
/// readable.
#[derive(Default)]
pub struct Figures(pub HashMap<String, Option<Raster>>);

/// Writes an image file as an object of the document. Returns none if the file cannot be read.
pub async fn embed<P: Pace>(
    file: &mut File,
    image: &[u8],
    pace: &P,
) -> Result<Option<Raster>, Failure> {
    // A JPEG file can be an object without changes.
    if let Some((width, height, grey)) = jpeg(image) {
        let id = file.next_id();
        let mut object = file.pdf().image_xobject(id, image);
        object
            .width(i32::from(width))
            .height(i32::from(height))
            .bits_per_component(8);
        object.filter(Filter::DctDecode);
        match grey {
            true => object.color_space().device_gray(),
            false => object.color_space().device_rgb(),
        }
        object.finish();
        file.add_image(id);
        return Ok(Some(Raster {
            id,
            width: width.into(),
            height: height.into(),
        }));
    }
    let Ok(Decoded { pixels, .. }) = picture::decode(image, "image", &Nowhere, pace).await else {
        return Ok(None);
    };
    let (width, height) = pixels.dimensions();
    let failed =
        |error: io::Error| Failure::failed(format!("an image could not be written: {error}"));
    let mut colours = ZlibEncoder::new(Vec::new(), Compression::new(4));
    let mut opacity = ZlibEncoder::new(Vec::new(), Compression::new(4));
    let (mut transparent, mut meter) = (false, Meter::default());
    for row in pixels.chunks_exact(width as usize * 4) {
        let rgb: Vec<u8> = row
            .as_chunks::<4>()
            .0
            .iter()
            .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
            .collect();
        let alpha: Vec<u8> = row
            .as_chunks::<4>()
            .0
            .iter()
            .map(|pixel| pixel[3])
            .collect();
        transparent |= alpha.iter().any(|&alpha| alpha < 255);
        colours.write_all(&rgb).map_err(failed)?;
        opacity.write_all(&alpha).map_err(failed)?;
        if meter.due(row.len() * 20) {
            pace.checkpoint().await;
        }
    }
    let (colours, opacity) = (
        colours.finish().map_err(failed)?,
        opacity.finish().map_err(failed)?,
    );
    let mask = transparent.then(|| file.next_id());
    if let Some(mask) = mask {
        let mut object = file.pdf().image_xobject(mask, &opacity);
        object
            .width(width as i32)
            .height(height as i32)
            .bits_per_component(8);
        object.color_space().device_gray();
        object.filter(Filter::FlateDecode);
    }
    let id = file.next_id();
    let mut object = file.pdf().image_xobject(id, &colours);
    object
        .width(width as i32)
        .height(height as i32)
        .bits_per_component(8);
    object.color_space().device_rgb();
    object.filter(Filter::FlateDecode);
    if let Some(mask) = mask {
        object.s_mask(mask);
    }
    object.finish();
    file.add_image(id);
    Ok(Some(Raster { id, width, height }))
}

/// The width, the height, and whether it is grey, of a JPEG that needs no change: 8 bits, grey or
/// YCbCr, upright.
fn jpeg(file: &[u8]) -> Option<(u16, u16, bool)> {
    if !file.starts_with(&[0xff, 0xd8]) || !is_upright(file) {
        return None;
    }
    let mut at = 2;
    loop {
        let &[0xff, marker, high, low] = file.get(at..at + 4)? else {
            return None;
        };
        match marker {
            0xff => at += 1,
            // The frame types that PDF readers can read: baseline, extended, progressive.
            0xc0..=0xc2 => {
                let &[8, y1, y0, x1, x0, components] = file.get(at + 4..at + 10)? else {
                    return None;
                };
                let (width, height) = (u16::from_be_bytes([x1, x0]), u16::from_be_bytes([y1, y0]));
                let fits = width > 0 && height > 0 && matches!(components, 1 | 3);
                return fits.then_some((width, height, components == 1));
            }
            0xda | 0xd9 => return None,
            _ => at += 2 + usize::from(u16::from_be_bytes([high, low])),
        }
    }
}

fn is_upright(file: &[u8]) -> bool {
    use image::ImageDecoder;
    image::codecs::jpeg::JpegDecoder::new(io::Cursor::new(file))
        .and_then(|mut decoder| decoder.orientation())
        .is_ok_and(|orientation| orientation == Orientation::NoTransforms)
}
