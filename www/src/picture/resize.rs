//! Resizes images by Lanczos resampling, source row by source row.

use super::blank::blank;
use super::linear;
use super::params::Resize;
use super::size::target;
use crate::failure::Failure;
use crate::pace::{Meter, Pace};
use image::RgbaImage;
use std::collections::VecDeque;

/// Lobes of the filter on each side.
const LOBES: f64 = 3.0;

/// The source pixels that make one new pixel, and their weights.
struct Mix {
    start: usize,
    weights: Vec<f32>,
}

/// Resizes an image.
///
/// Each source row is resampled to the new width and then added to the few new rows that need it.
/// Only these rows are held as numbers, so the memory is close to that of the two images.
pub async fn resize<P: Pace>(
    pixels: RgbaImage,
    resize: &Resize,
    pace: &P,
) -> Result<RgbaImage, Failure> {
    let target = target(resize, pixels.width(), pixels.height())?;
    if (target.width, target.height) == pixels.dimensions() {
        return Ok(pixels);
    }
    let columns = mixes(
        pixels.width(),
        target.left,
        target.part_width,
        target.width,
        pace,
    )
    .await;
    let rows = mixes(
        pixels.height(),
        target.top,
        target.part_height,
        target.height,
        pace,
    )
    .await;
    let mut out = blank(target.width, target.height, pace).await;
    let (stride, out_stride) = (pixels.width() as usize * 4, target.width as usize * 4);
    let mut source = vec![0.0; stride];
    let mut narrow = vec![0.0; out_stride];
    // The new rows that are not complete. The first of them has the number `complete`.
    let mut sums: VecDeque<Vec<f32>> = VecDeque::new();
    let (mut complete, mut meter) = (0, Meter::default());
    for (y, row) in pixels.chunks_exact(stride).enumerate() {
        if rows[complete].start > y {
            continue;
        }
        linear::read(row, &mut source);
        for (mix, pixel) in columns.iter().zip(narrow.as_chunks_mut::<4>().0.iter_mut()) {
            pixel.copy_from_slice(&mixed(mix, &source));
            if meter.due(mix.weights.len() * 4) {
                pace.checkpoint().await;
            }
        }
        let mut number = complete;
        while number < rows.len() && rows[number].start <= y {
            if sums.len() <= number - complete {
                sums.push_back(vec![0.0; out_stride]);
            }
            if let Some(&weight) = rows[number].weights.get(y - rows[number].start) {
                linear::add(&mut sums[number - complete], &narrow, weight);
            }
            if meter.due(out_stride) {
                pace.checkpoint().await;
            }
            number += 1;
        }
        while complete < rows.len() && rows[complete].start + rows[complete].weights.len() == y + 1
        {
            let sum = sums.pop_front().expect("a sum for each row begun");
            let samples: &mut [u8] = &mut out;
            let start = complete * out_stride;
            linear::write(&sum, &mut samples[start..start + out_stride]);
            complete += 1;
            pace.progress(complete, rows.len(), "resizing");
            if meter.due(out_stride) {
                pace.checkpoint().await;
            }
        }
        if complete == rows.len() {
            break;
        }
    }
    debug_assert_eq!(complete, rows.len());
    Ok(out)
}

fn mixed(mix: &Mix, row: &[f32]) -> [f32; 4] {
    let mut sum = [0.0f32; 4];
    for (pixel, weight) in row[mix.start * 4..]
        .as_chunks::<4>()
        .0
        .iter()
        .zip(&mix.weights)
    {
        for channel in 0..4 {
            sum[channel] += weight * pixel[channel];
        }
    }
    sum
}

/// How `count` new pixels are mixed from a part of a side. The part has the length `part` and
/// begins at `offset`; the side has the length `length`.
async fn mixes<P: Pace>(length: u32, offset: f64, part: f64, count: u32, pace: &P) -> Vec<Mix> {
    let scale = part / f64::from(count);
    // When shrinking, the filter widens, so that every source pixel contributes.
    let stretch = scale.max(1.0);
    let mut meter = Meter::default();
    let mut mixes = Vec::with_capacity(count as usize);
    for index in 0..count {
        let centre = offset + (f64::from(index) + 0.5) * scale;
        let reach = LOBES * stretch;
        let start = (centre - reach).floor().max(0.0) as usize;
        let end = ((centre + reach).ceil() as usize).min(length as usize);
        let mut weights: Vec<f32> = (start..end)
            .map(|at| lanczos((at as f64 + 0.5 - centre) / stretch) as f32)
            .collect();
        let sum: f32 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= sum;
        }
        if meter.due(weights.len() * 32) {
            pace.checkpoint().await;
        }
        mixes.push(Mix { start, weights });
    }
    mixes
}

fn lanczos(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    if x.abs() >= LOBES {
        return 0.0;
    }
    let pi_x = std::f64::consts::PI * x;
    LOBES * pi_x.sin() * (pi_x / LOBES).sin() / (pi_x * pi_x)
}
