//! Decides which part of an image gets which size.

use super::MAX_PIXELS;
use super::params::{Fit, Resize};
use crate::failure::Failure;

const MAX_SIDE: u32 = 16_384;

/// A part of the image, in pixels, and the size it gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    pub left: f64,
    pub top: f64,
    pub part_width: f64,
    pub part_height: f64,
    pub width: u32,
    pub height: u32,
}

/// The part of an image of `width` times `height` pixels, and its new size, by `resize`.
pub fn target(resize: &Resize, width: u32, height: u32) -> Result<Target, Failure> {
    let (w, h) = (f64::from(width), f64::from(height));
    let by = |scale: f64, side: f64| (side * scale).round().max(1.0) as u32;
    let whole = |width, height| Target {
        left: 0.0,
        top: 0.0,
        part_width: w,
        part_height: h,
        width,
        height,
    };
    let target = match (resize.width, resize.height) {
        (None, None) => {
            return Err(Failure::missing(
                "operations.resize: width or height is needed",
            ));
        }
        (Some(0), _) | (_, Some(0)) => {
            return Err(Failure::invalid(
                "operations.resize: a side is at least 1 pixel",
            ));
        }
        (Some(to), None) => whole(to, by(f64::from(to) / w, h)),
        (None, Some(to)) => whole(by(f64::from(to) / h, w), to),
        (Some(to_w), Some(to_h)) => {
            let (scale_x, scale_y) = (f64::from(to_w) / w, f64::from(to_h) / h);
            match resize.fit {
                Fit::Fill => whole(to_w, to_h),
                Fit::Contain => {
                    let scale = scale_x.min(scale_y);
                    whole(by(scale, w).min(to_w), by(scale, h).min(to_h))
                }
                Fit::Cover => {
                    let scale = scale_x.max(scale_y);
                    let (part_width, part_height) =
                        (f64::from(to_w) / scale, f64::from(to_h) / scale);
                    let (left, top) = ((w - part_width) / 2.0, (h - part_height) / 2.0);
                    Target {
                        left,
                        top,
                        part_width,
                        part_height,
                        width: to_w,
                        height: to_h,
                    }
                }
            }
        }
    };
    let pixels = u64::from(target.width) * u64::from(target.height);
    if target.width > MAX_SIDE || target.height > MAX_SIDE || pixels > MAX_PIXELS {
        return Err(Failure::invalid(format!(
            "operations.resize: {} x {} pixels, at most {MAX_SIDE} a side and {MAX_PIXELS} in all",
            target.width, target.height
        )));
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(width: Option<u32>, height: Option<u32>, fit: Fit) -> (u32, u32, f64, f64) {
        let target = target(&Resize { width, height, fit }, 400, 200).expect("a size");
        (
            target.width,
            target.height,
            target.part_width,
            target.part_height,
        )
    }

    #[test]
    fn each_fit_has_its_size_and_its_part_of_the_image() {
        assert_eq!(
            sizes(Some(100), None, Fit::Contain),
            (100, 50, 400.0, 200.0)
        );
        assert_eq!(
            sizes(None, Some(100), Fit::Contain),
            (200, 100, 400.0, 200.0)
        );
        assert_eq!(
            sizes(Some(100), Some(100), Fit::Contain),
            (100, 50, 400.0, 200.0)
        );
        assert_eq!(
            sizes(Some(100), Some(100), Fit::Cover),
            (100, 100, 200.0, 200.0)
        );
        assert_eq!(
            sizes(Some(100), Some(100), Fit::Fill),
            (100, 100, 400.0, 200.0)
        );
        assert_eq!(sizes(Some(1), None, Fit::Fill), (1, 1, 400.0, 200.0));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let of = |width, height| {
            target(
                &Resize {
                    width,
                    height,
                    fit: Fit::Fill,
                },
                400,
                200,
            )
            .unwrap_err()
            .code
        };
        assert_eq!(of(None, None), "MISSING_PARAM");
        assert_eq!(of(Some(0), None), "INVALID_PARAMS");
        assert_eq!(of(Some(20_000), Some(1)), "INVALID_PARAMS");
        assert_eq!(of(Some(16_000), Some(16_000)), "INVALID_PARAMS");
    }
}
