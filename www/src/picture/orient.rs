//! Photographs carry a note on their orientation. This module turns the pixels instead.

use super::blank::blank;
use crate::pace::{Meter, Pace};
use image::RgbaImage;
use image::metadata::Orientation;

/// Turns `pixels` upright.
pub async fn orient<P: Pace>(pixels: RgbaImage, orientation: Orientation, pace: &P) -> RgbaImage {
    if orientation == Orientation::NoTransforms {
        return pixels;
    }
    let (width, height) = pixels.dimensions();
    let (sideways, flip_x, flip_y) = match orientation {
        Orientation::NoTransforms => (false, false, false),
        Orientation::FlipHorizontal => (false, true, false),
        Orientation::Rotate180 => (false, true, true),
        Orientation::FlipVertical => (false, false, true),
        Orientation::Rotate90FlipH => (true, false, false),
        Orientation::Rotate90 => (true, false, true),
        Orientation::Rotate270FlipH => (true, true, true),
        Orientation::Rotate270 => (true, true, false),
    };
    let (new_width, new_height) = if sideways {
        (height, width)
    } else {
        (width, height)
    };
    let mut turned = blank(new_width, new_height, pace).await;
    let mut meter = Meter::default();
    for y in 0..new_height {
        for x in 0..new_width {
            let (from_x, from_y) = if sideways { (y, x) } else { (x, y) };
            let from_x = if flip_x { width - 1 - from_x } else { from_x };
            let from_y = if flip_y { height - 1 - from_y } else { from_y };
            turned.put_pixel(x, y, *pixels.get_pixel(from_x, from_y));
        }
        if meter.due(new_width as usize * 8) {
            pace.progress(y as usize + 1, new_height as usize, "turning upright");
            pace.checkpoint().await;
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::testing::{Counting, finish};
    use image::{DynamicImage, Rgba};

    #[test]
    fn every_orientation_is_turned_as_the_image_crate_does() {
        let pixels = RgbaImage::from_fn(5, 3, |x, y| Rgba([x as u8, y as u8, 7, 255]));
        for exif in 1..=8 {
            let orientation = Orientation::from_exif(exif).unwrap();
            let mut expected = DynamicImage::from(pixels.clone());
            expected.apply_orientation(orientation);
            let turned = finish(orient(pixels.clone(), orientation, &Counting::default()));
            assert_eq!(turned, expected.into_rgba8(), "{orientation:?}");
        }
    }
}
