//! Removes the colour.

use crate::pace::{Meter, Pace};
use image::RgbaImage;

/// Replaces each colour by its brightness (Rec. 709). The opacity stays.
pub async fn grayscale<P: Pace>(pixels: &mut RgbaImage, pace: &P) {
    let (width, height) = (pixels.width() as usize, pixels.height() as usize);
    let mut meter = Meter::default();
    for (y, row) in pixels.chunks_exact_mut(width * 4).enumerate() {
        for pixel in row.as_chunks_mut::<4>().0.iter_mut() {
            let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(u32::from);
            let brightness = ((r * 2126 + g * 7152 + b * 722 + 5000) / 10_000) as u8;
            pixel[..3].fill(brightness);
        }
        if meter.due(width * 4) {
            pace.progress(y + 1, height, "removing colour");
            pace.checkpoint().await;
        }
    }
}
