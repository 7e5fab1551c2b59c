//! A Gaussian blur, first along the rows, then along the columns.

use super::linear;
use crate::pace::{Meter, Pace};
use image::RgbaImage;
use std::collections::VecDeque;

/// Blurs an image. `sigma` is the standard deviation in pixels. Beyond the edges, the last pixel is
/// repeated.
///
/// Only the rows within the blur's radius are held as numbers.
pub async fn blur<P: Pace>(mut pixels: RgbaImage, sigma: f32, pace: &P) -> RgbaImage {
    let weights = weights(sigma);
    let reach = weights.len() / 2;
    let (width, height) = (pixels.width() as usize, pixels.height() as usize);
    let stride = width * 4;
    let mut meter = Meter::default();
    // Rows that are already blurred horizontally: y - reach to y + reach while row y is made.
    let mut rows: VecDeque<Vec<f32>> = VecDeque::with_capacity(2 * reach + 1);
    let mut spare = Vec::new();
    let mut padded = vec![0.0; (width + 2 * reach) * 4];
    let mut sum = vec![0.0; stride];
    let (mut first, mut next) = (0, 0);
    for y in 0..height {
        while next < height && next <= y + reach {
            pad(
                &pixels.as_raw()[next * stride..(next + 1) * stride],
                reach,
                &mut padded,
            );
            let mut row = spare.pop().unwrap_or_else(|| vec![0.0; stride]);
            row.fill(0.0);
            for (at, &weight) in weights.iter().enumerate() {
                linear::add(&mut row, &padded[at * 4..], weight);
                if meter.due(stride) {
                    pace.checkpoint().await;
                }
            }
            rows.push_back(row);
            next += 1;
        }
        while first + reach < y {
            spare.extend(rows.pop_front());
            first += 1;
        }
        sum.fill(0.0);
        for (at, &weight) in weights.iter().enumerate() {
            let row = (y + at).saturating_sub(reach).min(height - 1);
            linear::add(&mut sum, &rows[row - first], weight);
            if meter.due(stride) {
                pace.checkpoint().await;
            }
        }
        // All rows before `next` were read already, so this row can be overwritten.
        let samples: &mut [u8] = &mut pixels;
        linear::write(&sum, &mut samples[y * stride..(y + 1) * stride]);
        pace.progress(y + 1, height, "blurring");
    }
    pixels
}

/// A row with its first and its last pixel repeated on both sides.
fn pad(row: &[u8], reach: usize, padded: &mut [f32]) {
    let end = reach * 4 + row.len();
    linear::read(row, &mut padded[reach * 4..end]);
    for at in 0..reach {
        padded.copy_within(reach * 4..reach * 4 + 4, at * 4);
        padded.copy_within(end - 4..end, end + at * 4);
    }
}

fn weights(sigma: f32) -> Vec<f32> {
    let reach = (3.0 * sigma).ceil().max(1.0) as i32;
    let bell = |x: i32| (-((x * x) as f32) / (2.0 * sigma * sigma)).exp();
    let sum: f32 = (-reach..=reach).map(bell).sum();
    (-reach..=reach).map(|x| bell(x) / sum).collect()
}
