//! Maps characters to glyphs and widths.

use super::block::Emphasis;
use super::face::Face;
use crate::failure::Failure;
use std::collections::HashMap;

/// A font's name in the PDF, and its file.
type File = fn() -> &'static [u8];

const FILES: [(&str, File); 5] = [
    ("DejaVuSansCondensed", dejavu::sans_condensed::regular),
    ("DejaVuSansCondensed-Bold", dejavu::sans_condensed::bold),
    (
        "DejaVuSansCondensed-Oblique",
        dejavu::sans_condensed::oblique,
    ),
    (
        "DejaVuSansCondensed-BoldOblique",
        dejavu::sans_condensed::bold_oblique,
    ),
    ("DejaVuSansMono", dejavu::sans_mono::regular),
];
const MONO: usize = 4;

/// A character of a font, as the PDF refers to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glyph {
    /// The index of the font.
    pub font: usize,
    /// The character's number in the font.
    pub cid: u16,
    /// The width in thousandths of the font size.
    pub width: f32,
}

/// A character that was used.
pub struct Used {
    pub character: char,
    /// The glyph in the font file. 0 is a box, for a character that the font lacks.
    pub glyph: u16,
    pub width: f32,
}

/// A font and its used characters.
pub struct Font {
    pub name: &'static str,
    pub data: &'static [u8],
    pub face: Face<'static>,
    /// The used characters by number, from 1. Each character has its own number, so that a
    /// character drawn as a box or with another character's glyph can still be read as itself.
    pub used: Vec<Used>,
}

impl Font {
    /// Thousandths of the font size per unit of the font file.
    pub fn scale(&self) -> f32 {
        1000.0 / f32::from(self.face.units_per_em)
    }
}

/// The fonts of a document.
pub struct Fonts {
    fonts: Vec<Font>,
    /// The known glyphs of ASCII characters and of all others, by the requested font.
    ascii: [[Option<Glyph>; 128]; FILES.len()],
    others: HashMap<(usize, char), Option<Glyph>>,
}

impl Fonts {
    pub fn new() -> Result<Self, Failure> {
        let mut fonts = Vec::with_capacity(FILES.len());
        for (name, data) in FILES {
            let data = data();
            let face = Face::parse(data)
                .map_err(|error| Failure::failed(format!("font {name}: {error}")))?;
            fonts.push(Font {
                name,
                data,
                face,
                used: Vec::new(),
            });
        }
        Ok(Self {
            fonts,
            ascii: [[None; 128]; FILES.len()],
            others: HashMap::new(),
        })
    }

    pub fn all(&self) -> &[Font] {
        &self.fonts
    }

    /// The glyph of a character, or none if there is nothing to draw.
    pub fn glyph(&mut self, emphasis: Emphasis, character: char) -> Option<Glyph> {
        let font = match emphasis {
            Emphasis { mono: true, .. } => MONO,
            Emphasis { bold, italic, .. } => usize::from(bold) + 2 * usize::from(italic),
        };
        if character.is_ascii() {
            let known = self.ascii[font][character as usize];
            if known.is_some() || character.is_ascii_control() {
                return known;
            }
        } else if let Some(known) = self.others.get(&(font, character)) {
            return *known;
        }
        let glyph = self.find(font, character);
        if character.is_ascii() {
            self.ascii[font][character as usize] = glyph;
        } else {
            self.others.insert((font, character), glyph);
        }
        glyph
    }

    /// The width of a text, in thousandths of the font size.
    pub fn width(&mut self, emphasis: Emphasis, text: &str) -> f32 {
        text.chars()
            .filter_map(|c| self.glyph(emphasis, c))
            .map(|glyph| glyph.width)
            .sum()
    }

    fn find(&mut self, asked_for: usize, character: char) -> Option<Glyph> {
        // A character that one font lacks may be in another font.
        let found = [asked_for, 0, MONO].into_iter().find_map(|font| {
            let glyph = self.fonts[font].face.glyph(character)?;
            Some((font, glyph))
        });
        let (font, glyph) = match found {
            Some(found) => found,
            None if is_invisible(character) => return None,
            None => (asked_for, 0),
        };
        let scale = self.fonts[font].scale();
        let Font { face, used, .. } = &mut self.fonts[font];
        let cid = u16::try_from(used.len() + 1).ok()?;
        let width = f32::from(face.advance(glyph)) * scale;
        used.push(Used {
            character,
            glyph,
            width,
        });
        Some(Glyph { font, cid, width })
    }
}

/// Whether a character only affects the layout or its neighbours, and has no shape of its own.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}
