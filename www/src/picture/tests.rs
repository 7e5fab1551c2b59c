use super::*;
use crate::pace::Meter;
use crate::pace::testing::{Counting, finish, stop_after};
use base64::Engine;
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};
use std::io::Cursor;

/// A picture with smooth parts, edges and transparent parts.
fn picture(width: u32, height: u32) -> RgbaImage {
    RgbaImage::from_fn(width, height, |x, y| {
        let edge = if (x / 16 + y / 16) % 2 == 0 { 200 } else { 40 };
        let opacity = if x + y < width / 4 { 0 } else { 255 };
        Rgba([
            (x * 255 / width) as u8,
            (y * 255 / height) as u8,
            edge,
            opacity,
        ])
    })
}

fn file(pixels: RgbaImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let image = DynamicImage::from(pixels);
    match format {
        ImageFormat::Jpeg => image.into_rgb8().write_to(&mut file, format),
        _ => image.write_to(&mut file, format),
    }
    .expect("an image file");
    file.into_inner()
}

fn process(file: &[u8], operations: Value, options: Value) -> Result<Processed, Failure> {
    process_at(&Counting::default(), file, operations, options)
}

fn process_at(
    pace: &Counting,
    file: &[u8],
    operations: Value,
    mut options: Value,
) -> Result<Processed, Failure> {
    options["encoding"] = json!("arraybuffer");
    let image = base64::engine::general_purpose::STANDARD.encode(file);
    let params = serde_json::from_value(
        json!({"image": image, "operations": operations, "options": options}),
    );
    finish(run(params.expect("parameters"), &Nowhere, pace))
}

fn pixels(processed: &Processed) -> RgbaImage {
    let Payload::Bytes(bytes) = &processed.image else {
        panic!("bytes were asked for")
    };
    assert_eq!(bytes.len(), processed.size);
    let format = ImageFormat::from_mime_type(processed.mime_type).expect("an image type");
    let image = image::load_from_memory_with_format(bytes, format)
        .expect("a readable image")
        .into_rgba8();
    assert_eq!(image.dimensions(), (processed.width, processed.height));
    image
}

/// The average difference of two pictures, on a scale to 255. Transparent pixels do not count.
fn difference(a: &RgbaImage, b: &RgbaImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let visible = |pixel: &Rgba<u8>| {
        pixel
            .0
            .map(|value| f64::from(value) * f64::from(pixel[3]) / 255.0)
    };
    let sum: f64 = a
        .pixels()
        .zip(b.pixels())
        .map(|(a, b)| {
            visible(a)
                .iter()
                .zip(visible(b))
                .map(|(a, b)| (a - b).abs())
                .sum::<f64>()
        })
        .sum();
    sum / (a.len() as f64)
}

#[test]
fn every_format_is_read_and_written() {
    let opaque = DynamicImage::from(picture(70, 45)).into_rgb8();
    let opaque = DynamicImage::from(opaque).into_rgba8();
    for from in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
        for (to, mime_type) in [
            ("png", "image/png"),
            ("jpeg", "image/jpeg"),
            ("webp", "image/webp"),
        ] {
            let out = process(
                &file(opaque.clone(), from),
                json!({}),
                json!({"format": to, "quality": 95}),
            )
            .unwrap();
            assert_eq!(out.mime_type, mime_type);
            assert!(difference(&pixels(&out), &opaque) < 4.0, "{from:?} to {to}");
        }
        let out = process(&file(opaque.clone(), from), json!({}), json!({})).unwrap();
        assert_eq!(out.mime_type, from.to_mime_type());
    }
}

#[test]
fn png_of_every_kind_is_read() {
    let colour = DynamicImage::from(picture(33, 21));
    for image in [
        DynamicImage::from(colour.to_luma8()),
        DynamicImage::from(colour.to_luma_alpha8()),
        DynamicImage::from(colour.to_rgb8()),
        DynamicImage::from(colour.to_rgba16()),
    ] {
        let mut file = Cursor::new(Vec::new());
        image.write_to(&mut file, ImageFormat::Png).unwrap();
        let out = process(file.get_ref(), json!({}), json!({})).unwrap();
        assert_eq!(pixels(&out), image.to_rgba8());
    }
}

#[test]
fn interlaced_png_is_read() {
    let picture = picture(19, 13);
    let mut rows = Vec::new();
    let passes = [
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ];
    for (left, top, across, down) in passes {
        for y in (top..13).step_by(down) {
            rows.push(0);
            for x in (left..19).step_by(across) {
                rows.extend(picture.get_pixel(x, y).0);
            }
        }
    }
    let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut deflated, &rows).unwrap();
    let mut info = png::Info::with_size(19, 13);
    (info.color_type, info.interlaced) = (png::ColorType::Rgba, true);
    let mut file = Vec::new();
    let mut writer = png::Encoder::with_info(&mut file, info)
        .unwrap()
        .write_header()
        .unwrap();
    writer
        .write_chunk(png::chunk::IDAT, &deflated.finish().unwrap())
        .unwrap();
    drop(writer);
    assert_eq!(
        pixels(&process(&file, json!({}), json!({})).unwrap()),
        picture
    );
}

#[test]
fn transparency_is_kept_where_the_format_has_it_and_white_where_not() {
    let source = file(picture(64, 64), ImageFormat::Png);
    for format in ["png", "webp"] {
        assert_eq!(
            pixels(&process(&source, json!({}), json!({"format": format})).unwrap())
                .get_pixel(0, 0)[3],
            0
        );
    }
    let jpeg = pixels(&process(&source, json!({}), json!({"format": "jpeg"})).unwrap());
    assert!(jpeg.get_pixel(0, 0).0.iter().all(|&value| value > 240));
}

#[test]
fn a_jpeg_of_strips_is_that_of_the_encoder_in_one_go() {
    for (width, height, quality) in [
        (300, 203, 60),
        (17, 97, 95),
        (16, 16, 80),
        (500, 8, 99),
        (1, 1, 50),
    ] {
        let rgb = DynamicImage::from(picture(width, height)).into_rgb8();
        let source = file(
            DynamicImage::from(rgb.clone()).into_rgba8(),
            ImageFormat::Png,
        );
        let out = process(
            &source,
            json!({}),
            json!({"format": "jpeg", "quality": quality}),
        )
        .unwrap();
        let mut whole = Vec::new();
        jpeg_encoder::Encoder::new(&mut whole, quality)
            .encode(
                &rgb,
                width as u16,
                height as u16,
                jpeg_encoder::ColorType::Rgb,
            )
            .unwrap();
        let whole = image::load_from_memory(&whole).unwrap().into_rgba8();
        assert_eq!(pixels(&out), whole, "{width} x {height} at {quality}");
    }
}

#[test]
fn resizing_resembles_that_of_the_image_crate() {
    let picture = DynamicImage::from(picture(200, 120)).into_rgb8();
    let picture = DynamicImage::from(picture).into_rgba8();
    let source = file(picture.clone(), ImageFormat::Png);
    for (width, height) in [(50, 30), (400, 240), (199, 121), (7, 100), (1, 1), (200, 3)] {
        let size = json!({"resize": {"width": width, "height": height, "fit": "fill"}});
        let out = pixels(&process(&source, size, json!({})).unwrap());
        let filter = image::imageops::FilterType::Lanczos3;
        let expected = image::imageops::resize(&picture, width, height, filter);
        let difference = difference(&out, &expected);
        assert!(difference < 1.0, "{width} x {height}: {difference}");
    }
}

#[test]
fn what_cannot_be_seen_does_not_shine_through_when_resized() {
    let picture = RgbaImage::from_fn(40, 40, |x, _| {
        Rgba(if x < 20 {
            [255, 255, 255, 0]
        } else {
            [0, 0, 200, 255]
        })
    });
    let small = json!({"resize": {"width": 9}, "blur": 1});
    let out = pixels(&process(&file(picture, ImageFormat::Png), small, json!({})).unwrap());
    assert!(
        out.pixels()
            .all(|pixel| pixel[3] < 8 || (pixel[0] < 8 && pixel[2] > 190))
    );
}

#[test]
fn covering_cuts_both_sides_off() {
    let picture = RgbaImage::from_fn(90, 30, |x, _| {
        Rgba(if (30..60).contains(&x) {
            [0, 200, 0, 255]
        } else {
            [200, 0, 0, 255]
        })
    });
    let resize = json!({"resize": {"width": 20, "height": 20, "fit": "cover"}});
    let out = pixels(&process(&file(picture, ImageFormat::Png), resize, json!({})).unwrap());
    assert_eq!(out.dimensions(), (20, 20));
    assert!(
        out.get_pixel(10, 10)[1] > 190
            && out.get_pixel(2, 10)[1] > 150
            && out.get_pixel(17, 10)[1] > 150
    );
}

#[test]
fn blurring_spreads_a_point_and_keeps_the_whole_as_bright() {
    let mut point = RgbaImage::from_pixel(61, 61, Rgba([0, 0, 0, 255]));
    for y in 25..36 {
        for x in 25..36 {
            point.put_pixel(x, y, Rgba([250, 250, 250, 255]));
        }
    }
    let before: u64 = point.pixels().map(|pixel| u64::from(pixel[0])).sum();
    for blur in [json!(4), json!({"sigma": 4.0})] {
        let out = pixels(
            &process(
                &file(point.clone(), ImageFormat::Png),
                json!({"blur": blur}),
                json!({}),
            )
            .unwrap(),
        );
        let after: u64 = out.pixels().map(|pixel| u64::from(pixel[0])).sum();
        assert!(before.abs_diff(after) < before / 50, "{before} {after}");
        assert!(out.get_pixel(30, 30)[0] < 230 && out.get_pixel(21, 30)[0] > 5);
        assert_eq!(out.get_pixel(22, 30), out.get_pixel(30, 22));
        assert_eq!(out.get_pixel(22, 30), out.get_pixel(38, 30));
    }
    let flat = RgbaImage::from_pixel(20, 9, Rgba([9, 80, 200, 255]));
    let out = pixels(
        &process(
            &file(flat.clone(), ImageFormat::Png),
            json!({"blur": 50}),
            json!({}),
        )
        .unwrap(),
    );
    assert!(difference(&out, &flat) <= 1.0);
}

#[test]
fn grayscale_has_no_colour() {
    let out = pixels(
        &process(
            &file(picture(40, 40), ImageFormat::Png),
            json!({"grayscale": true}),
            json!({}),
        )
        .unwrap(),
    );
    assert!(
        out.pixels()
            .all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2])
    );
    assert_eq!(out.get_pixel(0, 0)[3], 0);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let source = file(picture(8, 8), ImageFormat::Png);
    for (operations, options, code) in [
        (json!({"blur": 0}), json!({}), "INVALID_PARAMS"),
        (json!({"blur": 101}), json!({}), "INVALID_PARAMS"),
        (json!({"resize": {}}), json!({}), "MISSING_PARAM"),
        (json!({}), json!({"quality": 0}), "INVALID_PARAMS"),
    ] {
        assert_eq!(
            process(&source, operations, options).unwrap_err().code,
            code
        );
    }
    let truncated = &source[..source.len() / 2];
    for bad in [
        b"".as_slice(),
        b"GIF89a",
        b"not an image",
        truncated,
        b"\x89PNG\r\n\x1a\n",
    ] {
        assert_eq!(
            process(bad, json!({}), json!({})).unwrap_err().code,
            "INVALID_PARAMS"
        );
    }
    let mut huge = source.clone();
    huge[16..20].copy_from_slice(&60_000u32.to_be_bytes());
    huge[20..24].copy_from_slice(&60_000u32.to_be_bytes());
    assert_eq!(
        process(&huge, json!({}), json!({})).unwrap_err().code,
        "INVALID_PARAMS"
    );
}

#[test]
fn each_part_of_the_work_can_be_left_after_little_of_it() {
    let (width, height) = (480u32, 320u32);
    let source = file(picture(width, height), ImageFormat::Png);
    let values = (width * height * 4) as usize;
    let checkpoints = |operations: Value, options: Value| {
        let pace = Counting::default();
        process_at(&pace, &source, operations, options).unwrap();
        pace.checkpoints()
    };
    let base = checkpoints(json!({}), json!({}));
    assert!(base >= values * (4 + 8) / Meter::STEP / 2, "{base}");
    let taps = 2 * 36 + 1;
    let blurred = checkpoints(json!({"blur": 12}), json!({}));
    assert!(
        blurred - base >= values * taps * 2 / Meter::STEP / 2,
        "{blurred}"
    );
    let enlarged = checkpoints(json!({"resize": {"width": 960}}), json!({"format": "jpeg"}));
    assert!(
        enlarged - base >= values * 4 * 6 / Meter::STEP / 2,
        "{enlarged}"
    );

    let pace = Counting::default();
    let image = base64::engine::general_purpose::STANDARD.encode(&source);
    let params: Params =
        serde_json::from_value(json!({"image": image, "operations": {"blur": 12}})).unwrap();
    assert!(stop_after(blurred / 2, run(params, &Nowhere, &pace)).is_none());
    assert_eq!(pace.checkpoints(), blurred / 2);
    assert_eq!(pace.reports().last().unwrap().2, "blurring");
}

/// A decoder that returns a picture of one colour, if it has a colour.
struct Studio(Option<Rgba<u8>>);

impl Elsewhere for Studio {
    async fn decode<P: Pace>(
        &self,
        file: &[u8],
        format: Format,
        size: (u32, u32),
        pace: &P,
    ) -> Option<RgbaImage> {
        assert_eq!(
            (format, &file[..2]),
            (Format::Jpeg, [0xff, 0xd8].as_slice())
        );
        pace.checkpoint().await;
        self.0
            .map(|colour| RgbaImage::from_pixel(size.0, size.1, colour))
    }
}

#[test]
fn a_large_jpeg_is_decoded_elsewhere_if_that_is_possible() {
    let of = |width, height, elsewhere: Studio| {
        let flat = RgbaImage::from_pixel(width, height, Rgba([200, 0, 0, 255]));
        let image = base64::engine::general_purpose::STANDARD.encode(file(flat, ImageFormat::Jpeg));
        let params = json!({"image": image, "operations": {"resize": {"width": 1}}, "options": {"format": "png", "encoding": "arraybuffer"}});
        let params = serde_json::from_value(params).unwrap();
        let processed = finish(run(params, &elsewhere, &Counting::default())).unwrap();
        let pixel = *pixels(&processed).get_pixel(0, 0);
        if pixel[2] > 100 { "elsewhere" } else { "here" }
    };
    let blue = Some(Rgba([0, 0, 200, 255]));
    assert_eq!(of(1500, 1200, Studio(blue)), "elsewhere");
    assert_eq!(of(1500, 1200, Studio(None)), "here");
    assert_eq!(of(100, 100, Studio(blue)), "here");
}
