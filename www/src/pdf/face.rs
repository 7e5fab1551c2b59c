//! Reads the parts of a TrueType file that a PDF needs.
//!
//! The fonts are the demo's own, so this module reads only a few tables in one format each. A crate
//! that reads every font takes longer to build than the rest of the export.

use std::fmt;

/// A font's file, and the positions of its tables.
#[derive(Debug, Clone, Copy)]
pub struct Face<'a> {
    /// Fields of the table `head`.
    pub units_per_em: u16,
    /// `[left, bottom, right, top]`, in units of the font.
    pub bounds: [i16; 4],
    /// From the table `hhea`, in units of the font.
    pub ascender: i16,
    pub descender: i16,
    /// From the table `OS/2`.
    pub is_bold: bool,
    pub is_italic: bool,
    /// From the table `post`, in degrees, counted counterclockwise.
    pub italic_angle: f32,
    pub is_monospaced: bool,
    /// Groups of characters, from the table `cmap`.
    groups: &'a [[u8; 12]],
    /// Widths and side bearings of the first glyphs, from the table `hmtx`. All other glyphs are as
    /// wide as the last.
    advances: &'a [[u8; 4]],
    glyphs: u16,
}

/// The table that is missing, too short, or not in the supported format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BadTable(pub &'static str);

impl fmt::Display for BadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its table {:?} cannot be read", self.0)
    }
}

impl<'a> Face<'a> {
    /// Reads the tables of a font's file.
    pub fn parse(file: &'a [u8]) -> Result<Self, BadTable> {
        let table = |name| table(file, name).ok_or(BadTable(name));
        let (head, hhea, os2, post) = (
            table("head")?,
            table("hhea")?,
            table("OS/2")?,
            table("post")?,
        );
        let head = |at| u16_at(head, at).ok_or(BadTable("head"));
        let hhea = |at| u16_at(hhea, at).ok_or(BadTable("hhea"));
        let os2 = |at| u16_at(os2, at).ok_or(BadTable("OS/2"));
        let post = |at| u32_at(post, at).ok_or(BadTable("post"));
        let style = os2(62)?;
        let advances = table("hmtx")?.as_chunks().0;
        Ok(Self {
            units_per_em: head(18)?,
            bounds: [
                head(36)?.cast_signed(),
                head(38)?.cast_signed(),
                head(40)?.cast_signed(),
                head(42)?.cast_signed(),
            ],
            ascender: hhea(4)?.cast_signed(),
            descender: hhea(6)?.cast_signed(),
            is_bold: style & (1 << 5) != 0,
            is_italic: style & 1 != 0 || style & (1 << 9) != 0,
            italic_angle: post(4)?.cast_signed() as f32 / 65_536.0,
            is_monospaced: post(12)? != 0,
            groups: groups(table("cmap")?).ok_or(BadTable("cmap"))?,
            advances: advances
                .get(..usize::from(hhea(34)?))
                .filter(|all| !all.is_empty())
                .ok_or(BadTable("hmtx"))?,
            glyphs: u16_at(table("maxp")?, 4).ok_or(BadTable("maxp"))?,
        })
    }

    /// The glyph number of a character, or none if the font lacks the character.
    pub fn glyph(&self, character: char) -> Option<u16> {
        let code = u32::from(character);
        let field = |group: &[u8; 12], at| u32_at(group, at).unwrap_or(0);
        // A group has its first and its last character, and the glyph of the first.
        let after = self.groups.partition_point(|group| field(group, 0) <= code);
        let group = self.groups[..after].last()?;
        let within = code <= field(group, 4);
        let glyph = field(group, 8).checked_add(code - field(group, 0))?;
        let glyph = u16::try_from(glyph).ok()?;
        (within && glyph != 0 && glyph < self.glyphs).then_some(glyph)
    }

    /// The advance width of a glyph, in units of the font.
    pub fn advance(&self, glyph: u16) -> u16 {
        let entry = self
            .advances
            .get(usize::from(glyph))
            .or(self.advances.last());
        entry.and_then(|entry| u16_at(entry, 0)).unwrap_or(0)
    }
}

/// Finds a table by its name of four letters.
fn table<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let count = usize::from(u16_at(file, 4)?);
    let entries = file.get(12..)?.as_chunks::<16>().0;
    let entry = entries
        .iter()
        .take(count)
        .find(|it| &it[..4] == name.as_bytes())?;
    let [start, length] = [u32_at(entry, 8)?, u32_at(entry, 12)?].map(|it| it as usize);
    file.get(start..)?.get(..length)
}

/// The groups of the subtable for all of Unicode: platform 3, encoding 10, format 12.
fn groups(cmap: &[u8]) -> Option<&[[u8; 12]]> {
    let count = usize::from(u16_at(cmap, 2)?);
    let records = cmap.get(4..)?.as_chunks::<8>().0;
    let record = records
        .iter()
        .take(count)
        .find(|it| it[..4] == [0, 3, 0, 10])?;
    let subtable = cmap.get(u32_at(record, 4)? as usize..)?;
    let groups = subtable.get(16..)?.as_chunks().0;
    (u16_at(subtable, 0)? == 12)
        .then(|| groups.get(..u32_at(subtable, 12)? as usize))
        .flatten()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_font_says_of_itself() {
        let face = Face::parse(dejavu::sans_condensed::regular()).unwrap();
        assert_eq!(face.units_per_em, 2048);
        assert_eq!((face.ascender, face.descender), (1901, -483));
        assert!(!face.is_bold && !face.is_italic && !face.is_monospaced);
        assert_eq!(face.italic_angle, 0.0);

        let face = Face::parse(dejavu::sans_condensed::bold_oblique()).unwrap();
        assert!(face.is_bold && face.is_italic);
        assert_eq!(face.italic_angle, -11.0);

        let face = Face::parse(dejavu::sans_mono::regular()).unwrap();
        assert!(face.is_monospaced);
        for character in ['i', 'W', 'é', '√'] {
            assert_eq!(face.advance(face.glyph(character).unwrap()), 1233);
        }
    }

    #[test]
    fn characters_have_glyphs_of_their_own_or_none() {
        let face = Face::parse(dejavu::sans_condensed::regular()).unwrap();
        let text = "aAzZ09 .é€→√ҐשѢ𝔸😀";
        let mut glyphs: Vec<_> = text.chars().map(|it| face.glyph(it).unwrap()).collect();
        glyphs.sort_unstable();
        glyphs.dedup();
        assert_eq!(glyphs.len(), text.chars().count());
        for missing in ['\u{0}', '漢', '\u{10ffff}'] {
            assert_eq!(face.glyph(missing), None, "{missing:?}");
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_without_a_panic() {
        let file = dejavu::sans_condensed::regular();
        assert_eq!(Face::parse(&[]).unwrap_err(), BadTable("head"));
        for length in (0..file.len()).step_by(9_973) {
            if let Ok(face) = Face::parse(&file[..length]) {
                face.glyph('a').map(|glyph| face.advance(glyph));
            }
        }
    }
}
