//! Empty images.

use crate::pace::Pace;
use image::RgbaImage;

/// Bytes cleared between two checkpoints: the first use of memory is slow.
const STEP: usize = 4 * 1024 * 1024;

/// An empty image. To clear the memory of a large image at once would take longer than a step may.
pub async fn blank<P: Pace>(width: u32, height: u32, pace: &P) -> RgbaImage {
    let bytes = width as usize * height as usize * 4;
    let mut samples = Vec::with_capacity(bytes);
    while samples.len() < bytes {
        samples.resize((samples.len() + STEP).min(bytes), 0);
        pace.checkpoint().await;
    }
    RgbaImage::from_raw(width, height, samples).expect("a sample for each channel")
}
