//! Rows of pixels as numbers that can be added: colour times opacity.

/// Reads a row of RGBA bytes. Colour is multiplied by opacity, so that transparent pixels do not
/// affect the colour of a mix.
pub fn read(row: &[u8], out: &mut [f32]) {
    for (pixel, out) in row
        .as_chunks::<4>()
        .0
        .iter()
        .zip(out.as_chunks_mut::<4>().0.iter_mut())
    {
        let opacity = f32::from(pixel[3]) / 255.0;
        out[0] = f32::from(pixel[0]) * opacity;
        out[1] = f32::from(pixel[1]) * opacity;
        out[2] = f32::from(pixel[2]) * opacity;
        out[3] = f32::from(pixel[3]);
    }
}

/// Writes such a row as RGBA bytes.
pub fn write(row: &[f32], out: &mut [u8]) {
    for (pixel, out) in row
        .as_chunks::<4>()
        .0
        .iter()
        .zip(out.as_chunks_mut::<4>().0.iter_mut())
    {
        let opacity = pixel[3].clamp(0.0, 255.0) / 255.0;
        let scale = if opacity > 0.0 { 1.0 / opacity } else { 0.0 };
        // Float to integer conversions saturate.
        out[0] = (pixel[0] * scale + 0.5) as u8;
        out[1] = (pixel[1] * scale + 0.5) as u8;
        out[2] = (pixel[2] * scale + 0.5) as u8;
        out[3] = (pixel[3] + 0.5) as u8;
    }
}

/// Adds `weight` times `row` to `sum`.
pub fn add(sum: &mut [f32], row: &[f32], weight: f32) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += weight * value;
    }
}
