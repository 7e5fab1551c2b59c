//! Decodes large images with the browser's decoder, which runs on a thread of its own.

use crate::pace::Pace;
use crate::picture::{Elsewhere, Format, blank};
use image::RgbaImage;
use js_sys::{Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, ImageBitmap, OffscreenCanvas, OffscreenCanvasRenderingContext2d,
};

/// How many pixels are copied out of the browser's image between two checkpoints.
const STRIP: u32 = 250_000;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = createImageBitmap, catch)]
    fn create_image_bitmap(file: &Blob, options: &JsValue) -> Result<Promise, JsValue>;
}

/// The browser's decoder.
pub struct Bitmaps;

impl Elsewhere for Bitmaps {
    async fn decode<P: Pace>(
        &self,
        file: &[u8],
        format: Format,
        size: (u32, u32),
        pace: &P,
    ) -> Option<RgbaImage> {
        // If the browser cannot decode the image, for any reason, it is decoded in Rust.
        read(file, format, size, pace).await.ok()
    }
}

/// Frees the browser's pixels when it is dropped.
struct Closed(ImageBitmap);

impl Drop for Closed {
    fn drop(&mut self) {
        self.0.close();
    }
}

async fn read<P: Pace>(
    file: &[u8],
    format: Format,
    (width, height): (u32, u32),
    pace: &P,
) -> Result<RgbaImage, JsValue> {
    let kind = BlobPropertyBag::new();
    kind.set_type(format.mime_type());
    let bytes = Array::of1(&Uint8Array::from(file));
    let blob = Blob::new_with_u8_array_sequence_and_options(&bytes, &kind)?;
    let options = js_sys::Object::new();
    // No other options, because they cost time on the page's thread.
    Reflect::set(&options, &"imageOrientation".into(), &"none".into())?;
    let bitmap = JsFuture::from(create_image_bitmap(&blob, &options)?).await?;
    let bitmap = Closed(bitmap.dyn_into::<ImageBitmap>()?);
    if (bitmap.0.width(), bitmap.0.height()) != (width, height) {
        return Err(JsValue::UNDEFINED);
    }

    let rows = (STRIP / width).clamp(1, height);
    let context = context(width, rows)?;
    let stride = width as usize * 4;
    let mut pixels = blank(width, height, pace).await;
    for (number, strip) in pixels.chunks_mut(rows as usize * stride).enumerate() {
        let top = number as u32 * rows;
        let count = (strip.len() / stride) as u32;
        let (width, count) = (f64::from(width), f64::from(count));
        context.draw_image_with_image_bitmap_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
            &bitmap.0,
            0.0,
            top.into(),
            width,
            count,
            0.0,
            0.0,
            width,
            count,
        )?;
        let data = context.get_image_data(0.0, 0.0, width, count)?.data();
        strip.copy_from_slice(&data);
        pace.progress(top as usize, height as usize, "decoding");
        pace.checkpoint().await;
    }
    Ok(pixels)
}

/// A canvas context that replaces what it shows, and is read often.
fn context(width: u32, height: u32) -> Result<OffscreenCanvasRenderingContext2d, JsValue> {
    let options = js_sys::Object::new();
    Reflect::set(&options, &"willReadFrequently".into(), &true.into())?;
    let context = OffscreenCanvas::new(width, height)?
        .get_context_with_context_options("2d", &options)?
        .ok_or(JsValue::UNDEFINED)?
        .dyn_into::<OffscreenCanvasRenderingContext2d>()?;
    context.set_global_composite_operation("copy")?;
    Ok(context)
}
