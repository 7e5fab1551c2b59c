//! Writes fonts as PDF objects: only the used glyphs, and the character of each glyph.

use super::fonts::Font;
use super::packed::deflate;
use crate::failure::Failure;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use subsetter::GlyphRemapper;

const SYSTEM: SystemInfo = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

/// How many objects a font takes.
pub const OBJECTS: i32 = 6;

/// Writes a font as objects with ids from `id` on. Pages refer to it by `id`.
pub fn embed(pdf: &mut Pdf, id: Ref, font: &Font) -> Result<(), Failure> {
    let object = |number: i32| Ref::new(id.get() + number);
    let (descendant, descriptor, data, to_unicode, to_glyph) =
        (object(1), object(2), object(3), object(4), object(5));

    let mut glyphs = GlyphRemapper::new();
    let mut cmap = UnicodeCmap::new(Name(b"Characters"), SYSTEM);
    let mut map = vec![0u8, 0];
    for (cid, used) in (1u16..).zip(&font.used) {
        map.extend(glyphs.remap(used.glyph).to_be_bytes());
        cmap.pair(cid, used.character);
    }
    let subset = subsetter::subset(font.data, 0, &glyphs)
        .map_err(|error| Failure::failed(format!("font {}: {error}", font.name)))?;
    // Six letters before the name mark a subset of the font.
    let name = format!("CAPHST+{}", font.name);
    let name = Name(name.as_bytes());

    pdf.type0_font(id)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(descendant)
        .to_unicode(to_unicode);

    let mut cid = pdf.cid_font(descendant);
    cid.subtype(CidFontType::Type2)
        .base_font(name)
        .system_info(SYSTEM)
        .font_descriptor(descriptor);
    cid.cid_to_gid_map_stream(to_glyph);
    cid.default_width(0.0);
    cid.widths()
        .consecutive(1, font.used.iter().map(|used| used.width));
    cid.finish();

    let (face, scale) = (&font.face, font.scale());
    let [left, bottom, right, top] = face.bounds.map(|v| f32::from(v) * scale);
    let mut flags = FontFlags::NON_SYMBOLIC;
    flags.set(FontFlags::FIXED_PITCH, face.is_monospaced);
    flags.set(FontFlags::ITALIC, face.is_italic);
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(flags)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(face.italic_angle)
        .ascent(f32::from(face.ascender) * scale)
        .descent(f32::from(face.descender) * scale)
        // These fonts do not give the height of capital letters.
        .cap_height(f32::from(face.ascender) * scale)
        .stem_v(if face.is_bold { 140.0 } else { 85.0 })
        .font_file2(data);

    let packed = deflate(&subset)?;
    pdf.stream(data, &packed)
        .filter(Filter::FlateDecode)
        .pair(Name(b"Length1"), subset.len() as i32);
    let packed = deflate(&cmap.finish())?;
    pdf.cmap(to_unicode, &packed).filter(Filter::FlateDecode);
    let packed = deflate(&map)?;
    pdf.stream(to_glyph, &packed).filter(Filter::FlateDecode);
    Ok(())
}
