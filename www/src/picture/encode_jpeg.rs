//! Encodes a JPEG file in strips.
//!
//! An encoder writes a file in one step. But a JPEG file may hold restart markers, at which
//! decoding starts afresh. So each strip of 8 or 16 rows is encoded as a separate file with the
//! same tables. Restart markers then join the scans of all strips under the header of the first.

use super::unwritten;
use crate::failure::Failure;
use crate::pace::{Meter, Pace};
use image::RgbaImage;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

const RESTART: u8 = 0xd0;
const FRAME: u8 = 0xc0;
const SCAN: u8 = 0xda;

/// Encodes `pixels` on white as a JPEG file. `quality` is 1 to 100.
pub async fn encode_jpeg<P: Pace>(
    pixels: RgbaImage,
    quality: u8,
    pace: &P,
) -> Result<Vec<u8>, Failure> {
    let (width, height) = (pixels.width() as usize, pixels.height() as usize);
    let (Ok(side), Ok(_)) = (u16::try_from(width), u16::try_from(height)) else {
        return Err(Failure::invalid(
            "options.format: a jpeg has at most 65535 pixels a side",
        ));
    };
    // At lower qualities, nobody sees that colour has half the resolution.
    let (sampling, block) = match quality {
        90.. => (SamplingFactor::F_1_1, 8),
        _ => (SamplingFactor::F_2_2, 16),
    };
    let (mut file, mut meter) = (Vec::new(), Meter::default());
    for (index, strip) in pixels.chunks(block * width * 4).enumerate() {
        let rows = strip.len() / (width * 4);
        let rgb: Vec<u8> = strip.as_chunks::<4>().0.iter().flat_map(on_white).collect();
        let mut part = Vec::with_capacity(rgb.len() / 4 + 1024);
        let mut encoder = Encoder::new(&mut part, quality);
        encoder.set_sampling_factor(sampling);
        encoder.set_restart_interval(width.div_ceil(block) as u16);
        encoder
            .encode(&rgb, side, rows as u16, ColorType::Rgb)
            .map_err(unwritten)?;
        let scan = scan_start(&part).ok_or_else(|| unwritten("the encoder wrote no scan"))?;
        let end = part.len() - 2;
        if index == 0 {
            set_height(&mut part[..scan], height as u16);
            file.extend_from_slice(&part[..end]);
        } else {
            file.extend([0xff, RESTART + ((index - 1) % 8) as u8]);
            file.extend_from_slice(&part[scan..end]);
        }
        pace.progress((index * block + rows).min(height), height, "encoding");
        if meter.due(rgb.len() * 8) {
            pace.checkpoint().await;
        }
    }
    file.extend([0xff, 0xd9]);
    Ok(file)
}

fn on_white(pixel: &[u8; 4]) -> [u8; 3] {
    let opacity = u32::from(pixel[3]);
    [pixel[0], pixel[1], pixel[2]]
        .map(|value| ((u32::from(value) * opacity + 255 * (255 - opacity) + 127) / 255) as u8)
}

/// The segments before the pixels: the marker of each, and the range of its content.
fn segments(file: &[u8]) -> impl Iterator<Item = (u8, usize, usize)> {
    let mut at = 2;
    std::iter::from_fn(move || {
        let &[0xff, marker, high, low] = file.get(at..at + 4)? else {
            return None;
        };
        let start = at + 4;
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
        Some((marker, start, at))
    })
}

fn scan_start(file: &[u8]) -> Option<usize> {
    segments(file)
        .find(|&(marker, ..)| marker == SCAN)
        .map(|(_, _, end)| end)
}

fn set_height(header: &mut [u8], height: u16) {
    let frame = segments(header)
        .find(|&(marker, ..)| marker == FRAME)
        .map(|(_, start, _)| start);
    if let Some(start) = frame {
        header[start + 1..start + 3].copy_from_slice(&height.to_be_bytes());
    }
}
